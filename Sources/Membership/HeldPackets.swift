internal import RTP
internal import Sound

/// The latest packets that could not be opened yet: their announcement may still come. Allocates once, with the first.
struct HeldPackets: Sendable {
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    private var turn = 0

    private struct Entry: Sendable {
        var ssrc: SSRC
        var byteCount: Int
        var at: Instant
        var turn: Int
        var isReleased = false
    }

    static let maximumCount = 25
    static let maximumByteCount = 1_536
    /// Older than this nobody waits for.
    static let memory = Duration.seconds(2)

    /// How many there are.
    var count: Int { entries.count { $0.byteCount > 0 } }

    /// Keeps a packet of at most `maximumByteCount`. Returns whether another had to go for it.
    mutating func hold(_ packet: Span<UInt8>, of ssrc: SSRC, at now: Instant) -> Bool {
        if bytes.isEmpty {
            bytes = [UInt8](repeating: 0, count: Self.maximumCount * Self.maximumByteCount)
            entries = [Entry](
                repeating: Entry(ssrc: SSRC(0), byteCount: 0, at: .start, turn: 0), count: Self.maximumCount)
        }
        let place = turn % Self.maximumCount
        let isTaken = entries[place].byteCount > 0
        for index in packet.indices { bytes[place * Self.maximumByteCount + index] = packet[index] }
        entries[place] = Entry(ssrc: ssrc, byteCount: packet.count, at: now, turn: turn)
        turn += 1
        return isTaken
    }

    /// Those of `ssrc` are worth another try.
    mutating func release(_ ssrc: SSRC) {
        for place in entries.indices where entries[place].byteCount > 0 && entries[place].ssrc == ssrc {
            entries[place].isReleased = true
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
