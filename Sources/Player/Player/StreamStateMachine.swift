internal import TenfourMediaSource

/// Turns inputs (requests and reports) into actions that a player must perform. Opens nothing and reads no clock.
///
/// Every jump begins a new generation of audio. Reports of the worker about earlier generations are ignored.
struct StreamStateMachine {
    enum Input {
        case open(itemCount: Int, at: Duration?)
        case enqueued(itemCount: Int)
        /// Items were inserted before the one at `index`.
        case inserted(itemCount: Int, at: Int)
        /// The item at index `from` was moved to `to`, an index of the queue without it.
        case moved(from: Int, to: Int)
        /// The item at `index` was removed, while the position of what is heard was `position`.
        case removed(index: Int, at: Duration)
        /// Play the item at index `select`.
        case select(index: Int)
        case shuffle(Bool)
        case repeats(RepeatMode)
        case play, pause, stop
        /// The player is closed for good.
        case close
        case seek(Duration)
        case next, previous
        /// The item is a playlist of `itemCount` entries.
        case expanded(itemCount: Int)
        /// The worker has opened the item of the present generation.
        case opened
        case failed(StreamError)
        /// The queue cannot grow further. Ends playback, since each of its other lists would fail in the same way.
        case queueFull(StreamError)
        case readToEnd
        /// The item was read to its end, and there was no audio.
        case readNothing
        /// Enough audio is buffered to start or resume.
        case buffered
        /// The ring is empty during playback.
        case starved
        /// The last frame has been heard.
        case heardAll
        /// The requested duration has been played.
        case playedEnough
        /// The audio that is heard belongs to `item`.
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
        /// The ring is being filled in silence. After an underrun playback waits for a higher fill level.
        case filling(StreamState.BufferingReason)
        case running
        /// All audio is read but not yet heard.
        case draining
        case ended(StreamState.EndReason)
        case failed(StreamError)
    }

    private(set) var generation = 0
    /// The queue, whose items are known by their numbers.
    private(set) var order: PlaybackOrder

    private var phase = Phase.idle
    private var wantsToPlay = false
    private var isClosed = false
    /// Whether any item of the queue has been played.
    private var hasPlayed = false
    /// The number of items in succession that have failed or had no audio.
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
        case .opening: wantsToPlay ? .buffering(.opening) : .paused
        case .filling(let reason): wantsToPlay ? .buffering(reason) : .paused
        case .running, .draining: wantsToPlay ? .playing : .paused
        case .ended(let reason): .ended(reason)
        case .failed(let error): .failed(error)
        }
    }

    /// Whether the renderer may play the audio in the ring.
    var isOpen: Bool { wantsToPlay && (phase == .running || phase == .draining) }

    /// The reason why playback waits while the ring is being filled; nil if the ring is not being filled.
    var fillingReason: StreamState.BufferingReason? {
        if case .filling(let reason) = phase { reason } else { nil }
    }

    var isDraining: Bool { phase == .draining }

    /// The item that the worker reads, and the item that is heard.
    var readItem: Int { order.readItem }
    var heardItem: Int { order.heardItem }
    /// The item after `readItem`; nil if there is none.
    var following: Int? { order.following }

    private var itemCount: Int { order.items.count }

    /// Whether audio of the present generation is being prepared or played.
    private var isActive: Bool {
        switch phase {
        case .opening, .filling, .running, .draining: true
        case .idle, .ended, .failed: false
        }
    }

    init(order: PlaybackOrder = PlaybackOrder()) { self.order = order }

    /// Returns the actions that `input` requires. After `.close` no input has an effect.
    mutating func handle(_ input: Input) -> [Action] {
        if isClosed { return [] }
        switch input {
        case .open(let itemCount, let position):
            order.open(count: itemCount)
            (hasPlayed, failuresInARow) = (false, 0)
            return itemCount > 0 ? open(at: position) : end(.ended(.stopped))
        case .enqueued(let itemCount): return edit { $0.insert(count: itemCount, at: $0.items.count) }
        case .inserted(let itemCount, let index): return edit { $0.insert(count: itemCount, at: index) }
        case .moved(let source, let index): return edit { $0.move(from: source, to: index) }
        case .shuffle(let isShuffled): return edit { $0.setShuffled(isShuffled) }
        case .repeats(let repeats): return edit { $0.setRepeats(repeats) }
        case .removed(let index, let position): return remove(index, heardUpTo: position)
        case .select(let index):
            order.select(order.items[index])
            return open(at: nil)
        case .expanded(let itemCount):
            order.expand(count: itemCount)
            return phase == .opening ? open(at: start) : [.append(item: readItem)]
        case .play: return play()
        case .pause:
            wantsToPlay = false
            return []
        case .stop: return end(.ended(.stopped))
        case .close: return close()
        case .seek(let position): return seek(to: position)
        case .next: return order.stepForward() ? open(at: nil) : []
        case .previous:
            guard itemCount > 0, phase != .idle else { return [] }
            if !order.stepBack() { order.restart() }
            return goBack()
        case .opened:
            if phase == .opening { phase = .filling(.opening) }
            return []
        case .failed(let error): return fail(error)
        case .queueFull(let error): return end(.failed(error))
        case .readToEnd:
            failuresInARow = 0
            return readOn()
        case .readNothing: return skipSilently()
        case .buffered:
            if case .filling = phase { phase = .running }
            return []
        case .starved:
            if phase == .running { phase = .filling(.underrun) }
            return []
        case .heardAll:
            guard phase == .draining else { return [] }
            phase = failure.map { .failed($0) } ?? .ended(.finished)
            wantsToPlay = false
            return []
        case .playedEnough: return end(.ended(.playedEnough))
        case .hears(let item):
            order.hear(item)
            hasPlayed = true
            failuresInARow = 0
            return []
        }
    }
}

