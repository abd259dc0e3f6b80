internal import Glibc
internal import Synchronization
public import TenfourAudioCore
public import TenfourEffects
public import TenfourMediaSource
internal import TenfourRings
internal import TenfourSoundCard
internal import TenfourThreads

/// Plays an address: a URL or a local file.
///
///     let streamer = try Streamer()
///     streamer.open("https://example.org/song.mp3")
///     streamer.play()
///     for await case .state(let state) in streamer.events where state.isOver { break }
///
/// Any thread may call any of this; nothing blocks except `init`, `close`, `wait` and `playToEnd`. Releasing the last
/// reference stops it.
public final class Streamer: MediaPlayer {
    private let controller: PlaybackController
    private let threads: PlayerThreads
    private let gain = Locked(Gain())

    /// The name, sample format and rate of the opened card; nil without a card.
    public let openedOutput: String?

    /// The output as an audio source; nil unless the configuration requests `.source`.
    public let source: StreamedSource?

    /// Opens the output. Throws `.unusable` with a remedy if it cannot be opened.
    public convenience init(_ configuration: StreamerConfiguration = StreamerConfiguration()) throws(StreamError) {
        try self.init(configuration, opener: ResourceOpener(configuration.download))
    }

    /// Opens the output. For an output file, a rate or channel count that is nil in the configuration is taken from the
    /// audio at `address`; the call blocks until it is known. An `address` that cannot be read is reported when it is
    /// opened for playback.
    public convenience init(_ configuration: StreamerConfiguration, sampledLike address: String?) throws(StreamError) {
        let opener = try ResourceOpener(configuration.download)
        var configuration = configuration
        if let address, case .file = configuration.output, let format = opener.format(of: QueueItem(address)) {
            if configuration.sampleRate == nil, StreamerConfiguration.sampleRates.contains(format.rate.hertz) {
                configuration.sampleRate = format.rate
            }
            configuration.channelCount = configuration.channelCount ?? min(format.channelCount, 2)
        }
        try self.init(configuration, opener: opener)
    }

    init(_ configuration: StreamerConfiguration, opener: any QueueItemOpener) throws(StreamError) {
        guard let wakeup = try? WakeupPipe(), let monitorWakeup = try? WakeupPipe() else {
            throw .unusable("too many files are open: raise `ulimit -n`")
        }
        let blocks = RingBuffer(capacity: 64, filler: AudioBlock())
        let reports = LatestValue(RendererReport())
        let controls = RendererControls()
        let mailbox = WorkerMailbox(wakeup: wakeup)
        var output: PlaybackOutput?
        var renderer: FileRenderer?
        let channelCount = configuration.channelCount ?? 2
        var written = LPCMFormat(channelCount: channelCount)
        switch configuration.output {
        case .card(let name): output = try Self.card(name, configuration)
        case .clock:
            output = PlaybackOutput(clockWithChannelCount: channelCount, period: configuration.period)
        case .file:
            written.rate = configuration.sampleRate ?? .opus
        case .source: break
        }
        let hasClock = if case .file = configuration.output { false } else { true }
        let format = output?.format ?? written
        openedOutput = output?.granted.map { "\($0.device) (\($0.sampleFormat), \($0.format.rate.hertz) Hz)" }
        controller = PlaybackController(
            PlaybackController.Settings(
                rate: format.rate, hasClock: hasClock, startAfter: configuration.startAfter,
                resumeAfter: configuration.resumeAfter, loops: configuration.loops),
            controls, mailbox, monitorWakeup: monitorWakeup, report: reports.reader, now: monotonicNow)
        threads = PlayerThreads()
        let controller = controller
        if let output = output.take() {
            let loop = StreamPlaybackLoop(output, controls, blocks: blocks.consumer, reports: reports.writer)
            source = nil
            try threads.start("play", priority: Self.priority, loop) { $0.run() }
        } else if case .file(let path) = configuration.output {
            renderer = try FileRenderer(
                path: path, format: format, limit: configuration.duration, blocks: blocks.consumer,
                reports: reports.writer, now: monotonicNow)
            source = nil
        } else {
            source = StreamedSource(
                format: format, controls, blocks: blocks.consumer, reports: reports.writer,
                isOver: { [weak controller] in controller?.state.isOver ?? true })
        }
        let work = StreamWork(producer: blocks.producer, renderer: renderer)
        try threads.start("work", priority: nil, work) { work in
            StreamWorker(controller, opener, format: format, work).run()
        }
        try threads.start("look", priority: nil, PlaybackMonitor(controller: controller)) { $0.run() }
    }

    /// SCHED_FIFO priority: below the threads of sound servers and of the kernel, above all other threads.
    private static let priority = 50

    private static func card(
        _ name: String, _ configuration: StreamerConfiguration
    ) throws(StreamError) -> PlaybackOutput {
        do throws(SoundCardError) {
            return try PlaybackOutput(
                card: name, channelCount: configuration.channelCount ?? 2, period: configuration.period,
                queuedPeriods: max(configuration.queue / configuration.period, 1.5))
        } catch {
            throw .unusable(error.description)
        }
    }

    deinit { end() }

