internal import TenfourChannelKeys

/// A member's prekeys with their secret parts: at most two, each for at most seven days.
struct PrekeyStore: Sendable {
    /// By rising id.
    private(set) var pairs: [PrekeyPair]
    /// The highest id that was ever drawn.
    private(set) var lastID: UInt32

    static let maximumCount = 2

    init(pairs: [PrekeyPair] = [], lastID: UInt32 = 0) {
        self.pairs = pairs
        self.lastID = max(lastID, pairs.last?.id ?? 0)
    }

    var newest: PrekeyPair? { pairs.last }

    func pair(_ id: UInt32) -> PrekeyPair? { pairs.first { $0.id == id } }

    /// Draws a prekey. `clock` is the time in seconds since 1970: a member that has lost its file then draws a higher
    /// id than before, which signers ask for.
    mutating func draw(clock: UInt64, using generator: inout some RandomNumberGenerator) {
        guard lastID < .max else { return }
        // Leaves room for ids that count up, even if the clock is years ahead.
        lastID = max(lastID + 1, UInt32(clamping: min(clock, UInt64(UInt32.max / 2))))
        pairs.append(
            PrekeyPair(id: lastID, secret: LockedBytes(count: 32, using: &generator), drawn: clock))
        if pairs.count > Self.maximumCount { pairs.removeFirst() }
    }

    /// Erases all prekeys but the newest. Returns whether there were others.
    mutating func eraseOld() -> Bool {
        guard pairs.count > 1 else { return false }
        pairs.removeFirst(pairs.count - 1)
        return true
    }

    /// Erases prekeys that are too old, or that a clock has dated years ahead. Returns whether there were any.
    mutating func eraseExpired(clock: UInt64) -> Bool {
        let count = pairs.count
        pairs.removeAll { pair in
            let age = pair.drawn > clock ? pair.drawn - clock : clock - pair.drawn
            return age >= PrekeyPair.maximumAge
        }
        return pairs.count < count
    }

    mutating func eraseAll() { pairs = [] }
}
