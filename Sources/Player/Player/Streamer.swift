internal import Glibc
internal import Synchronization
public import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourClocks
public import TenfourEffects
public import TenfourMediaSource
internal import TenfourSoundCard
internal import TenfourSystem

/// Plays a queue of addresses: URLs, local files and folders.
///
///     let streamer = try Streamer()
///     streamer.open("https://example.org/song.mp3")
///     streamer.play()
///     for await case .state(let state) in streamer.events where state.isOver { break }
///
/// Any thread may call any of this; nothing blocks except `init`, `close`, `wait` and `playToEnd`. Releasing the last
/// reference stops it.
public final class Streamer: MediaPlayer {
    let controller: PlaybackController
    /// Makes the waveform of the item that is heard; nil if none is made.
    let analysis: WaveformAnalysis?
    private let threads = PlayerThreads()
    private let tapSignals: TapSignals?
    /// The thread of the tap, which ends after the others.
    private let tapThreads = PlayerThreads()
    private let gain = Locked(Gain())

    /// The name, sample format and rate of the opened card or file, as text for people; nil for another output.
    public let openedOutput: String?

    /// The rate and channel count of the output. Audio of other rates is resampled. An item with this rate and channel
    /// count reaches a card unchanged while volume and rate are 1, the pitch is 0, no effect is set, and no gain of its
    /// tags is applied (`StreamerConfiguration.gain`). Only a fade-in of 8 ms is added where playback starts.
    public let outputFormat: LPCMFormat

    /// The samples of the audio that are wider than those of the output file; nil if there are none.
    package let shortening: SampleShortening?

    /// The output as an audio source; nil unless the configuration requests `.source`.
    public let source: StreamedSource?

    /// Opens the output. Throws `.unusable` with a remedy if it cannot be opened.
    public convenience init(_ configuration: StreamerConfiguration = StreamerConfiguration()) throws(StreamError) {
        try self.init(configuration, opener: configuration.makeOpener())
    }

    /// Opens the output. For an output file, a rate or channel count that is nil in the configuration is taken from the
    /// audio at `address`; the call blocks until it is known. A card is asked for the rate of a local file, if that is
    /// 44.1 kHz or more. An `address` that cannot be read is reported when it is opened for playback.
    public convenience init(_ configuration: StreamerConfiguration, sampledLike address: String?) throws(StreamError) {
        let opener = try configuration.makeOpener()
        var configuration = configuration
        if let address, case .card = configuration.output, configuration.sampleRate == nil,
            let rate = opener.format(of: QueueItem(address), onlyFiles: true)?.format.rate,
            Self.cardRates.contains(rate.hertz)
        {
            configuration.sampleRate = rate
        }
        if let address, case .file(let path) = configuration.output,
            let recorded = opener.format(of: QueueItem(address))
        {
            try configuration.adopt(recorded, for: OutputFileKind(path: path))
        }
        try self.init(configuration, opener: opener)
    }

