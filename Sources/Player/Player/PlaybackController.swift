internal import Synchronization
internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourRings

/// Has done what the machine decides, on whatever thread it is told something, and tells those who listen. Nothing here waits.
final class PlaybackController: Sendable {
    /// What the worker has learned of an item.
    struct Facts: Sendable {
        var track: Track
        var duration: Estimate<Duration>?
        var bitRate: Int?
    }

    struct Settings: Sendable {
        /// Of what is in the ring, until it is known better.
        var rate: SampleRate
        /// Whether sound leaves the ring in its own time, and not as the worker takes it.
        var hasClock: Bool
        var startAfter: Duration
        var resumeAfter: Duration
        var loops: Bool
    }

    let controls: RendererControls
    let orders: WorkerRequest
    /// Rings when it has to be looked at again.
    let watch: ThreadWakeup
    private let contents: Locked<Contents>
    private let settings: Settings

    /// The card's clock.
    private let now: @Sendable () -> Instant

    private static let longestQueue = 100_000

    /// So much has to be in the ring before it is heard: 80 ms.
    private static let leastAhead = Duration.milliseconds(80)

    init(
        _ settings: Settings, _ controls: RendererControls, _ orders: WorkerRequest, watch: ThreadWakeup,
        report: consuming LatestReader<RendererReport>, now: @escaping @Sendable () -> Instant
    ) {
        self.settings = settings
        self.controls = controls
        self.orders = orders
        self.watch = watch
        self.now = now
        contents = Locked(Contents(report: report, loops: settings.loops))
    }

    var state: StreamState { contents.withLock { $0.machine.state } }
    var progress: StreamProgress { contents.withLock { progress(&$0) } }
    var report: RendererReport { contents.withLock { $0.report.read() } }
    var track: Track? { contents.withLock { $0.facts[$0.machine.hearing]?.track } }
    var queue: [QueueItem] { contents.withLock { $0.queue } }

    func makeEvents() -> AsyncStream<StreamEvent> {
        contents.withLock { contents in
            contents.audience.admit { [weak self] number in self?.contents.withLock { $0.audience.dismiss(number) } }
        }
    }

    /// Nobody is told anything any more.
    func dismissListeners() {
        for listener in contents.withLock({ $0.audience.dismissAll() }) { listener.finish() }
    }
}

// What people want.
extension PlaybackController {
    func open(_ items: [QueueItem], at position: Duration?) {
        contents.withLock { contents in
            contents.queue = items
            contents.facts = [:]
            contents.audience.forgetItem()
            apply(.open(itemCount: items.count, at: position), to: &contents)
        }
    }

    func enqueue(_ items: [QueueItem]) {
        contents.withLock { contents in
            contents.queue += items
            apply(.enqueued(itemCount: items.count), to: &contents)
        }
    }

    func apply(_ input: StreamMachine.Input) { contents.withLock { apply(input, to: &$0) } }

    func seek(to position: Duration) { contents.withLock { seek(to: position, in: &$0) } }

    func seek(by distance: Duration) {
        contents.withLock { contents in
            seek(to: max(place(&contents).value + distance, .zero), in: &contents)
        }
    }

    private func seek(to position: Duration, in contents: inout Contents) {
        var position = position
        if let duration = contents.facts[contents.machine.hearing]?.duration, duration.isExact {
            position = min(position, duration.value)
        }
        apply(.seek(position), to: &contents)
    }
}

// What the worker tells.
extension PlaybackController {
    /// Forgotten where it is of a generation that is over.
    func worker(_ input: StreamMachine.Input, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            apply(input, to: &contents)
        }
    }

    func worker(hasLearned facts: Facts, of item: Int, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            contents.facts[item] = facts
            if item == contents.audience.item { contents.audience.tell(title: facts.track.title) }
        }
    }

    /// It plays on where it was.
    func worker(hasRefusedToSeek error: StreamError, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            contents.audience.tell(.seekRefused(error))
        }
    }

    /// Where a seek has led.
    func worker(isAt position: Estimate<Duration>, generation: Int) {
        contents.withLock { if generation == $0.machine.generation { $0.target = position } }
    }

    /// The ring holds so much of the present generation.
    func worker(isAhead duration: Duration, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            let (isFilling, isRefill) = contents.machine.isFilling
            guard isFilling, duration >= Self.leastAhead else { return }
            let wanted = isRefill ? max(settings.startAfter, settings.resumeAfter) : settings.startAfter
            if !settings.hasClock || isAllHere || duration + (undecoded(contents) ?? .zero) >= wanted {
                apply(.buffered, to: &contents)
            }
        }
    }

    /// What is read now is a playlist: its entries take its place in the queue.
    func worker(hasFound items: [QueueItem], in item: Int, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            guard contents.queue.count + items.count <= Self.longestQueue
            else { return apply(.failed(.unusable("the queue is too long; open fewer playlists")), to: &contents) }
            contents.queue.replaceSubrange(item...item, with: items)
            apply(.expanded(itemCount: items.count), to: &contents)
        }
    }

    /// Which comes behind the one that is read.
    var following: QueueItem? {
        contents.withLock { contents in contents.machine.following.map { contents.queue[$0] } }
    }

    /// nil where that was a number of a queue that is no more.
    func item(_ number: Int, generation: Int) -> QueueItem? {
        contents.withLock { contents in
            generation == contents.machine.generation && contents.queue.indices.contains(number)
                ? contents.queue[number] : nil
        }
    }

    /// Whether nothing comes behind what the ring holds.
    var isDraining: Bool { contents.withLock { $0.machine.isDraining } }

    /// Nothing more will come for now that could be waited for.
    private var isAllHere: Bool {
        switch orders.downloadState?.phase {
        case .full, .ended, .failed, nil: true
        case .connecting, .receiving, .reconnecting: false
        }
    }
}

