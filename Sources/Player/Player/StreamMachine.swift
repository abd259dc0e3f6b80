internal import TenfourMediaSource

/// Decides what a streamer does. Opens nothing, reads no clock: what happened goes in, what is to be done comes out.
///
/// Sound has a generation, which every jump makes anew: what a worker tells of an earlier one is too late to matter.
struct StreamMachine {
    enum Input {
        case open(itemCount: Int, at: Duration?)
        case enqueued(itemCount: Int)
        case play, pause, stop
        case seek(Duration)
        case next, previous
        /// What is read is a playlist of so many.
        case expanded(itemCount: Int)
        /// Of the worker, in the generation that it works for.
        case opened
        case failed(StreamError)
        case readToEnd
        /// As much is ready as is needed to begin, or to go on.
        case buffered
        /// The ring is empty though it should not be.
        case starved
        /// The last of the sound has been heard.
        case heardAll
        /// As much was played as is wanted.
        case playedEnough
        /// What is heard is of this item.
        case hears(item: Int)
    }

    enum Action: Equatable {
        /// From now on only what is of `generation` is heard.
        case begin(generation: Int)
        case open(item: Int, at: Duration?)
        /// Behind what is read now, without a gap.
        case append(item: Int)
        case seek(Duration)
        /// The next `play` begins there.
        case aim(Duration)
        case close
        /// Nothing comes behind what is in the ring.
        case finish
        case skipped(item: Int, StreamError)
    }

    private enum Phase: Equatable {
        case idle
        case opening
        /// The ring fills while nothing is heard; after an underrun with more than at first.
        case filling(isRefill: Bool)
        case running
        /// All is read, not all heard.
        case draining
        case ended(StreamState.EndReason)
        case failed(StreamError)
    }

    private(set) var generation = 0
    /// Which of the queue is read, and which is heard.
    private(set) var reading = 0
    private(set) var hearing = 0
    /// Whether the queue begins again at its end.
    var loops = false

    private var phase = Phase.idle
    private var itemCount = 0
    private var wantsToPlay = false
    /// Whether anything of the queue could be played since it began, and how many could not since then.
    private var hasSounded = false
    private var failuresInARow = 0
    /// Whether what is being opened was asked for as the one before: where it cannot be played, the one before that is meant.
    private var goesBack = false
    /// Where the item is to begin that is being opened.
    private var start: Duration?
    /// Where `play` begins after a stop or a failure; nil for the beginning.
    private var aim: Duration?
    /// What is told when the rest has been heard.
    private var failure: StreamError?

    var state: StreamState {
        switch phase {
        case .idle: .idle
        case .opening, .filling: wantsToPlay ? .buffering : .paused
        case .running, .draining: wantsToPlay ? .playing : .paused
        case .ended(let reason): .ended(reason)
        case .failed(let error): .failed(error)
        }
    }

    /// Whether the deck plays.
    var isOpen: Bool { wantsToPlay && (phase == .running || phase == .draining) }

    /// Whether it waits for enough, and whether that is more than at first.
    var isFilling: (Bool, isRefill: Bool) {
        if case .filling(let isRefill) = phase { (true, isRefill) } else { (false, false) }
    }

    var isDraining: Bool { phase == .draining }

    /// Which follows the one that is read.
    var following: Int? { item(after: reading) }

    private func item(after item: Int) -> Int? {
        if item + 1 < itemCount { return item + 1 }
        return loops && itemCount > 0 ? 0 : nil
    }

