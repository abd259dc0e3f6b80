internal import Synchronization
internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourMediaSource
internal import TenfourSystem

/// Performs the actions that the state machine returns, on the caller's thread, and sends events to the observers.
/// Never blocks.
final class PlaybackController: Sendable {
    /// The track, duration and bit rate of an item, as far as the worker knows them.
    struct Facts: Sendable {
        var track: Track
        var duration: Estimate<Duration>?
        var bitRate: Estimate<Int>?
        /// The range that the item takes of its file, in fractions; nil if it takes all of it.
        var share: Range<Double>?
        /// What tells the item from others; nil if it cannot be found again.
        var identity: MediaIdentity?
    }

    struct Settings: Sendable {
        /// The rate of the samples in the ring.
        var rate: SampleRate
        /// Whether the output has a clock. A file has none, since it takes blocks as fast as the worker delivers them.
        var hasClock: Bool
        var startAfter: Duration
        var resumeAfter: Duration
        /// The order of the queue, which is empty at first.
        var order: PlaybackOrder
    }

    let controls: RendererControls
    let mailbox: WorkerMailbox
    /// Wakes the monitor if it must poll immediately.
    let monitorWakeup: WakeupPipe
    let contents: Locked<Contents>
    private let settings: Settings

    /// Returns the present time of the monotonic clock, by which the output's times are measured too.
    private let now: @Sendable () -> Instant

    static let maximumQueueLength = 100_000

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
        contents = Locked(Contents(report: report, order: settings.order))
    }

    var state: StreamState { contents.withLock { $0.machine.state } }
    var progress: StreamProgress { contents.withLock { progress(&$0) } }
    var report: RendererReport { contents.withLock { $0.report.read() } }
    var track: Track? { contents.withLock { $0.facts[$0.machine.heardItem]?.track } }
    /// The tags of an output file: those of the only item; none for a queue of several.
    var fileTags: AudioFileTags {
        contents.withLock { contents in
            guard contents.queue.count == 1, let track = contents.facts[contents.machine.readItem]?.track else {
                return AudioFileTags()
            }
            return AudioFileTags(title: track.title, artist: track.artist, album: track.album)
        }
    }
    var queue: [QueueItem] { contents.withLock { $0.queue } }
    var heardItem: (number: Int, hasNext: Bool) {
        contents.withLock { ($0.machine.heardItem, $0.machine.order.hasNext) }
    }
    var heardPlace: HeardPlace? {
        contents.withLock { contents in
            guard let facts = contents.facts[contents.machine.heardItem], let identity = facts.identity else {
                return nil
            }
            return HeardPlace(
                identity: identity, position: requestedPosition(&contents).value, duration: facts.duration?.value)
        }
    }

    func makeEvents() -> AsyncStream<StreamEvent> { contents.withLock { $0.observers.addObserver() } }

    /// Ends playback, and the event streams after it.
    func close() {
        contents.withLock { contents in
            apply(.close, to: &contents)
            contents.observers.finish()
        }
    }
}

// MARK: Requests
extension PlaybackController {
    func open(_ items: [QueueItem], at position: Duration?) {
        contents.withLock { contents in
            contents.queue = Array(items.prefix(Self.maximumQueueLength))
            contents.facts = [:]
            contents.observers.resetItem()
            change(.open(itemCount: contents.queue.count, at: position), &contents)
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
            // Forgets the items of before, whose chapters and pictures would fill the memory.
            let present = contents.machine.order.present
            if contents.facts.count > present.count {
                contents.facts = contents.facts.filter { present.contains($0.key) }
            }
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
            guard let reason = contents.machine.fillingReason, duration >= Self.minimumAhead else { return }
            let requested =
                reason == .underrun ? max(settings.startAfter, settings.resumeAfter) : settings.startAfter
            if !settings.hasClock || isAllHere || duration + (undecoded(contents) ?? .zero) >= requested {
                apply(.buffered, to: &contents)
            }
        }
    }

    /// Replaces `item`, which is a playlist, by its entries. The observers are sent `note`, a sentence about entries
    /// that were left out.
    func expand(_ items: [QueueItem], in item: Int, note: String?, generation: Int) {
        contents.withLock { contents in
            guard generation == contents.machine.generation else { return }
            guard contents.queue.count + items.count <= Self.maximumQueueLength
            else {
                let error = StreamError.unusable(
                    "the queue is too long; open fewer playlists or folders", kind: .unplayableList)
                return apply(.queueFull(error), to: &contents)
            }
            guard let index = contents.machine.order.index(of: item) else { return }
            if let note { contents.observers.send(.notice(note)) }
            contents.queue.replaceSubrange(index...index, with: items)
            change(.expanded(itemCount: items.count), &contents)
        }
    }

    /// The number and the queue item after the item that the worker reads; nil if there is none.
    var following: (number: Int, item: QueueItem)? {
        contents.withLock { contents in
            guard let number = contents.machine.following, let item = Self.item(number, contents) else { return nil }
            return (number, item)
        }
    }

    /// Returns the item with this number; nil if it was removed or the queue has been replaced.
    func item(_ number: Int, generation: Int) -> QueueItem? {
        contents.withLock { contents in
            generation == contents.machine.generation ? Self.item(number, contents) : nil
        }
    }

    private static func item(_ number: Int, _ contents: borrowing Contents) -> QueueItem? {
        contents.machine.order.index(of: number).map { contents.queue[$0] }
    }

