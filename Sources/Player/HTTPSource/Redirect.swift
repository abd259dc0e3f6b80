package import TenfourMediaSource

/// The chain of redirects from the requested address to the address of the bytes.
package struct Redirect {
    /// The reason why a redirect is not followed.
    package enum Refusal: Error, Equatable {
        case tooMany
        /// The new address is neither http nor https.
        case noAddress
        /// The redirect leads from https to http. The value is the host of the http address.
        case downgrade(String)
    }

    /// The address of the next request.
    package private(set) var target: Resource
    private var count = 0

    package init(from resource: Resource) { target = resource }

    /// Follows a redirect to `location`, which may be relative (RFC 9110, section 10.2.2).
    package mutating func follow(_ location: String, allowsDowngrade: Bool) throws(Refusal) {
        count += 1
        guard count <= FetchRequest.maximumRedirectCount else { throw .tooMany }
        guard let next = try? target.resolving(location), let origin = next.origin else { throw .noAddress }
        if target.origin?.scheme == "https", origin.scheme == "http", !allowsDowngrade { throw .downgrade(origin.host) }
        target = next
    }
}
