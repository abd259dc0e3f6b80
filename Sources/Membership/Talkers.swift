internal import Keys
internal import RTP
internal import Sound

/// The keys of those who talk to us: of each the newest, and the one before it for a while.
struct Talkers: ~Copyable, Sendable {
    private var talkers = InlineArray<64, Talker?> { _ in nil }
    /// Who has each place.
    private var ssrcs = InlineArray<64, SSRC?>(repeating: nil)
    /// Which of all announcements that were believed was its latest.
    private var announced = InlineArray<64, Int>(repeating: 0)
    private var announcementCount = 0

    /// What became of a packet.
    enum Outcome {
        /// It is RTP of so many bytes.
        case opened(Int)
        case replayed
        case malformed
        /// Its key is not known, or it is nobody's.
        case unopened
    }

    /// Makes the key of a new epoch. Who was announced longest ago gives up its place, where there is none.
    mutating func begin(_ announcement: Announcement, under root: MediaRoot) {
        guard let key = Self.key(announcement, under: root) else { return }
        if let place = place(of: announcement.ssrc) {
            talkers[place]?.begin(key)
            believed(place)
        } else {
            let place = freePlace
            talkers[place] = Talker(key)
            ssrcs[place] = announcement.ssrc
            believed(place)
        }
    }

    /// An epoch before the newest is announced. Makes its key where it may be the one in use: the newest may be one to
    /// come. Returns whether that is so.
    mutating func beginOlder(_ announcement: Announcement, under root: MediaRoot) -> Bool {
        guard let place = place(of: announcement.ssrc), talkers[place]?.awaitsOlder ?? false,
            let key = Self.key(announcement, under: root)
        else { return false }
        talkers[place]?.beginOlder(key)
        believed(place)
        return true
    }

    private static func key(_ announcement: Announcement, under root: MediaRoot) -> TalkerKey? {
        let key = root.masterKey(announcement.suite, ssrc: announcement.ssrc, epoch: announcement.epoch)
        guard
            let context = try? SRTPContext(
                receiving: key, ssrc: announcement.ssrc, at: announcement.index,
                packetsPerSecond: mostPacketsPerSecond)
        else { return nil }
        return TalkerKey(context)
    }

    /// Its newest epoch is announced again. Returns whether packets that could not be opened may be opened now.
    mutating func synchronize(_ announcement: Announcement) -> Bool {
        guard let place = place(of: announcement.ssrc) else { return false }
        believed(place)
        return talkers[place]?.synchronize(with: announcement.index) ?? false
    }

    /// Opens a packet of `ssrc` into `bytes`, which has room for it.
    mutating func open(
        _ packet: Span<UInt8>, of ssrc: SSRC, depth: Duration, into bytes: inout [UInt8], at now: Instant
    ) -> Outcome {
        guard let place = place(of: ssrc) else { return .unopened }
        return talkers[place]?.open(packet, depth: depth, into: &bytes, at: now) ?? .unopened
    }

    /// Whether a member has announced it, not too many others ago.
    func knows(_ ssrc: SSRC) -> Bool { place(of: ssrc) != nil }

    private mutating func believed(_ place: Int) {
        announcementCount += 1
        announced[place] = announcementCount
    }

    private func place(of ssrc: SSRC) -> Int? {
        for place in ssrcs.indices where ssrcs[place] == ssrc { return place }
        return nil
    }

    private var freePlace: Int {
        var oldest = 0
        for place in announced.indices where announced[place] < announced[oldest] { oldest = place }
        return oldest
    }

    /// Of the shortest packets that Opus has.
    private static let mostPacketsPerSecond = 400
}

/// One who talks, or is going to.
struct Talker: ~Copyable, Sendable {
    private var newest: TalkerKey
    private var older: TalkerKey?
    /// When the older key is let go: nil until the newest has opened a packet.
    private var olderEnd: Instant?

    init(_ newest: consuming TalkerKey) { self.newest = newest }

    /// The key before it is kept, if it was ever used.
    mutating func begin(_ key: consuming TalkerKey) {
        var key = key
        swap(&newest, &key)
        guard key.hasOpened || older == nil else { return }
        older = consume key
        olderEnd = nil
    }

    /// Whether an older epoch may be the one in use: the newest is not yet, and none before it is known.
    var awaitsOlder: Bool { older == nil && !newest.hasOpened }

    mutating func beginOlder(_ key: consuming TalkerKey) { older = consume key }

    mutating func synchronize(with index: PacketIndex) -> Bool { newest.context.synchronize(with: index) }

    mutating func open(
        _ packet: Span<UInt8>, depth: Duration, into bytes: inout [UInt8], at now: Instant
    ) -> Talkers.Outcome {
        let outcome = newest.open(packet, into: &bytes)
        switch outcome {
        case .opened:
            if let olderEnd {
                if olderEnd <= now {
                    older = nil
                    self.olderEnd = nil
                }
            } else if older != nil {
                olderEnd = now + depth
            }
            return outcome
        case .malformed: return outcome
        case .replayed, .unopened:
            switch older?.open(packet, into: &bytes) {
            case .opened(let byteCount): return .opened(byteCount)
            case .replayed: return .replayed
            case .malformed, .unopened, nil: return outcome
            }
        }
    }
}

/// The key of one epoch of one talker.
struct TalkerKey: ~Copyable, Sendable {
    fileprivate var context: SRTPContext
    fileprivate private(set) var hasOpened = false

    init(_ context: consuming SRTPContext) { self.context = context }

    fileprivate mutating func open(_ packet: Span<UInt8>, into bytes: inout [UInt8]) -> Talkers.Outcome {
        // Another key may have to be tried after this one has spoiled the bytes.
        for index in packet.indices { bytes[index] = packet[index] }
        var span = bytes.mutableSpan
        var opening = span._mutatingExtracting(..<packet.count)
        do throws(SRTPError) {
            let byteCount = try context.unprotect(&opening)
            hasOpened = true
            return .opened(byteCount)
        } catch {
            switch error {
            case .replayed, .old: return .replayed
            case .malformed, .noRoom: return .malformed
            case .forged, .otherSource, .keyUsedUp, .other: return .unopened
            }
        }
    }
}