    /// The index of the item with this number; nil if it was removed or the queue has been replaced.
    func index(of number: Int) -> Int? { contents.withLock { $0.machine.order.index(of: number) } }

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
            // A short item may have begun and ended since the last call.
            let segments = report.timeline.segments(from: &contents.heardSegment, to: moment)
            for segment in segments where segment.generation == contents.machine.generation && segment.rate > 0 {
                apply(.hears(item: segment.item), to: &contents)
                if let track = contents.facts[segment.item]?.track, segment.item != contents.observers.item,
                    let index = contents.machine.order.index(of: segment.item)
                {
                    contents.observers.send(item: segment.item, at: index, track)
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
            let isLively = state == .playing || state.isBuffering
            if sendsProgress, isLively { contents.observers.send(.progress(progress(&contents))) }
            return isLively || contents.machine.isDraining
        }
    }

    /// The playback position, or the target of a seek whose audio is not heard yet.
    func requestedPosition(_ contents: inout Contents) -> Estimate<Duration> {
        let moment = now()
        guard let segment = contents.report.read().timeline.segment(at: moment),
            segment.generation == contents.machine.generation, segment.item == contents.machine.heardItem
        else { return contents.target }
        return segment.estimate(at: moment)
    }

    /// The position of the audio heard now. After a seek this is the old position until the card's buffer has been
    /// played, unless playback was stopped.
    private func audiblePosition(_ contents: inout Contents) -> Estimate<Duration> {
        let moment = now()
        if let segment = contents.report.read().timeline.segment(at: moment),
            (contents.firstGeneration..<contents.machine.generation).contains(segment.generation), segment.rate > 0
        {
            return segment.estimate(at: moment)
        }
        return requestedPosition(&contents)
    }

    private func progress(_ contents: inout Contents) -> StreamProgress {
        var progress = StreamProgress()
        progress.item = contents.machine.order.index(of: contents.machine.heardItem) ?? 0
        progress.position = audiblePosition(&contents)
        let report = contents.report.read()
        progress.level = Level(meanSquare: report.meanSquare).decibels
        progress.played = FrameCount(report.played).duration(at: settings.rate)
        if let facts = contents.facts[contents.machine.heardItem] {
            progress.duration = facts.duration
            progress.bitRate = facts.bitRate
            progress.limitPosition()
        }
        if let state = mailbox.byteSourceState {
            progress.isLive = state.isLive
            progress.window = state.window
            if case .reconnecting(let attempt) = state.phase { progress.reconnections = attempt }
            if let whole = state.byteCount, whole > 0 {
                // The fractions of the item, which may be a part of the file.
                let share = contents.facts[contents.machine.heardItem]?.share ?? 0..<1
                let scale = 1 / (Double(whole) * max(share.upperBound - share.lowerBound, 1e-9))
                let start = share.lowerBound * Double(whole)
                let (low, high) = (Double(state.available.lowerBound), Double(state.available.upperBound))
                let fraction = { (offset: Double) in min(max((offset - start) * scale, 0), 1) }
                progress.downloaded = fraction(low)..<fraction(high)
            }
        }
        if let downloaded = mailbox.byteSourceState?.downloaded, let whole = progress.duration?.value, whole > .zero {
            progress.downloaded = min(downloaded.lowerBound / whole, 1)..<min(downloaded.upperBound / whole, 1)
        }
        let ring = FrameCount(controls.queued).duration(at: settings.rate)
        progress.buffered = undecoded(contents).map { $0 + ring }
        return progress
    }

    /// The duration of the fetched bytes that are not decoded yet; nil if the bit rate is unknown.
    private func undecoded(_ contents: borrowing Contents) -> Duration? {
        guard let bitRate = contents.facts[contents.machine.readItem]?.bitRate?.value, bitRate > 0,
            let byteCount = mailbox.byteSourceState?.available.count
        else { return nil }
        return .seconds(Double(byteCount) * 8 / Double(bitRate) / mailbox.parameters.rate)
    }
}

// MARK: Actions
extension PlaybackController {
    struct Contents: ~Copyable, Sendable {
        var machine: StreamStateMachine
        var queue: [QueueItem] = []
        /// The facts of the items from the one that is heard to the one that is read, by the item's number.
        var facts: [Int: Facts] = [:]
        var report: LatestReader<RendererReport>
        /// The number of the timeline's segment that was heard at the last poll.
        var heardSegment = 0
        /// The first generation since playback was last stopped. The position of earlier ones is not shown any more.
        var firstGeneration = 0
        /// The position at which the present generation begins to be heard.
        var target = Estimate(Duration.zero, isExact: true)
        var observers = StreamObservers()

        init(report: consuming LatestReader<RendererReport>, order: PlaybackOrder) {
            self.report = report
            machine = StreamStateMachine(order: order)
        }
    }

    /// Applies an input and performs the resulting actions. Must be called with the lock held.
    func apply(_ input: StreamStateMachine.Input, to contents: inout Contents) {
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
            contents.firstGeneration = generation
            contents.target = Estimate(.zero, isExact: true)
            mailbox.post(.close)
        case .finish: mailbox.wakeup.signal()
        case .skipped(let item, let error):
            contents.observers.send(.skipped(contents.machine.order.index(of: item) ?? 0, error))
        }
    }
}

extension PlaybackTimeline.Segment {
    fileprivate func estimate(at moment: Instant) -> Estimate<Duration> {
        Estimate(.nanoseconds(position(at: moment)), isExact: isExact)
    }
}
