internal import TenfourAudioCore
internal import TenfourPacing

/// Chooses what is removed from a full directory of recordings, so that nobody can push out what others said.
///
/// The oldest recording of the talker who has most goes first. Two rules hold against somebody with many names:
///
/// - Sixteen talkers have a share of their own: those who were recorded on the most days, and of these the first. All
///   others have one share together.
/// - Of what was there at the start or is older than a day, at most a quarter of the limit is removed in a day, however
///   much is received and whatever names it has. After that, the recordings of the last day make space for each other.
///
/// It opens no file: the caller removes what is chosen.
struct RecordingShares {
    typealias File = RecordingDirectory.File

    /// The recordings to remove or to end, so that there is space.
    struct Choice: Equatable {
        /// The indices of the recordings to remove.
        var removed: [Int] = []
        /// The index of a recording that is being written and takes the most space, which must end first; nil if the
        /// space suffices.
        var ending: Int?
    }

    /// The recordings with one share, as indices. Those that can be removed are in the order of their removal, reversed.
    private struct Share {
        var older: [Int] = []
        var recent: [Int] = []
        var open: [Int] = []
        var olderSize = 0
        /// The size of the recent recordings and of those being written.
        var recentSize = 0

        func size(withOlder: Bool) -> Int { recentSize + (withOlder ? olderSize : 0) }
    }

    static let talkerCount = 16
    private static let day = Duration.seconds(86_400)
    /// The share of the limit that is removed of older recordings in a day.
    static let olderPerDay = 0.25
    /// A directory that is full is emptied to a thousandth below its limit, so that it is not sorted at each packet.
    private static let headroom = 1_000

    /// The share of the limit by which older recordings may be removed now.
    private var allowance = TokenBucket(perSecond: olderPerDay / 86_400, most: olderPerDay)

    /// Earns the allowance for the time until `now`. Call it each hour at least.
    mutating func advance(to now: Instant) { _ = allowance.spend(0, at: now) }

    /// Chooses recordings until the sum of their sizes is below `limit`. `files` are in the order of their starts; `size`
    /// returns the size of one.
    mutating func choose(from files: [File], limit: Int, at now: Instant, size: (File) -> Int) -> Choice {
        var excess = files.reduce(0) { $0 + size($1) } - (limit - limit / Self.headroom)
        var shares = Self.shares(of: files, at: now, size: size)
        var choice = Choice()
        var mayRemoveOlder = true
        while excess > 0 {
            // The limit holds even if there is nothing but older recordings.
            let hasRecent = shares.contains { $0.recentSize > 0 }
            let withOlder = mayRemoveOlder || !hasRecent
            let sizes = shares.map { $0.size(withOlder: withOlder) }
            let largest = sizes.indices.max { sizes[$0] < sizes[$1] }
            guard let largest, sizes[largest] > 0 else { break }
            if withOlder, let index = shares[largest].older.last {
                let freed = size(files[index])
                if hasRecent, !allowance.spend(Double(freed) / Double(limit), at: now) {
                    mayRemoveOlder = false
                    continue
                }
                shares[largest].older.removeLast()
                shares[largest].olderSize -= freed
                choice.removed.append(index)
                excess -= freed
            } else if let index = shares[largest].recent.popLast() {
                let freed = size(files[index])
                shares[largest].recentSize -= freed
                choice.removed.append(index)
                excess -= freed
            } else {
                choice.ending = shares[largest].open.first
                break
            }
        }
        return choice
    }

    /// Returns the shares: that of all other talkers, then those of talkers with one of their own.
    private static func shares(of files: [File], at now: Instant, size: (File) -> Int) -> [Share] {
        let talkers = files.map { RecordingName.talker(in: $0.name) }
        let places = places(of: talkers, in: files)
        var shares = [Share](repeating: Share(), count: talkerCount + 1)
        for index in files.indices.reversed() {
            let file = files[index]
            let place = places[talkers[index]] ?? 0
            let isRecent = file.begun.map { now - $0 < day } ?? false
            if file.isOpen || isRecent {
                shares[place].recentSize += size(file)
                if file.isOpen { shares[place].open.append(index) } else { shares[place].recent.append(index) }
            } else {
                shares[place].olderSize += size(file)
                shares[place].older.append(index)
            }
        }
        return shares
    }

    /// Returns the places of the talkers with a share of their own, from 1.
    private static func places(of names: [Substring], in files: [File]) -> [Substring: Int] {
        struct Presence {
            var first: Int
            var dayCount = 0
            var lastDay = Int.min
        }
        var talkers: [Substring: Presence] = [:]
        for (index, file) in files.enumerated() {
            var presence = talkers[names[index]] ?? Presence(first: index)
            let day = file.start / 86_400
            guard presence.lastDay != day else { continue }
            presence.dayCount += 1
            presence.lastDay = day
            talkers[names[index]] = presence
        }
        let ranked = talkers.sorted { ($1.value.dayCount, $0.value.first) < ($0.value.dayCount, $1.value.first) }
        return Dictionary(
            uniqueKeysWithValues: ranked.prefix(talkerCount).enumerated().map { ($1.key, $0 + 1) })
    }
}
