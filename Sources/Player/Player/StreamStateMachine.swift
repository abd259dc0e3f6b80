internal import TenfourMediaSource

/// Turns inputs (requests and reports) into actions that a player must perform. Opens nothing and reads no clock.
///
/// Every jump begins a new generation of audio. Reports of the worker about earlier generations are ignored.
struct StreamStateMachine {
    enum Input {
        case open(itemCount: Int, at: Duration?)
        case enqueued(itemCount: Int)
        case play, pause, stop
        case seek(Duration)
        case next, previous
        /// The item is a playlist of `itemCount` entries.
        case expanded(itemCount: Int)
        /// The worker has opened the item of the present generation.
        case opened
        case failed(StreamError)
        case readToEnd
        /// Enough audio is buffered to start or resume.
        case buffered
        /// The ring is empty during playback.
        case starved
        /// The last frame has been heard.
        case heardAll
        /// The requested duration has been played.
        case playedEnough
        /// The audio that is heard belongs to the item at index `item`.
        case hears(item: Int)
    }

    enum Action: Equatable {
        /// From this action on, only audio of `generation` is heard.
        case begin(generation: Int)
        case open(item: Int, at: Duration?)
        /// Read this item after the present one, without a gap.
        case append(item: Int)
        case seek(Duration)
        /// Record that the next `play` starts at this position.
        case aim(Duration)
        case close
        /// Play the audio in the ring to its end, since no audio follows it.
        case finish
        case skipped(item: Int, StreamError)
    }

    private enum Phase: Equatable {
        case idle
        case opening
        /// The ring is being filled in silence. After an underrun (`isRefill`) playback waits for a higher fill level.
        case filling(isRefill: Bool)
        case running
        /// All audio is read but not yet heard.
        case draining
        case ended(StreamState.EndReason)
        case failed(StreamError)
    }

    private(set) var generation = 0
    /// The index of the item that the worker reads.
    private(set) var readItem = 0
    /// The index of the item that is heard.
    private(set) var heardItem = 0
    /// Whether the queue starts again at its end.
    var loops = false

    private var phase = Phase.idle
    private var itemCount = 0
    private var wantsToPlay = false
    /// Whether any item of the queue has been played.
    private var hasPlayed = false
    /// The number of items that have failed since an item was last heard.
    private var failuresInARow = 0
    /// Whether the item was requested by `previous`: if it fails, the item before it is tried.
    private var goesBack = false
    /// The position at which the item that is being opened will start; nil for its start.
    private var start: Duration?
    /// The position at which `play` starts after a stop or a failure; nil for the item's start.
    private var aim: Duration?
    /// The error to report after the audio in the ring has been heard.
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

    /// Whether the renderer may play the audio in the ring.
    var isOpen: Bool { wantsToPlay && (phase == .running || phase == .draining) }

    /// Two values: whether playback waits while the ring is being filled, and whether it waits because of an underrun
    /// (`isRefill`).
    var isFilling: (Bool, isRefill: Bool) {
        if case .filling(let isRefill) = phase { (true, isRefill) } else { (false, false) }
    }

    var isDraining: Bool { phase == .draining }

    /// The index of the item after `readItem`; nil if there is none.
    var following: Int? { item(after: readItem) }

    private func item(after item: Int) -> Int? {
        if item + 1 < itemCount { return item + 1 }
        return loops && itemCount > 0 ? 0 : nil
    }

    mutating func handle(_ input: Input) -> [Action] {
        switch input {
        case .open(let itemCount, let position):
            self.itemCount = itemCount
            (hasPlayed, failuresInARow) = (false, 0)
            (readItem, heardItem) = (0, 0)
            return itemCount > 0 ? open(0, at: position) : end(.ended(.stopped))
        case .enqueued(let itemCount):
            self.itemCount += itemCount
            // Reads the successor that the item read to its end now has.
            guard phase == .draining, let item = item(after: readItem) else { return [] }
            phase = .running
            readItem = item
            return [.append(item: item)]
        case .expanded(let itemCount):
            self.itemCount += itemCount - 1
            if heardItem > readItem { heardItem += itemCount - 1 }
            return phase == .opening ? open(readItem, at: start) : [.append(item: readItem)]
        case .play: return play()
        case .pause:
            wantsToPlay = false
            return []
        case .stop: return end(.ended(.stopped))
        case .seek(let position): return seek(to: position)
        case .next: return item(after: heardItem).map { open($0, at: nil) } ?? []
        case .previous: return itemCount > 0 && phase != .idle ? goBack(to: max(heardItem - 1, 0)) : []
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
            heardItem = item
            hasPlayed = true
            failuresInARow = 0
            return []
        }
    }
}

extension StreamStateMachine {
    private mutating func open(_ item: Int, at position: Duration?) -> [Action] {
        generation += 1
        readItem = item
        heardItem = item
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
        case .idle, .ended(.stopped), .failed: return itemCount > 0 ? open(heardItem, at: aim) : []
        // Continues with items enqueued after the end; if there are none, starts the queue again.
        case .ended(.finished): return itemCount > 0 ? open(readItem + 1 < itemCount ? readItem + 1 : 0, at: nil) : []
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
        case .opening: return open(readItem, at: position)
        case .ended(.finished):
            // Seeks in the item that was heard last. The player is then paused at `position`.
            return readItem == heardItem ? jump(to: position) : open(heardItem, at: position)
        case .filling, .running, .draining:
            // Seeks in the item that is heard, which must be opened again if the worker already reads the next item.
            return readItem == heardItem ? jump(to: position) : open(heardItem, at: position)
        }
    }

    private mutating func jump(to position: Duration) -> [Action] {
        generation += 1
        failure = nil
        phase = .filling(isRefill: false)
        return [.begin(generation: generation), .seek(position)]
    }

    /// Handles the end of reading an item: continues with the next item, or drains the ring.
    private mutating func readOn() -> [Action] {
        guard let item = item(after: readItem) else {
            phase = .draining
            return [.finish]
        }
        readItem = item
        return [.append(item: item)]
    }

    /// Handles a failed item: tries the next item, unless all items have failed.
    private mutating func fail(_ error: StreamError) -> [Action] {
        failuresInARow += 1
        let isOneOfMany = itemCount > 1
        let skipped: [Action] = isOneOfMany ? [.skipped(item: readItem, error)] : []
        if phase == .opening, goesBack {
            if readItem > 0 { return skipped + goBack(to: readItem - 1) }
            // Tries the rest of the queue, since the first item has no predecessor.
            failuresInARow = 1
        }
        if failuresInARow < itemCount, let item = item(after: readItem) {
            if phase == .opening { return skipped + open(item, at: nil) }
            readItem = item
            return skipped + [.append(item: item)]
        }
        if !isOneOfMany || !hasPlayed { failure = error }
        if phase == .opening { return skipped + end(failure.map { .failed($0) } ?? .ended(.finished)) }
        // Plays the audio in the ring before the end.
        phase = .draining
        return skipped + [.finish]
    }

    private mutating func end(_ phase: Phase) -> [Action] {
        guard self.phase != .idle else { return [] }
        generation += 1
        self.phase = phase
        wantsToPlay = false
        return [.begin(generation: generation), .close]
    }
}
