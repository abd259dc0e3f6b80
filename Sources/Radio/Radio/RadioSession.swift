internal import Synchronization
public import TenfourChannelMember
internal import TenfourRings
public import TenfourSession
internal import TenfourSoundCard
internal import TenfourUV

/// A running conversation: captures and sends, receives and plays, or one of both, on threads of its own.
///
///     let session = try Session(sending: "speech.wav", to: "rtp://10.0.0.7:5004")
///     try session.run()
///
/// `RadioConfiguration` says more exactly what is wanted. Any thread may call any of this; none of it waits but `run` and
/// `wait`. A session that nobody holds any more stops.
public final class RadioSession: Sendable {
    /// What was opened, and how: a line each, for people.
    public let openings: [String]
    /// Where datagrams are received: the port is known even when the system chose it.
    public let localEndpoint: Endpoint

    private let cardChanges: [CardChanges]
    private let controls: Controls
    private let state: RadioState
    private let network: NetworkLoop
    private let loops: Locked<RadioLoops>
    private let threads = Locked<[Thread]>([])

    /// Below the sound server's and the kernel's own, above everything else.
    private static let audioPriority = 50
    private static let networkPriority = 45

    /// Opens everything that is needed and starts nothing. Waits for the devices to open.
    ///
    /// Throws `.unavailable` with a remedy when a device, a file or the port is not to be had, and `.usage` for settings that the codec
    /// does not have.
    public init(_ configuration: RadioConfiguration) throws(RadioError) {
        try configuration.checkEncoding()
        let isPlain = if case .channel = configuration.protection { false } else { true }
        let controls = Controls(isMicrophoneOpen: configuration.beginsOpen, isConnected: isPlain)
        if let timePitch = configuration.playout.timePitch {
            controls.rate.store(timePitch.rate.bitPattern, ordering: .relaxed)
            controls.pitch.store(timePitch.pitch.bitPattern, ordering: .relaxed)
        }
        let state = RadioState()
        let opened = try RadioLoops.open(configuration, controls, state)
        self.controls = controls
        self.state = state
        network = opened.network
        openings = opened.openings
        cardChanges = opened.cardChanges
        localEndpoint = opened.network.localEndpoint
        loops = Locked(opened.loops)
    }

    deinit { stop() }

    /// Takes the notices, since the last call, of cards that came back with another format: a line each, for people.
    public func takeCardChanges() -> [String] { cardChanges.flatMap { $0.take() } }

    /// Starts and waits for the end. As `start` and `wait`, so once.
    public func run() throws(RadioError) {
        try start()
        try wait()
    }

    /// Starts the threads, once; a session that was stopped before ends at once. Throws `.failure` when the system has no
    /// thread to give.
    public func start() throws(RadioError) {
        let hasStarted = controls.hasStarted.exchange(true, ordering: .relaxed)
        precondition(!hasStarted, "a session starts once")
        let loops = loops.withLock { loops in
            defer { loops = RadioLoops() }
            return RadioLoops(
                capture: loops.capture.take(), playback: loops.playback.take(), bending: loops.bending.take(),
                card: loops.card.take(), recorder: loops.recorder.take(),
                playbackStackByteCount: loops.playbackStackByteCount)
        }
        do throws(AudioThreadError) {
            try start(loops)
        } catch {
            stop()
            throw RadioError(.failure, error.description)
        }
    }

    /// Asks for an end, which comes within a tenth of a second or what is queued in the card: says good-bye to the other end,
    /// closes files and devices. `wait` tells when it is reached.
    public func stop() {
        controls.isStopping.store(true, ordering: .releasing)
        network.wakeup.signal()
    }

    /// Waits for the end, and throws what brought it about when that was trouble: `.failure`, such as a disk that is full.
    /// Returns at once when it was never started. Not to be called from the closure of a recording, which the end waits for.
    public func wait() throws(RadioError) {
        threads.withLock { threads in
            for thread in threads { thread.join() }
            threads = []
        }
        if let failure = state.failure { throw failure }
    }

    /// Whether what is captured is sent. Opens and closes with the next packet, over 5 ms.
    public var isMicrophoneOpen: Bool {
        get { controls.isMicrophoneOpen.load(ordering: .relaxed) }
        set { controls.isMicrophoneOpen.store(newValue, ordering: .relaxed) }
    }