    init(_ configuration: StreamerConfiguration, opener: any QueueItemOpener) throws(StreamError) {
        try Self.checkChannelCount(configuration)
        guard let wakeup = try? WakeupPipe(), let monitorWakeup = try? WakeupPipe() else {
            throw .unusable("too many files are open: raise `ulimit -n`", kind: .resourcesExhausted)
        }
        // Blocks of more channels are shorter.
        let blocks = RingBuffer(capacity: configuration.channelCount ?? 2 > 2 ? 256 : 64, filler: AudioBlock())
        let reports = LatestValue(RendererReport())
        let controls = RendererControls()
        let mailbox = WorkerMailbox(wakeup: wakeup)
        var output: PlaybackOutput?
        var renderer: FileRenderer?
        var written = LPCMFormat(channelCount: configuration.channelCount ?? 2)
        var file: RenderedFile?
        switch configuration.output {
        case .card(let name): output = try Self.card(name, configuration)
        case .clock: output = PlaybackOutput(clockWithChannelCount: written.channelCount, period: configuration.period)
        case .file(let path):
            written.rate = configuration.sampleRate ?? .opus
            file = try RenderedFile(path: path, format: written, width: configuration.sampleWidth)
        case .source: break
        }
        outputFormat = output?.format ?? written
        let format = outputFormat
        (openedOutput, shortening) = (output?.name ?? file?.name, configuration.shortening)
        controller = PlaybackController(
            PlaybackController.Settings(configuration, rate: format.rate), controls, mailbox,
            monitorWakeup: monitorWakeup, report: reports.reader, now: { MonotonicClock.now })
        let controller = controller
        var tap = try AudioTap(configuration.tap, format: format, controller)
        tapSignals = tap.signals
        analysis = try WaveformAnalysis.make(configuration, opener, controller)
        if let output = output.take() {
            let loop = StreamPlaybackLoop(
                output, controls, blocks: blocks.consumer, tap: tap.writer.take(), reports: reports.writer)
            source = nil
            try threads.start("play", priority: Self.priority, loop) { $0.run() }
        } else if case .file = configuration.output {
            renderer = FileRenderer(
                file.take(), format: format, limit: configuration.duration, fadeOut: configuration.fadeOut,
                blocks: blocks.consumer, tap: tap.writer.take(), reports: reports.writer,
                now: { MonotonicClock.now })
            source = nil
        } else {
            source = StreamedSource(
                format: format, controls, blocks: blocks.consumer, tap: tap.writer.take(), reports: reports.writer,
                isOver: { [weak controller] in controller?.state.isOver ?? true })
        }
        let work = StreamWork(
            producer: blocks.producer, renderer: renderer,
            crossfade: min(max(configuration.crossfade, .zero), .seconds(30)),
            startPosition: configuration.startPosition, makeEffect: configuration.makeEffect,
            gain: configuration.gain, waveform: analysis)
        try threads.start("work", priority: nil, work) { work in
            StreamWorker(controller, opener, format: format, work).run()
        }
        try threads.start("look", priority: nil, PlaybackMonitor(controller: controller)) { $0.run() }
        if let reader = tap.reader.take() { try tapThreads.start("tap", priority: nil, reader) { $0.run() } }
        if let analysis { try threads.start("wave", priority: nil, analysis) { $0.run() } }
    }

    private static func checkChannelCount(_ configuration: StreamerConfiguration) throws(StreamError) {
        guard let count = configuration.channelCount, !(1...8).contains(count) else { return }
        throw .unusable("the output cannot have \(count) channels: choose 1 to 8", kind: .unusableOutput)
    }

    /// SCHED_FIFO priority: below the threads of sound servers and of the kernel, above all other threads.
    private static let priority = 50

    /// The rates of a file that a card is asked for, in hertz. All items of the queue are played at this rate, so a lower
    /// one would take the treble from later items.
    private static let cardRates = 44_100...192_000

    private static func card(
        _ name: String, _ configuration: StreamerConfiguration
    ) throws(StreamError) -> PlaybackOutput {
        do throws(SoundCardError) {
            return try PlaybackOutput(
                card: name, channelCount: configuration.channelCount ?? 2, rate: configuration.sampleRate ?? .opus,
                period: configuration.period, queuedPeriods: max(configuration.queue / configuration.period, 1.5),
                isPrecise: true)
        } catch {
            throw .unusable(error.description, kind: MediaErrorKind(error))
        }
    }

    deinit {
        end()
        tapSignals?.end()
    }

    /// Fades out, closes the output, and blocks until the player's threads have ended. Afterwards the player cannot be
    /// used.
    public func close() {
        end()
        threads.join()
        tapSignals?.end()
        tapThreads.join()
    }

    private func end() {
        controller.controls.isOver.store(true, ordering: .relaxed)
        controller.close()
        controller.mailbox.end()
        analysis?.end()
        controller.monitorWakeup.signal()
    }
}

// MARK: Queue
extension Streamer {
    /// Replaces the queue by `addresses` and prepares to play them without gaps, the first from `position` on. An
    /// address is a URL, a path, or `-` for standard input. It may lead to audio, a playlist (m3u, pls), a folder, a
    /// CUE sheet or an HLS stream.
    public func open(_ addresses: [String], at position: Duration? = nil) {
        controller.open(addresses.map { QueueItem($0) }, at: position)
    }

    public func open(_ address: String, at position: Duration? = nil) { open([address], at: position) }

    /// Replaces the queue by `items`, as `open(_:at:)` does. An item may bring bytes of the program's own.
    public func open(items: [QueueItem], at position: Duration? = nil) { controller.open(items, at: position) }

    /// Replaces the queue by an `address` that another program named. The headers of the configuration, and the user and
    /// password of the address, are sent to no server.
    public func open(fromOthers address: String) { controller.open([QueueItem(fromOthers: address)], at: nil) }

    /// Appends `addresses` to the queue.
    public func enqueue(_ addresses: [String]) { controller.enqueue(addresses.map { QueueItem($0) }) }

    public func enqueue(_ address: String) { enqueue([address]) }

