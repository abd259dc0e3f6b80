internal import TenfourAudioCore
internal import TenfourPackets

/// The latest packets that could not be opened yet: their announcement may still come. Allocates once, with the first.
///
/// Who can send in the relay's name can make up any number of packets, and of SSRCs. They push out each other, and nothing of
/// those whom a member has announced; and one SSRC is not enough to push out all others.
struct HeldPackets: Sendable {
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    private var turn = 0

    private struct Entry: Sendable {
        var ssrc: SSRC
        var byteCount: Int
        var at: Instant
        var turn: Int
        /// A member has vouched for its SSRC: the packet may be under a key that is still to come.
        var isAnnounced: Bool
        var isReleased = false
    }

    /// Where all places are taken, one whom nobody has announced gets no more than these.
    static let strangersShare = 8

    static let maximumCount = 25
    static let maximumByteCount = 1_536
    /// Older than this nobody waits for.
    static let memory = Duration.seconds(2)

    /// How many there are.
    var count: Int { entries.count { $0.byteCount > 0 } }

    /// Keeps a packet of at most `maximumByteCount`. `isAnnounced` says whether a member has ever announced its SSRC.
    /// Returns false where a packet is lost for it: another, or this one.
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

    /// A free place, or else the one that can be spared best; nil where none can.
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

    /// `ssrc` is announced: its packets are worth another try.
    mutating func release(_ ssrc: SSRC) {
        for place in entries.indices where entries[place].byteCount > 0 && entries[place].ssrc == ssrc {
            entries[place].isReleased = true
            entries[place].isAnnounced = true
        }
    }

    /// The oldest that is worth another try, and its sender. It stays until it is removed.
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
