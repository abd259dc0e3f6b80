internal import TenfourSeededRandom

/// The order in which the items of a queue are played: in the order of the queue or shuffled, once or repeated.
///
/// An item is known by a number of its own, which it keeps when the queue is edited. Shuffled, each item is played once
/// per round, and going back leads along what was heard. Knows nothing about audio, and draws lots from a seed.
struct PlaybackOrder: Sendable {
    /// The items in the order of the queue.
    private(set) var items: [Int] = []
    private(set) var isShuffled: Bool
    private(set) var repeats: RepeatMode

    /// The items in the order in which they were chosen: those heard, those read, and after a step back those that
    /// were heard after it.
    private var path = [0]
    /// The place in `path` of the item that is heard, and of the item that is read.
    private var (hearing, reading) = (0, 0)
    /// Shuffled: the items that this round has not reached, the next one last.
    private var rest: [Int] = []
    /// Whether `rest` is a round that has not begun.
    private var isFreshRound = false
    private var nextNumber = 0
    private var randomness: SeededRandom

    /// The largest number of items that going back remembers.
    private static let maximumPathLength = 1_024

    init(isShuffled: Bool = false, repeats: RepeatMode = .none, seed: UInt64 = 1) {
        self.isShuffled = isShuffled
        self.repeats = repeats
        randomness = SeededRandom(seed: seed)
    }

    /// The item that is heard. It is 0 before the queue has items.
    var heardItem: Int { path[hearing] }
    /// The item that the worker reads.
    var readItem: Int { path[reading] }

    /// The items from the one that is heard to the one that is read.
    var present: ArraySlice<Int> { path[hearing...reading] }

    /// The item that is read after `readItem` without anyone's doing; nil if there is none.
    var following: Int? {
        if repeats == .one, items.contains(readItem) { return readItem }
        return item(after: reading)
    }

    /// Whether `stepForward` leads to an item.
    var hasNext: Bool { item(after: hearing) != nil }

    func index(of item: Int) -> Int? { items.firstIndex(of: item) }
}

// MARK: Steps
extension PlaybackOrder {
    /// Reads on. Returns the item to be read; nil at the end. With `skips`, the present item is not repeated, since it
    /// cannot be played.
    mutating func readOn(skips: Bool = false) -> Int? {
        if repeats == .one, !skips, items.contains(readItem) { return readItem }
        guard let item = take(after: reading) else { return nil }
        // A queue of one item that is repeated stays where it is.
        if item != path[reading] || path.count > reading + 1 { reading += 1 }
        trim()
        return item
    }

    /// Makes `item` the item that is heard.
    mutating func hear(_ item: Int) {
        if path[hearing] == item || !items.contains(item) { return }
        if let place = path[hearing...].firstIndex(of: item) {
            hearing = place
        } else {
            path[hearing] = item
        }
        reading = max(reading, hearing)
    }

    /// Reads the item again that is heard.
    mutating func restart() { reading = hearing }

    /// Goes to the item after the one that is heard. Returns false if there is none.
    mutating func stepForward() -> Bool {
        guard take(after: hearing) != nil else { return false }
        if hearing + 1 < path.count { hearing += 1 }
        reading = hearing
        trim()
        return true
    }

    /// Goes to the item before the one that is heard. Returns false if there is none.
    mutating func stepBack() -> Bool {
        if isShuffled {
            guard hearing > 0 else { return false }
            hearing -= 1
        } else {
            guard let index = index(of: heardItem), index > 0 else { return false }
            start(with: items[index - 1])
        }
        reading = hearing
        return true
    }

    /// Goes to the item that follows what was read, or to the start of the queue.
    mutating func startAgain() {
        hearing = reading
        if stepForward() || items.isEmpty { return }
        if isShuffled {
            beginRound()
            _ = stepForward()
        } else {
            start(with: items[0])
        }
    }

    /// Goes to an item of the queue.
    mutating func select(_ item: Int) {
        guard items.contains(item), item != heardItem else { return restart() }
        if isShuffled {
            rest.removeAll { $0 == item }
            isFreshRound = false
            path.insert(item, at: hearing + 1)
            hearing += 1
            reading = hearing
            refill()
            trim()
        } else {
            start(with: item)
        }
    }

    private mutating func start(with item: Int) { (path, hearing, reading) = ([item], 0, 0) }

    /// The item after the one at `place` in `path`; nil if there is none.
    private func item(after place: Int) -> Int? {
        if place + 1 < path.count { return path[place + 1] }
        if isShuffled { return rest.last }
        guard let index = index(of: path[place]) else { return nil }
        if index + 1 < items.count { return items[index + 1] }
        return repeats == .all ? items.first : nil
    }

    /// Puts the item after the one at `place` into `path`, unless it is the same one.
    private mutating func take(after place: Int) -> Int? {
        guard let item = item(after: place) else { return nil }
        if place + 1 < path.count { return item }
        if item != path[place] { path.append(item) }
        if isShuffled {
            rest.removeLast()
            isFreshRound = false
            // After the item was put into the path, since the next round does not begin with it.
            refill()
        }
        return item
    }

    /// Forgets what was heard long ago, and in the order of the queue all of it.
    private mutating func trim() {
        let limit = isShuffled ? Self.maximumPathLength : reading - hearing + 1
        let surplus = min(path.count - limit, hearing)
        guard surplus > 0 else { return }
        path.removeFirst(surplus)
        hearing -= surplus
        reading -= surplus
    }
}