    /// Appends `items` to the queue.
    public func enqueue(items: [QueueItem]) { controller.enqueue(items) }

    /// The items of the queue. Playlists, folders and CUE sheets are replaced by their entries when they are read.
    public var queue: [QueueItem] { controller.queue }

    /// The codec, format and tags of the item that is heard; nil until they are known.
    public var track: Track? { controller.track }

    /// The state of the byte source of the item that is being read, such as its size, its buffered bytes and the
    /// headers of the server's answer; nil if nothing is open. Near the end of an item, the next one is being read
    /// already.
    public var byteSourceState: ByteSourceState? { controller.mailbox.byteSourceState }

    /// The recent output levels. During a pause the levels are silence.
    public var levelHistory: LevelHistory { controller.report.levelHistory }

    /// The number of the item that is heard, which it keeps when the queue is edited, and whether `next` leads to an item.
    package var heardItem: (number: Int, hasNext: Bool) { controller.heardItem }

    /// The item that is heard and the place reached in it; nil if it cannot be found again, such as a live stream.
    package var heardPlace: HeardPlace? { controller.heardPlace }

    /// Whether the card is lost. The card is reopened as soon as it is available; until then the state and the position
    /// do not change.
    public var isCardLost: Bool { controller.report.isCardLost }

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

    /// The equaliser of the output. Changing its bands causes no click as long as their number stays the same.
    public var equalizer: [EqualizerBand] {
        get { controller.mailbox.parameters.bands }
        set { controller.mailbox.parameters.bands = newValue }
    }

    /// The filters, tone controls and other effects of the output. A limiter follows them. Default: no effect.
    public var effects: EffectSettings { controller.mailbox.parameters.effects }

    /// Changes the effects, without a click and without a change of the position. Changes nothing if it throws.
    public func setEffects(_ effects: EffectSettings) throws(EffectError) {
        try controller.mailbox.parameters.changeEffects { $0 = effects }
    }

    /// Replaces the effect that `StreamerConfiguration.makeEffect` made. The present one fades out over 5 ms and the next
    /// one fades in over 5 ms, so that there is no click. `makeEffect` is called once on the thread that decodes, with the
    /// format of the output, which the effect must have.
    public func replaceEffect(_ makeEffect: @escaping @Sendable (LPCMFormat) -> AnyAudioEffect) {
        controller.mailbox.parameters.replaceEffect(makeEffect)
    }

    /// The gain of low notes in decibels, limited to `EffectSettings.tones`.
    public var bass: Double {
        get { effects.bass }
        set { setTone { $0.bass = Self.tone(newValue) } }
    }

    /// The gain of high notes in decibels, limited to `EffectSettings.tones`.
    public var treble: Double {
        get { effects.treble }
        set { setTone { $0.treble = Self.tone(newValue) } }
    }

    private func setTone(_ change: (inout EffectSettings) -> Void) {
        // The gain is within its range, and the other settings have been checked, so nothing is thrown.
        try? controller.mailbox.parameters.changeEffects { (settings: inout EffectSettings) in change(&settings) }
    }

    private static func tone(_ gain: Double) -> Double {
        gain.isFinite ? min(max(gain, EffectSettings.tones.lowerBound), EffectSettings.tones.upperBound) : 0
    }

    /// Fades in from silence, or from the present gain if an earlier fade is under way.
    public func fadeIn(over duration: Duration) { fade(to: 1, over: duration) }

    /// Fades out over `duration` of played audio; a pause suspends the fade. Playback then continues silently, also
    /// into the following items of the queue, until a fade-in or until the player ends or stops. Audio that is played
    /// after that is heard.
    public func fadeOut(over duration: Duration) { fade(to: 0, over: duration) }

    private func fade(to gain: Float, over duration: Duration) {
        var ramp = GainRamp(gain, over: duration)
        // The lock keeps a fade of another thread from getting the same number.
        self.gain.withLock { _ in
            ramp.number = GainRamp(word: controller.controls.fade.load(ordering: .relaxed)).number &+ 1
            controller.controls.fade.store(ramp.word, ordering: .relaxed)
        }
    }

    private struct Gain {
        var volume = 1.0
        var isMuted = false

        func apply(to controls: RendererControls) {
            controls.volume.store(GainRamp(isMuted ? 0 : Float(volume)).word, ordering: .relaxed)
        }
    }
}

extension PlaybackOutput {
    /// The card's name, sample format and rate; nil without a card.
    fileprivate var name: String? {
        granted.map { "\($0.device) (\($0.sampleFormat), \($0.format.rate.hertz) Hz)" }
    }
}
