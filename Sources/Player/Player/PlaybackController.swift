internal import Synchronization
internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourRings
internal import TenfourThreads

/// Performs the actions that the state machine returns, on the caller's thread, and sends events to the observers.
/// Never blocks.
final class PlaybackController: Sendable {
    /// The track, duration and bit rate of an item, as far as the worker knows them.
    struct Facts: Sendable {
        var track: Track
        var duration: Estimate<Duration>?
        var bitRate: Int?
    }

    struct Settings: Sendable {
        /// The rate of the samples in the ring.
        var rate: SampleRate
        /// Whether the output has a clock. A file has none, since it takes blocks as fast as the worker delivers them.
        var hasClock: Bool
        var startAfter: Duration
        var resumeAfter: Duration
        var loops: Bool
    }

    let controls: RendererControls
    let mailbox: WorkerMailbox
    /// Wakes the monitor if it must poll immediately.
    let monitorWakeup: WakeupPipe
    private let contents: Locked<Contents>
    private let settings: Settings

    /// Returns the present time of the monotonic clock, by which the output's times are measured too.
    private let now: @Sendable () -> Instant

    private static let maximumQueueLength = 100_000

    /// The shortest duration of audio in the ring at which playback may start.
    private static let minimumAhead = Duration.milliseconds(80)

    init(
        _ settings: Settings, _ controls: RendererControls, _ mailbox: WorkerMailbox, monitorWakeup: WakeupPipe,
        report: consuming LatestReader<RendererReport>, now: @escaping @Sendable () -> Instant
    ) {
        self.settings = settings
        self.controls = controls
        self.mailbox = mailbox
        self.monitorWakeup = monitorWakeup
        self.now = now
        contents = Locked(Contents(report: report, loops: settings.loops))
    }

    var state: StreamState { contents.withLock { $0.machine.state } }
    var progress: StreamProgress { contents.withLock { progress(&$0) } }
    var report: RendererReport { contents.withLock { $0.report.read() } }
    var track: Track? { contents.withLock { $0.facts[$0.machine.heardItem]?.track } }
    var queue: [QueueItem] { contents.withLock { $0.queue } }

    func makeEvents() -> AsyncStream<StreamEvent> {
        contents.withLock { contents in
            contents.observers.addObserver { [weak self] number in
                self?.contents.withLock { $0.observers.remove(number) }
            }
        }
    }

    /// Finishes all event streams.
    func finishObservers() {
        for listener in contents.withLock({ $0.observers.removeAll() }) { listener.finish() }
    }
}

// MARK: Requests
extension PlaybackController {
    func open(_ items: [QueueItem], at position: Duration?) {
        contents.withLock { contents in
            contents.queue = items
            contents.facts = [:]
            contents.observers.resetItem()
            apply(.open(itemCount: items.count, at: position), to: &contents)
        }
    }

    func enqueue(_ items: [QueueItem]) {
        contents.withLock { contents in
            contents.queue += items
            apply(.enqueued(itemCount: items.count), to: &contents)
        }
    }

    func apply(_ input: StreamStateMachine.Input) { contents.withLock { apply(input, to: &$0) } }

    func seek(to position: Duration) { contents.withLock { seek(to: position, in: &$0) } }

    func seek(by distance: Duration) {
        contents.withLock { contents in
            seek(to: max(requestedPosition(&contents).value + distance, .zero), in: &contents)
        }
    }

    private func seek(to position: Duration, in contents: inout Contents) {
        var position = position
        if let duration = contents.facts[contents.machine.heardItem]?.duration, duration.isExact {
            position = min(position, duration.value)
        }
        apply(.seek(position), to: &contents)
    }
}

