extension RTPSession {
    /// The result of receiving a datagram.
    public enum Reception: Equatable, Sendable {
        case media(MediaPacket)
        /// A telephone event or comfort noise of a source. It counts as received.
        case withoutAudio
        case control
        case discarded(DiscardReason)

        public var isDiscarded: Bool { if case .discarded = self { true } else { false } }
    }

    /// The destination of a datagram.
    public struct Destination: Hashable, Sendable {
        public var endpoint: Endpoint
        /// Whether the datagram is sent through the socket for RTCP, if there is a separate one.
        public var isControl: Bool

        public init(endpoint: Endpoint, isControl: Bool) {
            self.endpoint = endpoint
            self.isControl = isControl
        }
    }
}
