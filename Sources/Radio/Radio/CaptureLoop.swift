internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourUV
internal import TenfourVoiceProcessing

/// The capture thread: reads audio, and passes each completed packet to the network thread.
struct CaptureLoop: ~Copyable, Sendable {
    private let controls: Controls
    private let wakeup: Wakeup
    private var input: CaptureInput
    private var voice: VoiceProcessor
    private var talker: EncoderPipeline
    private let packets: RingBufferProducer<OutgoingPacket>
    private var reports: LatestWriter<CaptureReport>
    private var report = CaptureReport()
    private let failed: @Sendable (RadioError) -> Void
    /// Whether the card is closed while the microphone is.
    private let closesCard: Bool
    /// Whether captured audio is needed: not while another session has the user's microphone.
    private var isNeeded = true
    /// The silence that has taken the place of a card that is being opened, in frames.
    private var awaited = FrameCount.zero

    init(
        _ input: consuming CaptureInput, closesCard: Bool, _ voice: consuming VoiceProcessor,
        _ talker: consuming EncoderPipeline, _ controls: Controls, _ wakeup: Wakeup,
        packets: consuming RingBufferProducer<OutgoingPacket>, reports: consuming LatestWriter<CaptureReport>,
        failed: @escaping @Sendable (RadioError) -> Void
    ) {
        self.closesCard = closesCard
        self.controls = controls
        self.wakeup = wakeup
        self.input = input
        self.voice = voice
        self.talker = talker
        self.packets = packets
        self.reports = reports
        self.failed = failed
        report.levelHistory = LevelHistory(rate: self.input.format.rate)
        report.rate = self.input.format.rate
    }

    /// Whether `run` may block for ever, because the input is a pipe that delivers nothing.
    var mayHang: Bool { input.mayHang }

    consuming func run(priority: RealTime) {
        report.priority = priority
        input.fit(priority)
        waitForConnection()
        reading: while !controls.stops {
            openOrCloseCard()
            switch input.next() {
            case .captured(let frames, let missed):
                talker.apply(controls.encoderDemand.load(ordering: .relaxed))
                let isOpen = controls.isMicrophoneOpen.load(ordering: .relaxed)
                if take(frames, after: missed, isOpen: isOpen) { wakeup.signal() }
                report.priority = priority.renewed()
                reports.publish(report)
            case .interrupted(let interruption):
                if note(interruption) { wakeup.signal() }
                reports.publish(report)
            case .ended:
                _ = talker.finish(into: packets)
                break reading
            case .failed(let error):
                failed(error)
                break reading
            }
        }
        report.meanSquare = 0
        reports.publish(report)
        // A session that was stopped has ended before its input.
        if !controls.stops { controls.hasInputEnded.store(true, ordering: .releasing) }
        wakeup.signal()
    }

    /// Opens the card while it is needed: while the microphone is open, or always, unless another session has it. A card that cannot be opened within a second is reported as lost.
    private mutating func openOrCloseCard() {
        isNeeded = controls.needsCapture.load(ordering: .relaxed)
        let isWanted = isNeeded && (!closesCard || controls.isMicrophoneOpen.load(ordering: .relaxed))
        input.setOpen(isWanted)
        guard isWanted, input.isCardAwaited else {
            if !isWanted { report.isCardLost = false }
            awaited = .zero
            return
        }
        awaited += FrameCount(input.sound.count / input.format.channelCount)
        if awaited.duration(at: input.format.rate) > .seconds(1) { report.isCardLost = true }
    }

    /// Waits until audio can be delivered, so that the beginning of a file is not lost. A card does not wait, because
    /// its audio is live.
    private func waitForConnection() {
        guard input.granted == nil else { return }
        while !controls.stops, !controls.isConnected.load(ordering: .acquiring) { usleep(5_000) }
    }

    @_noAllocation @_noLocks
    private mutating func take(_ frames: FrameCount, after missed: FrameCount, isOpen: Bool) -> Bool {
        voice.skip(missed)
        if isNeeded { input.process(frames, with: &voice) } else { voice.skip(frames) }
        report.levelAdvice = voice.levelAdvice
        var hasPushed = talker.skip(missed, into: packets)
        let waited = controls.floorWait.load(ordering: .relaxed)
        if talker.take(input.sound, frameCount: frames, isOpen: isOpen, afterWaiting: waited, into: packets) {
            hasPushed = true
        }
        report.meanSquare = talker.meanSquare
        publishLevel()
        Self.follow(input.sound, frames.rawValue, channelCount: input.format.channelCount, with: &report.levelHistory)
        report.overruns = talker.overrunCount
        report.silentChannel = input.silentChannel
        return hasPushed
    }

    /// Publishes the level for VOX, which needs it sooner than the report.
    @_noAllocation @_noLocks
    private func publishLevel() {
        let number = controls.capturedLevel.load(ordering: .relaxed) >> 32 &+ 1
        controls.capturedLevel.store(number << 32 | UInt64(report.meanSquare.bitPattern), ordering: .relaxed)
    }

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private static func follow(
        _ sound: borrowing FixedBuffer<Float>, _ frameCount: Int, channelCount: Int,
        with levelHistory: inout LevelHistory
    ) {
        guard frameCount > 0 else { return }
        levelHistory.append(sound.span(in: 0..<frameCount * channelCount), frameCount: frameCount)
    }

    /// Advances the stream's time by the duration of the audio that the card has missed, so that later audio keeps its
    /// position for listeners.
    @_noAllocation @_noLocks
    private mutating func note(_ interruption: Interruption) -> Bool {
        report.missed += interruption.missed
        switch interruption.cause {
        case .xrun: report.xruns += 1
        case .suspended, .backlog, .resumed: break
        case .lost: report.isCardLost = true
        case .reopened: report.isCardLost = false
        }
        voice.skip(interruption.missed)
        return talker.skip(interruption.missed, into: packets)
    }
}

/// The state of capture, as published by the capture thread.
struct CaptureReport: BitwiseCopyable, Sendable {
    var meanSquare: Float = 0
    var xruns = 0
    /// The number of frames at `rate` that were not captured, or were dropped because too many frames waited.
    var missed = FrameCount(0)
    var rate = SampleRate.opus
    /// The number of packets dropped because the network thread was too slow.
    var overruns = 0
    var isCardLost = false
    var priority = RealTime.notAsked
    /// The channel with digital silence while the other channel of a stereo card has audio; nil if there is none.
    var silentChannel: CaptureChannel?
    /// What the user should change about the microphone's level; nil if it is good.
    var levelAdvice: LevelAdvice?
    /// The levels of the last 3.2 s, whether the microphone is open or not.
    var levelHistory = LevelHistory()
}