// MARK: Reports of the worker
extension PlaybackController {
    /// Applies an input from the worker. Ignored if `generation` is not the present one.
    func apply(_ input: StreamStateMachine.Input, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            apply(input, to: &contents)
        }
    }

    func update(_ facts: Facts, of item: Int, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            contents.facts[item] = facts
            if item == contents.observers.item { contents.observers.send(title: facts.track.title) }
        }
    }

    /// Sends the observers an event that a seek was impossible. Playback continues at its present position.
    func reportRefusedSeek(_ error: StreamError, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            contents.observers.send(.seekRefused(error))
        }
    }

    /// Records the position that a seek has reached.
    func setTarget(_ position: Estimate<Duration>, generation: Int) {
        contents.withLock { if generation == $0.machine.generation { $0.target = position } }
    }

    /// Records that the ring contains `duration` of audio of the present generation. If playback waits for audio and
    /// enough is buffered now, starts or resumes playback.
    func setAhead(_ duration: Duration, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            let (isFilling, isRefill) = contents.machine.isFilling
            guard isFilling, duration >= Self.minimumAhead else { return }
            let requested = isRefill ? max(settings.startAfter, settings.resumeAfter) : settings.startAfter
            if !settings.hasClock || isAllHere || duration + (undecoded(contents) ?? .zero) >= requested {
                apply(.buffered, to: &contents)
            }
        }
    }

    /// Replaces `item`, which is a playlist, by its entries.
    func expand(_ items: [QueueItem], in item: Int, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            guard contents.queue.count + items.count <= Self.maximumQueueLength
            else { return apply(.failed(.unusable("the queue is too long; open fewer playlists")), to: &contents) }
            contents.queue.replaceSubrange(item...item, with: items)
            apply(.expanded(itemCount: items.count), to: &contents)
        }
    }

    /// The queue item after the item that the worker reads; nil if there is none.
    var following: QueueItem? {
        contents.withLock { contents in contents.machine.following.map { contents.queue[$0] } }
    }

    /// Returns an item of the queue; nil if the queue has been replaced.
    func item(_ number: Int, generation: Int) -> QueueItem? {
        contents.withLock { contents in
            generation == contents.machine.generation && contents.queue.indices.contains(number)
                ? contents.queue[number] : nil
        }
    }

    /// Whether no audio follows the audio in the ring.
    var isDraining: Bool { contents.withLock { $0.machine.isDraining } }

    /// Whether no more bytes will be fetched: all have arrived, or the buffer is full.
    private var isAllHere: Bool {
        switch mailbox.byteSourceState?.phase {
        case .full, .ended, .failed, nil: true
        case .connecting, .receiving, .reconnecting: false
        }
    }
}

// MARK: Polling
extension PlaybackController {
    /// Updates the state from the renderer's report. Returns true if it must be called again after 50 ms, and false if
    /// the next call may wait for `monitorWakeup`.
    @discardableResult
    func poll(sendsProgress: Bool) -> Bool {
        contents.withLock { contents in
            let report = contents.report.read()
            let moment = now()
            let segment = report.timeline.segment(at: moment)
            if let segment, segment.generation == contents.machine.generation, segment.rate > 0 {
                apply(.hears(item: segment.item), to: &contents)
                if let track = contents.facts[segment.item]?.track {
                    contents.observers.send(item: segment.item, track)
                }
            }
            if controls.queued == 0 {
                // Reports an underrun only for an output with a clock: a file renderer writes the audio in the ring and
                // never underruns.
                if contents.machine.isOpen, settings.hasClock { apply(.starved, to: &contents) }
                // Whether the output is silent by now. When the ring is empty, the last frames may still be in the
                // card's buffer.
                let isSilent = report.timeline.last.map { $0.rate == 0 && $0.start <= moment } ?? true
                if isSilent, settings.hasClock { apply(.heardAll, to: &contents) }
            }
            let state = contents.machine.state
            let isLively = state == .playing || state == .buffering
            if sendsProgress, isLively { contents.observers.send(.progress(progress(&contents))) }
            return isLively || contents.machine.isDraining
        }
    }

    /// The playback position, or the target of a seek whose audio is not heard yet.
    private func requestedPosition(_ contents: inout Contents) -> Estimate<Duration> {
        let moment = now()
        guard let segment = contents.report.read().timeline.segment(at: moment),
            segment.generation == contents.machine.generation, segment.item == contents.machine.heardItem
        else { return contents.target }
        return segment.estimate(at: moment)
    }

    /// The position of the audio heard now. After a seek this is the old position until the card's buffer has been
    /// played.
    private func audiblePosition(_ contents: inout Contents) -> Estimate<Duration> {
        let moment = now()
        if let segment = contents.report.read().timeline.segment(at: moment),
            segment.generation < contents.machine.generation, segment.rate > 0
        {
            return segment.estimate(at: moment)
        }
        return requestedPosition(&contents)
    }

