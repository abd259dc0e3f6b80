internal import Glibc
internal import Synchronization
public import TenfourAudioCore
public import TenfourEffects
public import TenfourMediaSource
internal import TenfourRings
internal import TenfourSoundCard

/// Plays what lies at an address: a URL, or a file on this machine.
///
///     let streamer = try Streamer()
///     streamer.open("https://example.org/song.mp3")
///     streamer.play()
///     for await case .state(let state) in streamer.events where state.isOver { break }
///
/// Any thread may call any of this; none of it waits but `init`, `close` and `playToEnd`. One that nobody holds any more stops.
public final class Streamer: MediaStreaming {
    private let director: PlaybackController
    private let threads: Threads
    private let gain = Locked(Gain())

    /// What the card granted, in words; nil where there is none.
    public let openedOutput: String?

    /// Where what is played is taken from, by a configuration that says so.
    public let source: StreamedSource?

    /// Opens the output. Throws `.unusable`, with a remedy, where it is not to be had.
    public convenience init(_ configuration: StreamerConfiguration = StreamerConfiguration()) throws(StreamError) {
        try self.init(configuration, opening: MediaOpening(configuration.download))
    }

    /// The same. Where a file is written, a rate or channel count that the configuration leaves nil is that of the
    /// sound at `address`, which is to be opened first. Blocks until that is known. An address that cannot be read
    /// fails when it is opened.
    public convenience init(_ configuration: StreamerConfiguration, sampledLike address: String?) throws(StreamError) {
        let opening = try MediaOpening(configuration.download)
        var configuration = configuration
        if let address, case .file = configuration.output, let format = opening.format(of: QueueItem(address)) {
            if configuration.sampleRate == nil, StreamerConfiguration.sampleRates.contains(format.rate.hertz) {
                configuration.sampleRate = format.rate
            }
            configuration.channelCount = configuration.channelCount ?? min(format.channelCount, 2)
        }
        try self.init(configuration, opening: opening)
    }

    init(_ configuration: StreamerConfiguration, opening: any Opening) throws(StreamError) {
        guard let bell = ThreadWakeup(), let watch = ThreadWakeup() else {
            throw .unusable("too many files are open: raise `ulimit -n`")
        }
        let blocks = RingBuffer(capacity: 64, filler: AudioBlock())
        let reports = LatestValue(RendererReport())
        let controls = RendererControls()
        let orders = WorkerRequest(bell: bell)
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
        director = PlaybackController(
            PlaybackController.Settings(
                rate: format.rate, hasClock: hasClock, startAfter: configuration.startAfter,
                resumeAfter: configuration.resumeAfter, loops: configuration.loops),
            controls, orders, watch: watch, report: reports.reader, now: monotonicNow)
        threads = Threads()
        let director = director
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
                isOver: { [weak director] in director?.state.isOver ?? true })
        }
        let work = StreamWork(producer: blocks.producer, renderer: renderer)
        try threads.start("work", priority: nil, work) { work in
            StreamWorker(director, opening, format: format, work).run()
        }
        try threads.start("look", priority: nil, PlaybackMonitor(director: director)) { $0.run() }
    }

    /// Below the sound server's and the kernel's own, above everything else.
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

    /// Ends everything, and waits for that: what sounds fades within some milliseconds. Nothing can be played after it.
    public func close() {
        end()
        threads.join()
    }

    private func end() {
        director.controls.isOver.store(true, ordering: .relaxed)
        director.orders.end()
        director.watch.ring()
        director.dismissListeners()
    }
}

// What is played.
extension Streamer {
    /// Lets go of what was played and makes ready to play `addresses`, one after the other without a gap, the first of them
    /// from `position` on. URLs, paths, or `-` for standard input; of sound, or of playlists (m3u, pls).
    public func open(_ addresses: [String], at position: Duration? = nil) {
        director.open(addresses.map { QueueItem($0) }, at: position)
    }

    public func open(_ address: String, at position: Duration? = nil) { open([address], at: position) }

    /// Behind what is there.
    public func enqueue(_ addresses: [String]) { director.enqueue(addresses.map { QueueItem($0) }) }

    public func enqueue(_ address: String) { enqueue([address]) }

