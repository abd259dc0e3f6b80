internal import Synchronization
public import TenfourAudioCore
public import TenfourChannelMember
public import TenfourPackets
public import TenfourSession
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourUV

/// A running conversation: it captures and sends, receives and plays, or does one of both, on its own threads.
///
///     let session = try RadioSession(sending: "speech.wav", to: "rtp://10.0.0.7:5004")
///     try session.run()
///
/// `RadioConfiguration` has all settings. Any thread may call any method; only `run` and `wait` block. A session stops
/// when its last reference is gone.
public final class RadioSession: Sendable {
    /// The devices and files that were opened, one line each, for messages to the user.
    public let openings: [String]
    /// The local address, including a port that the system chose.
    public let localEndpoint: Endpoint

    private let cardChanges: [CardChanges]
    let controls: Controls
    let state: RadioState
    let network: NetworkLoop
    private let loops: Locked<RadioLoops>
    private let threads = Locked<[Thread]>([])

    /// The real-time priority of audio threads: below the threads of the sound server and the kernel, above all others.
    private static let audioPriority = 50
    private static let networkPriority = 45

    /// Opens all devices and sockets and starts nothing. Blocks while the devices open.
    ///
    /// Throws `.unavailable` with a remedy when a device, a file or the port is not available, and `.usage` for
    /// settings that the codec does not have.
    public init(_ configuration: RadioConfiguration) throws(RadioError) {
        try configuration.checkEncoding()
        try configuration.checkFloor()
        let isPlain = if case .channel = configuration.protection { false } else { true }
        let controls = Controls(
            isMicrophoneOpen: configuration.beginsOpen, isConnected: isPlain,
            isHalfDuplex: configuration.duplex == .half,
            replays: configuration.canReplay ? try Replays() : nil)
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

    /// Returns the notices since the last call about reconnected cards with another format, one line each, for the
    /// user.
    public func takeCardChanges() -> [String] { cardChanges.flatMap { $0.take() } }

    /// Starts the session and waits for its end. Call it once.
    public func run() throws(RadioError) {
        try start()
        try wait()
    }

    /// Starts the threads. Call this once; a session that was stopped before ends immediately. Throws `.failure` if the
    /// system cannot create a thread.
    public func start() throws(RadioError) {
        let hasStarted = controls.hasStarted.exchange(true, ordering: .relaxed)
        precondition(!hasStarted, "a session starts once")
        let loops = loops.withLock { loops in
            defer { loops = RadioLoops() }
            return RadioLoops(
                capture: loops.capture.take(), playback: loops.playback.take(),
                timePitchLoop: loops.timePitchLoop.take(), card: loops.card.take(), recorder: loops.recorder.take(),
                replay: loops.replay.take(),
                playbackStackByteCount: loops.playbackStackByteCount)
        }
        do throws(AudioThreadError) {
            try start(loops)
        } catch {
            stop()
            throw RadioError(.failure, error.description)
        }
    }

    /// Asks the session to end. It sends a BYE and closes files and devices, which takes up to a tenth of a second, or
    /// until the card's queue is played. `wait` returns afterwards.
    public func stop() {
        controls.isStopping.store(true, ordering: .releasing)
        network.wakeup.signal()
        controls.replays?.wake()
    }

    /// Waits for the end. Throws `.failure` if an error such as a full disk has caused it. Returns immediately if the
    /// session was never started. Must not be called from the closure of a recording, because the end waits for that
    /// closure.
    public func wait() throws(RadioError) {
        threads.withLock { threads in
            for thread in threads { thread.join() }
            threads = []
        }
        if let failure = state.failure { throw failure }
    }

    /// Whether captured audio is sent. A change takes effect with the next packet, over 5 ms.
    public var isMicrophoneOpen: Bool {
        get { controls.isMicrophoneOpen.load(ordering: .relaxed) }
        set { controls.isMicrophoneOpen.store(newValue, ordering: .relaxed) }
    }

    /// The level of the latest captured packet, whether the microphone is open or not, and a number that changes each
    /// time audio is captured.
    public var capturedLevel: (level: Level, number: UInt32) {
        let value = controls.capturedLevel.load(ordering: .relaxed)
        let meanSquare = Float(bitPattern: UInt32(truncatingIfNeeded: value))
        return (Level(meanSquare: meanSquare), UInt32(truncatingIfNeeded: value >> 32))
    }

    /// Whether the card plays silence instead of received audio. A recording continues.
    public var isSpeakerMuted: Bool {
        get { controls.isSpeakerMuted.load(ordering: .relaxed) }
        set { controls.isSpeakerMuted.store(newValue, ordering: .relaxed) }
    }

    /// How far received audio stays behind that of other sessions of the same user. A change takes 10 ms. Tones, replays and
    /// a recording keep their volume.
    public var background: Background {
        get { Background(rawValue: controls.background.load(ordering: .relaxed)) ?? .none }
        set { controls.background.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Whether received audio is silent because the user talks in another session. As `background` otherwise.
    public var isMutedByOtherSession: Bool {
        get { controls.isMutedByOtherSession.load(ordering: .relaxed) }
        set { controls.isMutedByOtherSession.store(newValue, ordering: .relaxed) }
    }

    /// Whether captured audio is needed: true at first. Otherwise the session closes its capture card and processes
    /// nothing, since another session has the user's microphone. It opens the card again in the background, and captures
    /// silence until then.
    public var needsCapture: Bool {
        get { controls.needsCapture.load(ordering: .relaxed) }
        set { controls.needsCapture.store(newValue, ordering: .relaxed) }
    }

    /// The volume of received audio on the card, 0…1. A recording and the tones keep theirs.
    public var volume: Float {
        get { Float(bitPattern: controls.volume.load(ordering: .relaxed)) }
        set { controls.volume.store((newValue > 0 ? min(newValue, 1) : 0).bitPattern, ordering: .relaxed) }
    }

    /// Sets the volume of one talker, 0…4; 0 mutes, and 1 is the volume that was sent. It is kept for
    /// `talkerVolumeCount` talkers, also while they are away, and belongs to the SSRC: a talker who joins anew has
    /// another. With one more, the oldest volume that mutes nobody goes back to 1, or else the oldest. It changes a
    /// recording of what is heard, too.
    public func setVolume(_ volume: Float, of ssrc: SSRC) { controls.talkerVolumes.set(volume, of: ssrc) }

    /// The number of talkers who can have a volume other than 1.
    public static var talkerVolumeCount: Int { TalkerVolumes.capacity }

    /// Returns the volume that was set for a talker; 1 if none was.
    public func volume(of ssrc: SSRC) -> Float { controls.talkerVolumes.volume(of: ssrc) }

    /// Plays a tone on the card, in place of a tone that is playing. It is neither sent nor recorded.
    public func play(_ tone: SignalTone) { controls.play(tone) }

    /// Plays on the card what was heard before, in place of a replay that plays. A replay ends over 10 ms when somebody
    /// begins to talk; those who talk already are played more softly meanwhile. A talker whose volume is 0 does not end
    /// it. A replay is neither sent nor recorded. Nothing happens if the session keeps no history
    /// (`RadioConfiguration.keepsHistory`) or plays on no card.
    public func replay(_ range: ReplayRange) {
        controls.replays?.request(range)
        network.wakeup.signal()
    }

    /// Ends the replay, over 10 ms.
    public func stopReplay() { controls.replays?.stop() }

    /// Sets which other sessions the same person hears: a transmission that begins here ends their replays, too.
    package func setHeardTogether(with others: [RadioSession]) {
        controls.replays?.setOthers(others.compactMap(\.controls.replays))
    }

    /// Whether a replay is heard.
    public var isReplaying: Bool { controls.replays?.isPlaying ?? false }

    /// Whether the session can replay what was heard.
    public var canReplay: Bool { controls.replays != nil }

    /// Returns what became of the replays since the last call, at most the latest 64 events.
    public func takeReplayEvents() -> [ReplayEvent] { controls.replays?.takeEvents() ?? [] }

    /// Requests up to fifty listeners of the channel from its relay, from index `position` on. `ChannelEvent.listeners`
    /// delivers them within three seconds; no event comes if the relay does not list listeners.
    public func requestListeners(from position: Int = 0) {
        controls.listenerPage.store(max(position, 0), ordering: .relaxed)
    }

    /// The playback rate, if `PlayoutSettings.timePitch` is set; see `LiveTimePitchSettings`.
    public var rate: Double {
        get { Double(bitPattern: controls.rate.load(ordering: .relaxed)) }
        set { controls.rate.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// The pitch shift in cents, ± 2400.
    public var pitch: Double {
        get { Double(bitPattern: controls.pitch.load(ordering: .relaxed)) }
        set { controls.pitch.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// The time by which playback lies behind reception because of its rate.
    public var lag: Duration { .microseconds(controls.timePitchLag.load(ordering: .relaxed)) }

    /// Whether the file or pipe that is sent has ended.
    public var hasInputEnded: Bool { controls.hasInputEnded.load(ordering: .acquiring) }

    /// Whether the session has ended by itself, by an error or by `stop`. If so, `wait` returns soon.
    public var isOver: Bool { controls.isOver.load(ordering: .acquiring) }

    /// The state of the session, updated ten times a second; nil before the start.
    public var snapshot: RadioSnapshot? {
        var snapshot = state.snapshot
        snapshot?.playback?.unrecordedSampleCount += controls.timePitchLoss.load(ordering: .relaxed)
        return snapshot
    }

    /// The time at which the network thread last updated `snapshot`, by CLOCK_MONOTONIC; nil before the start.
    public var lastPublication: Instant? { state.publication }

    /// Returns the events since the last call, at most the latest 1024.
    public func takeEvents() -> [Event] { state.takeEvents() }

    /// Returns the events of the channel since the last call, at most the latest 1024.
    public func takeChannelEvents() -> [ChannelEvent] { state.takeChannelEvents() }
}

extension RadioSession {
    /// A thread that `wait` joins.
    private final class Thread: @unchecked Sendable {
        private var thread: AudioThread?
        init(_ thread: consuming AudioThread) { self.thread = consume thread }
        func join() { thread.take()?.join() }
    }

    private func start(_ loops: consuming RadioLoops) throws(AudioThreadError) {
        let controls = controls
        // Starts the threads. The playback thread ends after the network thread, and the recorder after both, because
        // each of them plays or writes the remaining audio.
        try addThread(
            AudioThread("net", priority: Self.networkPriority, work: network) { network, _ in
                network.run()
                controls.isStopping.store(true, ordering: .releasing)
                controls.replays?.wake()
                controls.isOver.store(true, ordering: .releasing)
            })
        if let playback = loops.playback.take() {
            try addThread(
                AudioThread(
                    "play", priority: Self.audioPriority, touchedStackByteCount: loops.playbackStackByteCount,
                    work: playback
                ) { playback, priority in
                    playback.run(priority: priority)
                    controls.isPlaybackOver.store(true, ordering: .releasing)
                })
        }
        let usesTimePitch = loops.timePitchLoop != nil
        if let timePitch = loops.timePitchLoop.take() {
            try addThread(
                AudioThread("time-pitch", priority: nil, work: timePitch) { timePitch, _ in
                    timePitch.run()
                    controls.isTimePitchOver.store(true, ordering: .releasing)
                })
        }
        if let card = loops.card.take() {
            try addThread(
                AudioThread("card", priority: Self.audioPriority, work: card) { card, priority in
                    card.run(priority: priority)
                })
        }
        if let recorder = loops.recorder.take() {
            try addThread(
                AudioThread("file", priority: nil, work: recorder) { recorder, _ in
                    recorder.run {
                        usesTimePitch
                            ? controls.isTimePitchOver.load(ordering: .acquiring)
                            : controls.isPlaybackOver.load(ordering: .acquiring)
                    }
                })
        }
        if let replay = loops.replay.take() {
            try addThread(AudioThread("replay", priority: nil, work: replay) { replay, _ in replay.run() })
        }
        if let capture = loops.capture.take() {
            let mayHang = capture.mayHang
            let thread = try AudioThread("capt", priority: Self.audioPriority, work: capture) { capture, priority in
                capture.run(priority: priority)
            }
            // Adds the thread for `wait` only if it cannot block on a pipe. A thread that blocks there ends only with
            // the pipe.
            if !mayHang { addThread(thread) }
        }
    }

    private func addThread(_ thread: consuming AudioThread) {
        let thread = Thread(thread)
        threads.withLock { $0.append(thread) }
    }
}