    private func progress(_ contents: inout Contents) -> StreamProgress {
        var progress = StreamProgress()
        progress.item = contents.machine.heardItem
        progress.position = audiblePosition(&contents)
        let report = contents.report.read()
        progress.level = Level(meanSquare: report.meanSquare).decibels
        progress.played = FrameCount(report.played).duration(at: settings.rate)
        if let facts = contents.facts[contents.machine.heardItem] {
            progress.duration = facts.duration
            progress.bitRate = facts.bitRate
        }
        if let state = mailbox.byteSourceState {
            progress.isLive = state.isLive
            if case .reconnecting(let attempt) = state.phase { progress.reconnections = attempt }
            if let whole = state.byteCount, whole > 0 {
                let scale = 1 / Double(whole)
                progress.downloaded =
                    min(
                        Double(state.available.lowerBound) * scale, 1)..<min(
                        Double(state.available.upperBound) * scale, 1)
            }
        }
        let ring = FrameCount(controls.queued).duration(at: settings.rate)
        progress.buffered = undecoded(contents).map { $0 + ring }
        return progress
    }

    /// The duration of the fetched bytes that are not decoded yet; nil if the bit rate is unknown.
    private func undecoded(_ contents: borrowing Contents) -> Duration? {
        guard let bitRate = contents.facts[contents.machine.readItem]?.bitRate, bitRate > 0,
            let byteCount = mailbox.byteSourceState?.available.count
        else { return nil }
        return .seconds(Double(byteCount) * 8 / Double(bitRate) / mailbox.parameters.rate)
    }
}

// MARK: Actions
extension PlaybackController {
    private struct Contents: ~Copyable, Sendable {
        var machine = StreamStateMachine()
        var queue: [QueueItem] = []
        /// The facts of the items opened so far, by the item's index.
        var facts: [Int: Facts] = [:]
        var report: LatestReader<RendererReport>
        /// The position at which the present generation begins to be heard.
        var target = Estimate(Duration.zero, isExact: true)
        var observers = StreamObservers()

        init(report: consuming LatestReader<RendererReport>, loops: Bool) {
            self.report = report
            machine.loops = loops
        }
    }

    /// Applies an input and performs the resulting actions. Must be called with the lock held.
    private func apply(_ input: StreamStateMachine.Input, to contents: inout Contents) {
        for action in contents.machine.handle(input) { perform(action, &contents) }
        controls.isOpen.store(contents.machine.isOpen, ordering: .releasing)
        let state = contents.machine.state
        guard contents.observers.send(state) else { return }
        // Ends a fade-out, which must not silence the next item.
        if state.isOver { controls.fade.store(GainRamp.none.word, ordering: .relaxed) }
        mailbox.pause(state == .paused)
        mailbox.wakeup.signal()
        monitorWakeup.signal()
    }

    private func perform(_ action: StreamStateMachine.Action, _ contents: inout Contents) {
        let generation = contents.machine.generation
        switch action {
        case .begin(let generation):
            controls.generation.store(generation, ordering: .releasing)
        case .open(let item, let position):
            contents.target = Estimate(position ?? .zero, isExact: true)
            mailbox.post(.open(item: item, at: position, generation: generation))
        case .append(let item): mailbox.post(.append(item: item, generation: generation))
        case .seek(let position):
            contents.target = Estimate(position, isExact: true)
            mailbox.post(.seek(position, item: contents.machine.readItem, generation: generation))
        case .aim(let position):
            contents.target = Estimate(position, isExact: true)
            contents.observers.send(.progress(progress(&contents)))
        case .close:
            contents.target = Estimate(.zero, isExact: true)
            mailbox.post(.close)
        case .finish: mailbox.wakeup.signal()
        case .skipped(let item, let error): contents.observers.send(.skipped(item, error))
        }
    }
}

extension PlaybackTimeline.Segment {
    fileprivate func estimate(at moment: Instant) -> Estimate<Duration> {
        Estimate(.nanoseconds(position(at: moment)), isExact: isExact)
    }
}