    /// All that was opened and enqueued, the entries of playlists in place of these.
    public var queue: [QueueItem] { director.queue }

    /// What sounds; nil until it is known.
    public var track: Track? { director.track }

    /// How loud what was given to the output has been of late, silence in a pause.
    public var trail: LevelTrail { director.report.trail }

    /// Whether the card is gone. It is looked for, and what would be played waits until it is back: the state stays the same, and
    /// the position stands still.
    public var isCardLost: Bool { director.report.isCardLost }

    /// Goes to the beginning of the one behind that which sounds. At the last of the queue nothing happens, unless it loops: then
    /// the first is next. Any thread; does not wait.
    public func next() { director.apply(.next) }
    /// Goes to the beginning of the one before that which sounds, and of the first where none is: at the first of the queue that
    /// begins again, also where the queue loops. What cannot be played is passed over backwards. Any thread; does not wait.
    public func previous() { director.apply(.previous) }

    /// Plays `address` and waits until it is over. Throws why it does not play, or not to its end.
    public func playToEnd(_ address: String) throws(StreamError) {
        open(address)
        play()
        try wait()
    }

    /// Waits until nothing more comes by itself, or the streamer is closed. Throws why that is, unless it came to its end or
    /// was stopped. Where nothing was opened, that is until something was, and is over; in a pause, until somebody plays on.
    public func wait() throws(StreamError) {
        while !director.controls.isOver.load(ordering: .relaxed) {
            switch state {
            case .failed(let error): throw error
            case .ended: return
            case .idle, .buffering, .playing, .paused: usleep(10_000)
            }
        }
    }
}

// How it is played: `MediaStreaming`.
extension Streamer {
    public var state: StreamState { director.state }
    public var progress: StreamProgress { director.progress }
    public var events: AsyncStream<StreamEvent> { director.makeEvents() }

    public func play() { director.apply(.play) }
    public func pause() { director.apply(.pause) }
    public func stop() { director.apply(.stop) }
    public func seek(to position: Duration) { director.seek(to: position) }
    public func seek(by distance: Duration) { director.seek(by: distance) }

    public var rate: Double {
        get { director.orders.treatment.rate }
        set { director.orders.treatment.rate = newValue.isFinite ? min(max(newValue, 0.25), 32) : 1 }
    }

    public var pitch: Double {
        get { director.orders.treatment.pitch }
        set { director.orders.treatment.pitch = newValue.isFinite ? min(max(newValue, -2_400), 2_400) : 0 }
    }

    public var volume: Double {
        get { gain.withLock { $0.volume } }
        set {
            gain.withLock {
                $0.volume = newValue.isFinite ? min(max(newValue, 0), 1) : 1
                $0.apply(to: director.controls)
            }
        }
    }

    /// Whether nothing is heard, whatever the volume.
    public var isMuted: Bool {
        get { gain.withLock { $0.isMuted } }
        set {
            gain.withLock {
                $0.isMuted = newValue
                $0.apply(to: director.controls)
            }
        }
    }

    /// What is made louder and softer, on the way to the output. Bands that stay as many change without a click.
    public var equalizer: [EqualizerBand] {
        get { director.orders.treatment.bands }
        set { director.orders.treatment.bands = newValue }
    }

    /// From silence where nothing sounds yet; else from where an earlier fade has come to.
    public func fadeIn(over duration: Duration) { fade(to: 1, over: duration) }

    /// In sound, not in time: it waits where that does. Then it goes on in silence until it fades in again, or is over:
    /// what is played after that is heard.
    public func fadeOut(over duration: Duration) { fade(to: 0, over: duration) }

    private func fade(to gain: Float, over duration: Duration) {
        var wish = GainRamp(gain, over: duration)
        wish.number = GainRamp(word: director.controls.fade.load(ordering: .relaxed)).number &+ 1
        director.controls.fade.store(wish.word, ordering: .relaxed)
    }

    private struct Gain {
        var volume = 1.0
        var isMuted = false

        func apply(to controls: RendererControls) {
            controls.volume.store(GainRamp(isMuted ? 0 : Float(volume)).word, ordering: .relaxed)
        }
    }
}