// MARK: Edits
extension PlaybackOrder {
    /// Replaces the queue by one of `count` items, of which the first to be played is heard and read.
    mutating func open(count: Int) {
        items = Array(0..<count)
        nextNumber = count
        start(with: 0)
        rest = []
        isFreshRound = false
        guard isShuffled, count > 0 else { return }
        rest = items.shuffled(using: &randomness)
        start(with: rest.removeLast())
        refill()
    }

    /// Inserts `count` items before the one at `index`.
    mutating func insert(count: Int, at index: Int) {
        let new = Array(nextNumber..<nextNumber + count)
        nextNumber += count
        let wasEmpty = items.isEmpty
        items.insert(contentsOf: new, at: index)
        forgetAhead()
        guard isShuffled else {
            if wasEmpty, let first = new.first { start(with: first) }
            return
        }
        for item in new { mix(item) }
        if wasEmpty, count > 0 { start(with: rest.removeLast()) }
        refill()
    }

    /// Replaces the item that is read, a playlist, by its `count` entries, above 0. The first of them to be played is
    /// read.
    mutating func expand(count: Int) {
        let list = readItem
        guard let index = index(of: list), count > 1 else { return }
        let new = Array(nextNumber..<nextNumber + count - 1)
        nextNumber += count - 1
        items.insert(contentsOf: new, at: index + 1)
        guard isShuffled else { return }
        var entries = [list] + new
        let first = entries.remove(at: Int.random(in: 0..<count, using: &randomness))
        path[reading] = first
        path.removeSubrange((reading + 1)...)
        for item in entries { mix(item) }
    }

    /// Moves an item to the place `index` of the queue without it.
    mutating func move(from source: Int, to index: Int) {
        items.insert(items.remove(at: source), at: index)
        forgetAhead()
    }

    /// Removes an item. If it is heard, the item that follows is heard and read instead, or the one before if none
    /// follows. Returns whether one follows.
    mutating func remove(at index: Int) -> Bool {
        let item = items[index]
        let isHeard = item == heardItem
        let successor = isHeard ? self.successor(of: index) : nil
        items.remove(at: index)
        rest.removeAll { $0 == item }
        if isHeard {
            let before = path[..<hearing].filter { $0 != item }
            let ahead = isShuffled ? path[(hearing + 1)...].filter { $0 != item && $0 != successor } : []
            let neighbor = items.isEmpty ? 0 : items[min(index, items.count - 1)]
            let heard = successor ?? (isShuffled ? before.last : nil) ?? neighbor
            if successor != nil, !path[(hearing + 1)...].contains(heard) {
                rest.removeAll { $0 == heard }
                isFreshRound = false
            }
            path = before + [heard] + ahead
            hearing = before.count
            reading = hearing
        } else {
            // What is read but not heard is not played if it is removed.
            let isAhead = path[hearing...reading].contains(item)
            let (before, after) = (path[..<hearing].filter { $0 != item }, path[hearing...].filter { $0 != item })
            reading = isAhead ? before.count : before.count + reading - hearing
            hearing = before.count
            path = before + after
        }
        if !isShuffled { forgetAhead() }
        refill()
        return successor != nil
    }

    mutating func setShuffled(_ isShuffled: Bool) {
        guard isShuffled != self.isShuffled else { return }
        self.isShuffled = isShuffled
        path = Array(path[hearing...reading])
        (hearing, reading) = (0, path.count - 1)
        rest = []
        isFreshRound = false
        guard isShuffled else { return }
        let known = Set(path)
        rest = items.filter { !known.contains($0) }.shuffled(using: &randomness)
        refill()
    }

    mutating func setRepeats(_ repeats: RepeatMode) {
        self.repeats = repeats
        // A round that has not begun belongs to the repetition.
        if repeats != .all, isFreshRound { (rest, isFreshRound) = ([], false) }
        forgetAhead()
        refill()
    }

    /// The item that is heard once the one at `index`, which is heard now, is removed.
    private func successor(of index: Int) -> Int? {
        let item = items[index]
        if isShuffled {
            return path[(hearing + 1)...].first { $0 != item } ?? rest.last { $0 != item }
        }
        if index + 1 < items.count { return items[index + 1] }
        return repeats == .all && items.count > 1 ? items[0] : nil
    }

    /// In the order of the queue, nothing is chosen beyond what is read.
    private mutating func forgetAhead() { if !isShuffled { path.removeSubrange((reading + 1)...) } }

    /// Puts an item at a random place among those to come.
    private mutating func mix(_ item: Int) { rest.insert(item, at: Int.random(in: 0...rest.count, using: &randomness)) }

    /// Shuffles all items for a new round, which does not begin with the last one of the round before.
    private mutating func beginRound() {
        rest = items.shuffled(using: &randomness)
        if rest.count > 1, rest.last == path.last { rest.swapAt(0, rest.count - 1) }
        isFreshRound = true
    }

    /// Begins the next round if this one is over and the queue is repeated.
    private mutating func refill() { if isShuffled, repeats == .all, rest.isEmpty { beginRound() } }
}

/// Which items are played again.
public enum RepeatMode: String, CaseIterable, Sendable {
    case none, one, all
}
