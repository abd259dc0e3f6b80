internal import TenfourAudioCore
internal import TenfourPackets

/// Stores the latest packets that cannot be decrypted yet, because the announcement of their key may still arrive.
/// Allocates once, for the first packet.
///
/// An attacker who can send in the relay's name can invent any number of packets and SSRCs. Such packets replace each
/// other, but never packets of an announced SSRC; and packets of one SSRC cannot replace all packets of other SSRCs.
struct HeldPackets: Sendable {
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    private var turn = 0

    private struct Entry: Sendable {
        var ssrc: SSRC
        var byteCount: Int
        var at: Instant
        var turn: Int
        /// Whether a member has announced the SSRC. If so, only packets of announced SSRCs can replace this packet.
        var isAnnounced: Bool
        var isReleased = false
    }

    /// When no slot is free, an SSRC without announcement that has this many held packets can replace only its own
    /// packets.
    static let strangersShare = 8

    static let maximumCount = 25
    static let maximumByteCount = 1_536
    /// The age after which a held packet is no longer decrypted, and any packet may replace it.
    static let memory = Duration.seconds(2)

    /// The number of held packets.
    var count: Int { entries.count { $0.byteCount > 0 } }

    /// Stores a packet of at most `maximumByteCount`. `isAnnounced` is true if a member has announced the SSRC. Returns
    /// false if `packet` was not stored, or has replaced an earlier packet.
    mutating func hold(_ packet: Span<UInt8>, of ssrc: SSRC, isAnnounced: Bool, at now: Instant) -> Bool {
        if bytes.isEmpty {
            bytes = [UInt8](repeating: 0, count: Self.maximumCount * Self.maximumByteCount)
            let none = Entry(ssrc: SSRC(0), byteCount: 0, at: .start, turn: 0, isAnnounced: false)
            entries = [Entry](repeating: none, count: Self.maximumCount)
        }
        guard let place = place(for: ssrc, isAnnounced, at: now) else { return false }
        let isTaken = entries[place].byteCount > 0
        for index in packet.indices { bytes[place * Self.maximumByteCount + index] = packet[index] }
        entries[place] = Entry(ssrc: ssrc, byteCount: packet.count, at: now, turn: turn, isAnnounced: isAnnounced)
        turn += 1
        return !isTaken
    }

    /// Returns the slot for a new packet of `ssrc`: a free slot, or the slot of a packet that may be replaced; nil if
    /// there is neither.
    private func place(for ssrc: SSRC, _ isAnnounced: Bool, at now: Instant) -> Int? {
        if let free = entries.indices.first(where: { entries[$0].byteCount == 0 }) { return free }
        let oldest = oldest { _ in true }
        if let oldest, now - entries[oldest].at > Self.memory { return oldest }
        if isAnnounced { return self.oldest { !$0.isAnnounced } ?? self.oldest { $0.ssrc == ssrc } ?? oldest }
        let ownCount = entries.count { $0.ssrc == ssrc }
        return self.oldest { !$0.isAnnounced && (ownCount < Self.strangersShare || $0.ssrc == ssrc) }
    }

    private func oldest(where isMeant: (Entry) -> Bool) -> Int? {
        entries.indices.filter { isMeant(entries[$0]) }.min { entries[$0].turn < entries[$1].turn }
    }

    /// Marks the held packets of `ssrc` for another attempt to decrypt them, because the SSRC has been announced.
    mutating func release(_ ssrc: SSRC) {
        for place in entries.indices where entries[place].byteCount > 0 && entries[place].ssrc == ssrc {
            entries[place].isReleased = true
            entries[place].isAnnounced = true
        }
    }

    /// Returns the slot, SSRC and arrival of the oldest marked packet, and removes its mark. The packet stays until
    /// `remove`.
    mutating func nextReleased() -> (place: Int, ssrc: SSRC, at: Instant)? {
        var oldest: Int?
        for place in entries.indices where entries[place].isReleased {
            if let known = oldest, entries[known].turn < entries[place].turn { continue }
            oldest = place
        }
        guard let oldest else { return nil }
        entries[oldest].isReleased = false
        return (oldest, entries[oldest].ssrc, entries[oldest].at)
    }

    @_lifetime(borrow self)
    func packet(_ place: Int) -> Span<UInt8> {
        let start = place * Self.maximumByteCount
        return bytes.span.extracting(start..<start + entries[place].byteCount)
    }

    mutating func remove(_ place: Int) { entries[place].byteCount = 0 }
}