// What is found out by looking.
extension PlaybackController {
    /// Twenty times a second. Returns whether it has to be looked at again so soon.
    @discardableResult
    func look(tells: Bool) -> Bool {
        contents.withLock { contents in
            let report = contents.report.read()
            let moment = now()
            let stretch = report.timeline.stretch(at: moment)
            if let stretch, stretch.generation == contents.machine.generation, stretch.rate > 0 {
                apply(.hears(item: stretch.item), to: &contents)
                if let track = contents.facts[stretch.item]?.track { contents.audience.tell(item: stretch.item, track) }
            }
            if controls.waiting == 0 {
                // Whoever writes a file takes what there is, and waits for no more.
                if contents.machine.isOpen, settings.hasClock { apply(.starved, to: &contents) }
                // The last of it may still lie in the card's queue.
                let isSilent = report.timeline.last.map { $0.rate == 0 && $0.start <= moment } ?? true
                if isSilent, settings.hasClock { apply(.heardAll, to: &contents) }
            }
            let state = contents.machine.state
            let isLively = state == .playing || state == .buffering
            if tells, isLively { contents.audience.tell(.progress(progress(&contents))) }
            return isLively || contents.machine.isDraining
        }
    }

    /// Where it is, or where a jump leads that is not heard yet.
    private func place(_ contents: inout Contents) -> Estimate<Duration> {
        let moment = now()
        guard let stretch = contents.report.read().timeline.stretch(at: moment),
            stretch.generation == contents.machine.generation, stretch.item == contents.machine.hearing
        else { return contents.target }
        return stretch.estimate(at: moment)
    }

    /// Where that is which is heard now: what was played before a jump, while it still comes out of the card.
    private func heard(_ contents: inout Contents) -> Estimate<Duration> {
        let moment = now()
        if let stretch = contents.report.read().timeline.stretch(at: moment),
            stretch.generation < contents.machine.generation, stretch.rate > 0
        {
            return stretch.estimate(at: moment)
        }
        return place(&contents)
    }

    private func progress(_ contents: inout Contents) -> StreamProgress {
        var progress = StreamProgress()
        progress.item = contents.machine.hearing
        progress.position = heard(&contents)
        let report = contents.report.read()
        progress.level = Level(meanSquare: report.meanSquare).decibels
        progress.played = FrameCount(report.played).duration(at: settings.rate)
        if let facts = contents.facts[contents.machine.hearing] {
            progress.duration = facts.duration
            progress.bitRate = facts.bitRate
        }
        if let state = orders.downloadState {
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
        let ring = FrameCount(controls.waiting).duration(at: settings.rate)
        progress.buffered = undecoded(contents).map { $0 + ring }
        return progress
    }

    /// How long the bytes that are here will sound; nil where that cannot be told.
    private func undecoded(_ contents: borrowing Contents) -> Duration? {
        guard let bitRate = contents.facts[contents.machine.reading]?.bitRate, bitRate > 0,
            let byteCount = orders.downloadState?.available.count
        else { return nil }
        return .seconds(Double(byteCount) * 8 / Double(bitRate) / orders.treatment.rate)
    }
}

// What is done about it.
extension PlaybackController {
    private struct Contents: ~Copyable, Sendable {
        var machine = StreamMachine()
        var queue: [QueueItem] = []
        /// Of those that were opened.
        var facts: [Int: Facts] = [:]
        var report: LatestReader<RendererReport>
        /// Where it will be when the present generation is heard.
        var target = Estimate(Duration.zero, isExact: true)
        var audience = StreamObservers()

        init(report: consuming LatestReader<RendererReport>, loops: Bool) {
            self.report = report
            machine.loops = loops
        }
    }

    /// Within the lock.
    private func apply(_ input: StreamMachine.Input, to contents: inout Contents) {
        for action in contents.machine.handle(input) { perform(action, &contents) }
        controls.isOpen.store(contents.machine.isOpen, ordering: .releasing)
        let state = contents.machine.state
        guard contents.audience.tell(state) else { return }
        // The next that is played is not silent because this was faded out.
        if state.isOver { controls.fade.store(GainRamp.none.word, ordering: .relaxed) }
        orders.pause(state == .paused)
        orders.bell.ring()
        watch.ring()
    }

    private func perform(_ action: StreamMachine.Action, _ contents: inout Contents) {
        let generation = contents.machine.generation
        switch action {
        case .begin(let generation):
            controls.generation.store(generation, ordering: .releasing)
        case .open(let item, let position):
            contents.target = Estimate(position ?? .zero, isExact: true)
            orders.post(.open(item: item, at: position, generation: generation))
        case .append(let item): orders.post(.append(item: item, generation: generation))
        case .seek(let position):
            contents.target = Estimate(position, isExact: true)
            orders.post(.seek(position, item: contents.machine.reading, generation: generation))
        case .aim(let position):
            contents.target = Estimate(position, isExact: true)
            contents.audience.tell(.progress(progress(&contents)))
        case .close:
            contents.target = Estimate(.zero, isExact: true)
            orders.post(.close)
        case .finish: orders.bell.ring()
        case .skipped(let item, let error): contents.audience.tell(.skipped(item, error))
        }
    }
}

extension Timeline.Stretch {
    fileprivate func estimate(at moment: Instant) -> Estimate<Duration> {
        Estimate(.nanoseconds(position(at: moment)), isExact: isExact)
    }
}
