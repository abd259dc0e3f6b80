/// How a packet of a stream came to be here.
public enum PacketOrigin: UInt8, BitwiseCopyable, Sendable {
    /// As it was sent the first time.
    case original
    /// Within a later packet, as redundancy (RFC 2198).
    case copy
    /// Sent again because it was asked for (a generic NACK, RFC 4585 section 6.2.1).
    case retransmitted

    /// Whether its arrival tells how long the network takes: a copy or a resend comes when it was sent, not when it was due.
    public var isOriginal: Bool {
        @_noAllocation @_noLocks get {
            switch self {
            case .original: true
            case .copy, .retransmitted: false
            }
        }
    }
}
