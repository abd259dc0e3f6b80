/// Why a datagram was forgotten. Each is counted; none is an error of ours.
public enum DiscardReason: Int, CaseIterable, Sendable {
    case empty
    /// Its first byte belongs to no protocol we speak.
    case unknownProtocol
    case malformedRTP
    case malformedRTCP
    /// A payload type nobody has announced.
    case unknownPayloadType
    /// Not an Opus packet by RFC 6716 section 3.
    case malformedPayload
    /// More bytes of Opus than a packet is kept of (`RTPSession.maximumPayloadByteCount`).
    case oversizedPayload
    /// No encoder codes so differently from packet to packet: it is encrypted, or noise.
    case looksEncrypted
    /// From an address this conversation is not with.
    case stranger
    /// More sources at once than a station keeps.
    case tooManySources
    /// Our own packet, come back.
    case loop
    /// Under a number that is taken: ours, or that of a source which still sends from another address.
    case collision
}

/// How many datagrams were forgotten, by reason.
public struct DiscardCounts: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: DiscardReason.allCases.count)

    public init() {}

    public subscript(reason: DiscardReason) -> Int { counts[reason.rawValue] }

    public var total: Int { counts.reduce(0, +) }

    mutating func count(_ reason: DiscardReason) { counts[reason.rawValue] += 1 }
}

extension DiscardCounts: CustomStringConvertible {
    /// The reasons that occurred: `3 malformedRTP, 1 stranger`.
    public var description: String {
        DiscardReason.allCases.filter { self[$0] > 0 }.map { "\(self[$0]) \($0)" }.joined(separator: ", ")
    }
}
