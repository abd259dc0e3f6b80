public import TenfourPackets

extension RTPSession {
    /// The result of receiving a datagram.
    public enum Reception: Equatable, Sendable {
        case media(MediaPacket)
        /// A packet of a source that is not played, such as a telephone event. It counts as received.
        case withoutAudio
        /// The noise of a source's pause after the audio with this number. It counts as received.
        case comfortNoise(ComfortNoise, after: SequenceNumber, SSRC)
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