extension StreamStateMachine {
    /// Opens the item that is read, which is the one that is heard, too.
    private mutating func open(at position: Duration?) -> [Action] {
        generation += 1
        failure = nil
        aim = nil
        start = position
        phase = .opening
        goesBack = false
        return [.begin(generation: generation), .open(item: readItem, at: position)]
    }

    /// Opens the item that is heard, even if the worker already reads another one.
    private mutating func reopen(at position: Duration?) -> [Action] {
        order.restart()
        return open(at: position)
    }

    private mutating func goBack() -> [Action] {
        defer { goesBack = true }
        return open(at: nil)
    }

    /// Changes the queue. Reads the successor that the item read to its end now has.
    private mutating func edit(_ change: (inout PlaybackOrder) -> Void) -> [Action] {
        change(&order)
        guard phase == .draining, let item = order.readOn() else { return [] }
        phase = .running
        return [.append(item: item)]
    }

    private mutating func remove(_ index: Int, heardUpTo position: Duration) -> [Action] {
        let (heard, read) = (heardItem, readItem)
        let hasSuccessor = order.remove(at: index)
        if heard != heardItem || itemCount == 0 {
            aim = nil
            guard isActive else { return [] }
            return hasSuccessor ? open(at: nil) : end(.ended(.finished))
        }
        // Audio of the removed item may be in the ring.
        if read != readItem, isActive { return reopen(at: position) }
        return edit { _ in }
    }

    private mutating func play() -> [Action] {
        wantsToPlay = true
        switch phase {
        case .idle, .ended(.stopped), .failed: return itemCount > 0 ? reopen(at: aim) : []
        // Continues with items enqueued after the end; if there are none, starts the queue again.
        case .ended(.finished), .ended(.playedEnough), .ended(.closed):
            guard itemCount > 0 else { return [] }
            order.startAgain()
            return open(at: nil)
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
        case .opening: return open(at: position)
        case .ended(.finished), .ended(.playedEnough), .ended(.closed):
            // Seeks in the item that was heard last. The player is then paused at `position`.
            return readItem == heardItem ? jump(to: position) : reopen(at: position)
        case .filling, .running, .draining:
            // Seeks in the item that is heard, which must be opened again if the worker already reads the next item.
            return readItem == heardItem ? jump(to: position) : reopen(at: position)
        }
    }

    private mutating func jump(to position: Duration) -> [Action] {
        generation += 1
        failure = nil
        phase = .filling(.seeking)
        return [.begin(generation: generation), .seek(position)]
    }

    /// Handles the end of reading an item: continues with the next item, or drains the ring.
    private mutating func readOn() -> [Action] {
        guard let item = order.readOn() else {
            phase = .draining
            return [.finish]
        }
        return [.append(item: item)]
    }

    /// Handles an item without audio: continues with another one, unless none of the queue has any. Otherwise a repeated
    /// queue would be read round and round.
    private mutating func skipSilently() -> [Action] {
        failuresInARow += 1
        guard failuresInARow < itemCount, let item = order.readOn(skips: true) else {
            phase = .draining
            return [.finish]
        }
        return [.append(item: item)]
    }

    /// Handles a failed item: tries the next item, unless all items have failed.
    private mutating func fail(_ error: StreamError) -> [Action] {
        failuresInARow += 1
        let isOneOfMany = itemCount > 1
        let skipped: [Action] = isOneOfMany ? [.skipped(item: readItem, error)] : []
        if phase == .opening, goesBack {
            if order.stepBack() { return skipped + goBack() }
            // Tries the rest of the queue, since the first item has no predecessor.
            failuresInARow = 1
        }
        if failuresInARow < itemCount {
            if phase == .opening {
                if order.stepForward() { return skipped + open(at: nil) }
            } else if let item = order.readOn(skips: true) {
                return skipped + [.append(item: item)]
            }
        }
        if !isOneOfMany || !hasPlayed { failure = error }
        if phase == .opening { return skipped + end(failure.map { .failed($0) } ?? .ended(.finished)) }
        // Plays the audio in the ring before the end.
        phase = .draining
        return skipped + [.finish]
    }

    private mutating func close() -> [Action] {
        defer { isClosed = true }
        if phase == .idle { phase = .ended(.closed) }
        return state.isOver ? [] : end(.ended(.closed))
    }

    private mutating func end(_ phase: Phase) -> [Action] {
        guard self.phase != .idle else { return [] }
        generation += 1
        self.phase = phase
        wantsToPlay = false
        return [.begin(generation: generation), .close]
    }
}
