internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourPackets

/// Writes the payload of our packets: an Opus packet alone, or with copies of earlier packets (RFC 2198) as far as the
/// bit rate allows.
struct RedundancyEncoder: Sendable {
    private var payloads = RecentPayloads()
    /// Limits the bytes of packets and copies to the bit rate. Unused bytes are saved for later copies.
    private var bytes: TokenBucket

    /// The maximum length of a payload with copies, in bytes: the space in an Ethernet frame after the headers of IP,
    /// UDP and RTP, less a reserve. A copy that does not fit is left out.
    private static let maximumByteCount = 1_380
    /// The time, in seconds, for which unused bits are saved. They are needed because an encoder spends more bits on
    /// one packet than on another.
    private static let savedSeconds = 1.0
    /// The number of saved bits at the start, as a proportion of the maximum. The encoder's bit rate is adapted to keep
    /// this number of saved bits.
    static let targetLevel = 0.25

    /// Creates an encoder without copies. `bitRate` is the bit rate of the whole payload, in bit/s: the newest packet
    /// and its redundant copies.
    init(bitRate: Int) {
        let perSecond = Double(bitRate) / 8
        bytes = TokenBucket(perSecond: perSecond, most: perSecond * Self.savedSeconds, share: Self.targetLevel)
    }

    /// The number of saved bits, as a proportion of the maximum; negative while too many were spent.
    var level: Double { bytes.left / bytes.most }

    mutating func setBitRate(_ bitRate: Int) { bytes.perSecond = Double(bitRate) / 8 }

    /// Chooses the copies that are sent with the packet at `position`, oldest first. They are payloads of the same
    /// talkspurt that were sent `distances` packets earlier, fit into the datagram, and keep the bit rate. Counts the
    /// packet and the copies.
    mutating func copies(
        at distances: [Int], frameCount: FrameCount, beside payloadByteCount: Int, at position: FrameCount,
        startsTalkspurt: Bool, now: Instant
    ) -> [RecentPayloads.Entry] {
        bytes.charge(Double(payloadByteCount), at: now)
        guard !startsTalkspurt, !distances.isEmpty else { return [] }
        var chosen: [RecentPayloads.Entry] = []
        var byteCount = payloadByteCount + RedundantPayload.headerByteCount(copies: 0)
        for distance in distances {
            let age = FrameCount(distance * frameCount.rawValue)
            guard age <= RedundantPayload.maximumAge, let entry = payloads.entry(at: position - age) else { continue }
            let extra = entry.byteCount + RedundantPayload.headerByteCount(copies: 1)
            guard byteCount + extra <= Self.maximumByteCount, bytes.spend(Double(extra), at: now) else { continue }
            byteCount += extra
            chosen.insert(entry, at: 0)
        }
        return chosen
    }

    /// Keeps a payload for later copies.
    mutating func keep(_ payload: Span<UInt8>, at position: FrameCount) { payloads.insert(payload, at: position) }

    /// The length of a payload with its copies, in bytes.
    static func byteCount(of payload: Span<UInt8>, with copies: [RecentPayloads.Entry]) -> Int {
        copies.reduce(payload.count + RedundantPayload.headerByteCount(copies: copies.count)) { $0 + $1.byteCount }
    }

    /// Appends a payload with its copies. `payloadType` is that of Opus.
    func write(
        _ payload: Span<UInt8>, with copies: [RecentPayloads.Entry], payloadType: UInt8, at position: FrameCount,
        into datagram: inout OutputSpan<UInt8>
    ) {
        for copy in copies {
            RedundantPayload.writeHeader(
                ofCopy: RedundantPayload.Block(
                    payloadType: payloadType, age: position - copy.position, byteCount: copy.byteCount),
                into: &datagram)
        }
        if !copies.isEmpty { RedundantPayload.writeHeader(ofPrimary: payloadType, into: &datagram) }
        for copy in copies { payloads.append(copy, to: &datagram) }
        for index in payload.indices { datagram.append(payload[index]) }
    }
}