    mutating func handle(_ input: Input) -> [Action] {
        switch input {
        case .open(let itemCount, let position):
            self.itemCount = itemCount
            (hasSounded, failuresInARow) = (false, 0)
            (reading, hearing) = (0, 0)
            return itemCount > 0 ? open(0, at: position) : end(.ended(.stopped))
        case .enqueued(let itemCount):
            self.itemCount += itemCount
            // What was read to its end has something behind it now.
            guard phase == .draining, let item = item(after: reading) else { return [] }
            phase = .running
            reading = item
            return [.append(item: item)]
        case .expanded(let itemCount):
            self.itemCount += itemCount - 1
            if hearing > reading { hearing += itemCount - 1 }
            return phase == .opening ? open(reading, at: start) : [.append(item: reading)]
        case .play: return play()
        case .pause:
            wantsToPlay = false
            return []
        case .stop: return end(.ended(.stopped))
        case .seek(let position): return seek(to: position)
        case .next: return item(after: hearing).map { open($0, at: nil) } ?? []
        case .previous: return itemCount > 0 && phase != .idle ? goBack(to: max(hearing - 1, 0)) : []
        case .opened:
            if phase == .opening { phase = .filling(isRefill: false) }
            return []
        case .failed(let error): return fail(error)
        case .readToEnd: return readOn()
        case .buffered:
            if case .filling = phase { phase = .running }
            return []
        case .starved:
            if phase == .running { phase = .filling(isRefill: true) }
            return []
        case .heardAll:
            guard phase == .draining else { return [] }
            phase = failure.map { .failed($0) } ?? .ended(.finished)
            wantsToPlay = false
            return []
        case .playedEnough: return end(.ended(.finished))
        case .hears(let item):
            hearing = item
            hasSounded = true
            failuresInARow = 0
            return []
        }
    }
}

extension StreamMachine {
    private mutating func open(_ item: Int, at position: Duration?) -> [Action] {
        generation += 1
        reading = item
        hearing = item
        failure = nil
        aim = nil
        start = position
        phase = .opening
        goesBack = false
        return [.begin(generation: generation), .open(item: item, at: position)]
    }

    private mutating func goBack(to item: Int) -> [Action] {
        defer { goesBack = true }
        return open(item, at: nil)
    }

    private mutating func play() -> [Action] {
        wantsToPlay = true
        switch phase {
        case .idle, .ended(.stopped), .failed: return itemCount > 0 ? open(hearing, at: aim) : []
        // What was enqueued after the end is next, else all of it begins again.
        case .ended(.finished): return itemCount > 0 ? open(reading + 1 < itemCount ? reading + 1 : 0, at: nil) : []
        case .opening, .filling, .running, .draining: return []
        }
    }

    private mutating func seek(to position: Duration) -> [Action] {
        let position = max(position, .zero)
        switch phase {
        case .idle: return []
        case .ended(.stopped), .failed:
            aim = position
            return itemCount > 0 ? [.aim(position)] : []
        case .opening: return open(reading, at: position)
        case .ended(.finished):
            // Paused there.
            return reading == hearing ? jump(to: position) : open(hearing, at: position)
        case .filling, .running, .draining:
            // Already the next is read.
            return reading == hearing ? jump(to: position) : open(hearing, at: position)
        }
    }

    private mutating func jump(to position: Duration) -> [Action] {
        generation += 1
        failure = nil
        phase = .filling(isRefill: false)
        return [.begin(generation: generation), .seek(position)]
    }

    /// One of the queue came to its end.
    private mutating func readOn() -> [Action] {
        guard let item = item(after: reading) else {
            phase = .draining
            return [.finish]
        }
        reading = item
        return [.append(item: item)]
    }

    /// The next is tried instead, as long as there is one that was not tried before.
    private mutating func fail(_ error: StreamError) -> [Action] {
        failuresInARow += 1
        let isOneOfMany = itemCount > 1
        let news: [Action] = isOneOfMany ? [.skipped(item: reading, error)] : []
        if phase == .opening, goesBack {
            if reading > 0 { return news + goBack(to: reading - 1) }
            // From the first on there is only forward, and all of it was not tried yet.
            failuresInARow = 1
        }
        if failuresInARow < itemCount, let item = item(after: reading) {
            if phase == .opening { return news + open(item, at: nil) }
            reading = item
            return news + [.append(item: item)]
        }
        if !isOneOfMany || !hasSounded { failure = error }
        if phase == .opening { return news + end(failure.map { .failed($0) } ?? .ended(.finished)) }
        // What is in the ring is heard first.
        phase = .draining
        return news + [.finish]
    }

    private mutating func end(_ phase: Phase) -> [Action] {
        guard self.phase != .idle else { return [] }
        generation += 1
        self.phase = phase
        wantsToPlay = false
        return [.begin(generation: generation), .close]
    }
}
