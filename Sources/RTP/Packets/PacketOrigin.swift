/// The way in which a packet of a stream was delivered.
public enum PacketOrigin: UInt8, BitwiseCopyable, Sendable {
    /// Sent for the first time.
    case original
    /// Contained in a later packet as redundancy (RFC 2198).
    case copy
    /// Retransmitted after a generic NACK (RFC 4585 section 6.2.1).
    case retransmitted

    /// Whether the packet was sent for the first time. Only then does its arrival show the network's delay: copies and
    /// retransmissions are sent later than their audio.
    public var isOriginal: Bool {
        @_noAllocation @_noLocks get {
            switch self {
            case .original: true
            case .copy, .retransmitted: false
            }
        }
    }
}