    /// Whether what is received is kept from the card. A recording goes on.
    public var isSpeakerMuted: Bool {
        get { controls.isSpeakerMuted.load(ordering: .relaxed) }
        set { controls.isSpeakerMuted.store(newValue, ordering: .relaxed) }
    }

    /// Asks a channel's relay for fifty of its listeners, from `position` on: `ChannelEvent.listeners` brings them, within three
    /// seconds, and none where the relay does not tell.
    public func requestListeners(from position: Int = 0) {
        controls.listenerPage.store(max(position, 0), ordering: .relaxed)
    }

    /// How fast what is heard goes, where `PlayoutSettings.timePitch` was asked for: as in `LiveTimePitchSettings`.
    public var rate: Double {
        get { Double(bitPattern: controls.rate.load(ordering: .relaxed)) }
        set { controls.rate.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// How much higher it sounds, in cents, ± 2400.
    public var pitch: Double {
        get { Double(bitPattern: controls.pitch.load(ordering: .relaxed)) }
        set { controls.pitch.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// How far what is heard lies behind what was received, by its rate.
    public var lag: Duration { .microseconds(controls.timePitchLag.load(ordering: .relaxed)) }

    /// Whether the file or pipe that is sent has come to its end.
    public var hasInputEnded: Bool { controls.hasInputEnded.load(ordering: .acquiring) }

    /// Whether it has ended, by itself, by trouble or by `stop`, so that `wait` returns soon.
    public var isOver: Bool { controls.isOver.load(ordering: .acquiring) }

    /// How it goes, renewed ten times a second; nil before the start.
    public var snapshot: RadioSnapshot? {
        var snapshot = state.snapshot
        snapshot?.playback?.unrecordedSampleCount += controls.timePitchLoss.load(ordering: .relaxed)
        return snapshot
    }

    /// What has happened since this was last asked, the last thousand at the most.
    public func takeEvents() -> [Event] { state.takeEvents() }

    /// How it went with the channel's relay since this was last asked, the last thousand at the most.
    public func takeChannelEvents() -> [ChannelEvent] { state.takeChannelEvents() }
}

extension RadioSession {
    /// A thread to be waited for.
    private final class Thread: @unchecked Sendable {
        private var thread: AudioThread?
        init(_ thread: consuming AudioThread) { self.thread = consume thread }
        func join() { thread.take()?.join() }
    }

    private func start(_ loops: consuming RadioLoops) throws(AudioThreadError) {
        let controls = controls
        // The playback thread ends after the network thread, and the recorder after both: each has what is left to do.
        try keep(
            AudioThread("net", priority: Self.networkPriority, work: network) { network, _ in
                network.run()
                controls.isStopping.store(true, ordering: .releasing)
                controls.isOver.store(true, ordering: .releasing)
            })
        if let playback = loops.playback.take() {
            try keep(
                AudioThread(
                    "play", priority: Self.audioPriority, touchedStackByteCount: loops.playbackStackByteCount,
                    work: playback
                ) { playback, priority in
                    playback.run(priority: priority)
                    controls.isPlaybackOver.store(true, ordering: .releasing)
                })
        }
        let isBent = loops.bending != nil
        if let bending = loops.bending.take() {
            try keep(
                AudioThread("bend", priority: nil, work: bending) { bending, _ in
                    bending.run()
                    controls.isTimePitchOver.store(true, ordering: .releasing)
                })
        }
        if let card = loops.card.take() {
            try keep(
                AudioThread("card", priority: Self.audioPriority, work: card) { card, priority in
                    card.run(priority: priority)
                })
        }
        if let recorder = loops.recorder.take() {
            try keep(
                AudioThread("file", priority: nil, work: recorder) { recorder, _ in
                    recorder.run {
                        isBent
                            ? controls.isTimePitchOver.load(ordering: .acquiring)
                            : controls.isPlaybackOver.load(ordering: .acquiring)
                    }
                })
        }
        if let capture = loops.capture.take() {
            let mayHang = capture.mayHang
            let thread = try AudioThread("capt", priority: Self.audioPriority, work: capture) { capture, priority in
                capture.run(priority: priority)
            }
            // Not waited for where a pipe may hold it: then it ends with the pipe.
            if !mayHang { keep(thread) }
        }
    }

    private func keep(_ thread: consuming AudioThread) {
        let thread = Thread(thread)
        threads.withLock { $0.append(thread) }
    }
}
