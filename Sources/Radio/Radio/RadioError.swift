internal import TenfourOpusCodec
package import TenfourResampling
internal import TenfourUV

/// What keeps a session from starting or going on, as a sentence with the remedy.
public struct RadioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of trouble it is, for an exit code.
    public enum Kind: Hashable, Sendable {
        /// What was asked for cannot be meant.
        case usage
        /// A device, file, address or host that is not to be had.
        case unavailable
        /// A configuration with an error.
        case configuration
        /// It went wrong while it ran.
        case failure
    }

    public var kind: Kind
    /// The sentence.
    public var description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    init(_ error: OpusError) { self.init(.failure, error.description) }
    package init(_ error: RateConverterError) { self.init(.failure, error.description) }
    init(_ error: NetworkError) { self.init(.unavailable, error.description) }
}
