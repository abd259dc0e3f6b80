/// The reason why a received datagram was discarded. Each discard is counted; none is an error of ours.
public enum DiscardReason: Int, CaseIterable, Sendable {
    case empty
    /// The first byte belongs to no protocol that we speak.
    case unknownProtocol
    case malformedRTP
    case malformedRTCP
    /// The session does not accept the payload type.
    case unknownPayloadType
    /// The payload is not a valid packet of its encoding, for example of Opus (RFC 6716 section 3).
    case malformedPayload
    /// The payload is longer than `RTPSession.maximumPayloadByteCount`.
    case oversizedPayload
    /// The payload type is Opus, but the payload looks random: it is encrypted, or noise.
    case looksEncrypted
    /// The session does not accept datagrams from the sender's address.
    case stranger
    /// The packet is from a new source, while `RTPSession.maximumSourceCount` others are sending.
    case tooManySources
    /// The packet is our own, looped back by the network.
    case loop
    /// The packet has an SSRC that is in use: ours, or that of a source which still sends from another address.
    case collision
}

/// The number of discarded datagrams, by reason.
public struct DiscardCounts: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: DiscardReason.allCases.count)

    public init() {}

    public subscript(reason: DiscardReason) -> Int { counts[reason.rawValue] }

    public var total: Int { counts.reduce(0, +) }

    mutating func count(_ reason: DiscardReason) { counts[reason.rawValue] += 1 }
}

extension DiscardCounts: CustomStringConvertible {
    /// The reasons that occurred, with their counts: `3 malformedRTP, 1 stranger`.
    public var description: String {
        DiscardReason.allCases.filter { self[$0] > 0 }.map { "\(self[$0]) \($0)" }.joined(separator: ", ")
    }
}
