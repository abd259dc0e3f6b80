package import TenfourMediaSource

/// The redirects from the address that was asked for to the one that has the bytes.
package struct Redirect {
    /// Why a server is not followed.
    package enum Refusal: Error, Equatable {
        case tooMany
        /// Neither http nor https.
        case noAddress
        /// From https to http, to this host.
        case downgrade(String)
    }

    /// Where the next request goes.
    package private(set) var target: Resource
    private var count = 0

    package init(from resource: Resource) { target = resource }

    /// Goes to `location`, which may be relative to where it is (RFC 9110, section 10.2.2).
    package mutating func follow(_ location: String, allowsDowngrade: Bool) throws(Refusal) {
        count += 1
        guard count <= HTTPRequest.maximumRedirectCount else { throw .tooMany }
        guard let next = try? target.resolving(location), let origin = next.origin else { throw .noAddress }
        if target.origin?.scheme == "https", origin.scheme == "http", !allowsDowngrade { throw .downgrade(origin.host) }
        target = next
    }
}