    /// Fades out, closes the output and joins the threads. Afterwards the player cannot be used.
    public func close() {
        end()
        threads.join()
    }

    private func end() {
        controller.controls.isOver.store(true, ordering: .relaxed)
        controller.mailbox.end()
        controller.monitorWakeup.signal()
        controller.finishObservers()
    }
}

// MARK: Queue
extension Streamer {
    /// Replaces the queue by `addresses` and prepares to play them without gaps, the first from `position` on. An
    /// address is a URL, a path, or `-` for standard input; it may be audio or a playlist (m3u, pls).
    public func open(_ addresses: [String], at position: Duration? = nil) {
        controller.open(addresses.map { QueueItem($0) }, at: position)
    }

    public func open(_ address: String, at position: Duration? = nil) { open([address], at: position) }

    /// Appends `addresses` to the queue.
    public func enqueue(_ addresses: [String]) { controller.enqueue(addresses.map { QueueItem($0) }) }

    public func enqueue(_ address: String) { enqueue([address]) }

    /// The items of the queue. Playlists are replaced by their entries.
    public var queue: [QueueItem] { controller.queue }

    /// The codec, format and tags of the item that is heard; nil until they are known.
    public var track: Track? { controller.track }

    /// The recent output levels. During a pause the levels are silence.
    public var levelHistory: LevelHistory { controller.report.levelHistory }

    /// Whether the card is lost. The card is reopened as soon as it is available; until then the state and the position
    /// do not change.
    public var isCardLost: Bool { controller.report.isCardLost }

    /// Plays the next item from its start. At the end of the queue this does nothing, or plays the first item if the
    /// queue loops. For any thread; does not block.
    public func next() { controller.apply(.next) }
    /// Plays the previous item from its start; at the first item, plays it again, even if the queue loops. An item that
    /// cannot be played is replaced by the item before it. For any thread; does not block.
    public func previous() { controller.apply(.previous) }

    /// Plays `address` and blocks until it ends. Throws the reason if it does not play to its end.
    public func playToEnd(_ address: String) throws(StreamError) {
        open(address)
        play()
        try wait()
    }

    /// Blocks until playback ends or the player is closed. Throws an error if playback failed. With an empty queue,
    /// waits until an item is opened and has ended; during a pause, waits until playback is resumed and has ended.
    public func wait() throws(StreamError) {
        while !controller.controls.isOver.load(ordering: .relaxed) {
            switch state {
            case .failed(let error): throw error
            case .ended: return
            case .idle, .buffering, .playing, .paused: usleep(10_000)
            }
        }
    }
}

// MARK: `MediaPlayer`
extension Streamer {
    public var state: StreamState { controller.state }
    public var progress: StreamProgress { controller.progress }
    public var events: AsyncStream<StreamEvent> { controller.makeEvents() }

    public func play() { controller.apply(.play) }
    public func pause() { controller.apply(.pause) }
    public func stop() { controller.apply(.stop) }
    public func seek(to position: Duration) { controller.seek(to: position) }
    public func seek(by distance: Duration) { controller.seek(by: distance) }

    public var rate: Double {
        get { controller.mailbox.parameters.rate }
        set { controller.mailbox.parameters.rate = newValue.isFinite ? min(max(newValue, 0.25), 32) : 1 }
    }

    public var pitch: Double {
        get { controller.mailbox.parameters.pitch }
        set { controller.mailbox.parameters.pitch = newValue.isFinite ? min(max(newValue, -2_400), 2_400) : 0 }
    }

    public var volume: Double {
        get { gain.withLock { $0.volume } }
        set {
            gain.withLock {
                $0.volume = newValue.isFinite ? min(max(newValue, 0), 1) : 1
                $0.apply(to: controller.controls)
            }
        }
    }

    /// Whether the output is muted, whatever the volume.
    public var isMuted: Bool {
        get { gain.withLock { $0.isMuted } }
        set {
            gain.withLock {
                $0.isMuted = newValue
                $0.apply(to: controller.controls)
            }
        }
    }

    /// The equaliser of the output. A change of values without a change of the number of bands causes no click.
    public var equalizer: [EqualizerBand] {
        get { controller.mailbox.parameters.bands }
        set { controller.mailbox.parameters.bands = newValue }
    }

    /// Fades in from silence, or from the present gain if an earlier fade is under way.
    public func fadeIn(over duration: Duration) { fade(to: 1, over: duration) }

    /// Fades out over `duration` of played audio; a pause suspends the fade. Playback then continues silently until a
    /// fade-in or the end. The next item is not muted.
    public func fadeOut(over duration: Duration) { fade(to: 0, over: duration) }

    private func fade(to gain: Float, over duration: Duration) {
        var ramp = GainRamp(gain, over: duration)
        ramp.number = GainRamp(word: controller.controls.fade.load(ordering: .relaxed)).number &+ 1
        controller.controls.fade.store(ramp.word, ordering: .relaxed)
    }

    private struct Gain {
        var volume = 1.0
        var isMuted = false

        func apply(to controls: RendererControls) {
            controls.volume.store(GainRamp(isMuted ? 0 : Float(volume)).word, ordering: .relaxed)
        }
    }
}
