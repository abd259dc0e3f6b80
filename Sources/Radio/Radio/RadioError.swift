internal import TenfourOpusCodec
package import TenfourResampling
internal import TenfourUV

/// A reason why a session cannot start or continue, as a sentence with the remedy.
public struct RadioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, for an exit code.
    public enum Kind: Hashable, Sendable {
        /// The arguments are invalid or contradict each other.
        case usage
        /// A device, file, address or host is not available.
        case unavailable
        /// A configuration file has an error.
        case configuration
        /// The session failed while it ran.
        case failure
        /// Some of several files were played, and some could not be.
        case incomplete
    }

    public var kind: Kind
    /// The sentence for the user, with the remedy.
    public var description: String
    /// Whether the name of a host was not found. It may be found later, when the network or the name server is there.
    package var isUnknownHost = false

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    init(_ error: OpusError) { self.init(.failure, error.description) }
    package init(_ error: RateConverterError) { self.init(.failure, error.description) }
    init(_ error: NetworkError) {
        self.init(.unavailable, error.description)
        switch error.reason {
        case .unknownHost, .lookupFailed: isUnknownHost = true
        default: break
        }
    }
}
