public import TenfourAudioCore
public import TenfourPackets
public import TenfourResampling

/// The jitter buffer of one talker: `insert` packets as they arrive, `pull` audio when the card requests it.
///
/// It has the parts of NetEq: a queue, estimates of delay and drift, a target delay, and a decision for each piece
/// of audio (`PlayoutController`). The sync buffer at 48 000 Hz is where audio is decoded, recovered, concealed,
/// cross-faded, time-scaled and resampled. The decoder belongs to the caller and is lent to each `pull`.
///
/// Positions count frames at 48 000 Hz that the card has requested. Use it on the playback thread only. Nothing is
/// allocated after `init`.
public struct JitterBuffer: ~Copyable, Sendable {
    /// The SSRC of the talker; nil before the first talker.
    public private(set) var ssrc: SSRC?
    /// The mean square of the audio of the last pull.
    public private(set) var meanSquare: Float = 0

    @usableFromInline var controller: PlayoutController
    @usableFromInline var syncBuffer: SyncBuffer
    private let channelCount: Int
    private let cardRate: Int
    private var resampler: RateConverter
    private var timeScaler: TimeScaler
    private var timeScaling = TimeScaleDecision()
    private var speechLevel = SpeechLevel()
    private var concealedByModel = FrameCount.zero
    private var needsDecoderReset = false
    private var noise = ComfortNoiseGenerator(seed: 0)
    private var step = PullStep.play
    private var request = PullRequest()

    /// The next step of a pull after a decoder call.
    private enum PullStep: BitwiseCopyable {
        /// Replaces concealed audio that has not been played with the audio of the packet that ended the underrun.
        case endUnderrun
        /// Plays the audio that waits, and decides on the next operation when no audio is left.
        case play
        /// Time-scales the audio of the packet that was decoded for `position`.
        case scale(at: FrameCount)
        /// Decodes further packets until one pitch period, at most `limit` long, can be removed.
        case lookAhead(at: FrameCount, limit: FrameCount)
    }

    /// The progress of a pull.
    private struct PullRequest: BitwiseCopyable {
        var position = FrameCount.zero
        /// The number of frames to produce, at the card's rate.
        var wanted = 0
        /// The number of frames produced so far, at the card's rate.
        var produced = 0
    }

    /// Creates a jitter buffer without a talker. `format` is the card's audio format.
    public init(format: LPCMFormat, configuration: PlayoutConfiguration = .init()) throws(RateConverterError) {
        resampler = try RateConverter(from: .opus, to: format.rate, channelCount: format.channelCount)
        channelCount = format.channelCount
        cardRate = format.rate.hertz
        controller = PlayoutController(configuration: configuration)
        syncBuffer = SyncBuffer(channelCount: format.channelCount)
        timeScaler = TimeScaler(channelCount: format.channelCount)
    }

    /// Whether nothing but comfort noise is playing or queued, so that another talker may use this buffer.
    public var isIdle: Bool {
        @_noAllocation @_noLocks get {
            ssrc == nil || (controller.isIdle && (syncBuffer.count == 0 || playsNoise))
        }
    }

    /// Whether the present silence is filled with comfort noise.
    var playsNoise: Bool { @_noAllocation @_noLocks get { controller.isNoisyPause && noise.isValid } }

    /// The playout delay: the card's position at which a frame is played, less the frame's position in the talker's
    /// time. Only differences of delays have a meaning.
    public var playoutDelay: FrameCount { @_noAllocation @_noLocks get { controller.playoutDelay } }

    /// Counts of the talker's audio since `begin`.
    public var statistics: PlayoutStatistics {
        @_noAllocation @_noLocks get {
            var statistics = controller.statistics
            statistics.concealedByModel = min(concealedByModel, statistics.concealed)
            return statistics
        }
    }

    /// Empties the buffer, which then belongs to the talker `ssrc`.
    @_noAllocation @_noLocks
    public mutating func begin(_ ssrc: SSRC) {
        self.ssrc = ssrc
        controller.reset()
        syncBuffer.removeAll()
        timeScaling = TimeScaleDecision()
        speechLevel = SpeechLevel()
        concealedByModel = .zero
        needsDecoderReset = true
        noise = ComfortNoiseGenerator(seed: ssrc.rawValue)
    }

    /// Inserts a packet that arrived when the card had requested `arrival` frames.
    @_noAllocation @_noLocks @discardableResult
    public mutating func insert(_ payload: Span<UInt8>, _ packet: PacketInfo, arrivedAt arrival: FrameCount) -> Arrival
    {
        controller.insert(payload, packet, arrivedAt: arrival)
    }

    /// Plays this noise in the pause after the audio with the number `begin`, until later audio is played, the talker has
    /// left, or for 60 s.
    @_noAllocation @_noLocks
    public mutating func setComfortNoise(_ noise: ComfortNoise, after begin: SequenceNumber) {
        if controller.beginPause(after: begin) { self.noise.set(noise) }
    }

    /// Ends comfort noise, because no packet follows.
    package mutating func endComfortNoise() { controller.pause.end() }

    /// Records that the talker has left: playout waits for no further packet.
    @_noAllocation @_noLocks
    public mutating func end() { controller.end() }

    /// Sets the delay that copies and retransmissions need, until the next call or `begin`.
    @_noAllocation @_noLocks
    public mutating func setRecoveryDemand(_ demand: RecoveryDemand) { controller.setRecoveryDemand(demand) }

    /// Skips the audio that was due in `frames` of time that the card has lost. The card was silent for `missed`
    /// frames; default: `frames`. `goesOn` is true if this loss and the last one are one dropout.
    @_noAllocation @_noLocks
    public mutating func skip(_ frames: FrameCount, missed: FrameCount? = nil, goesOn: Bool = false) {
        controller.skip(frames, missed: missed, goesOn: goesOn)
    }

    /// Adds `frames` to the measured delays. The card's clock was adjusted, and the positions of later arrivals are
    /// greater by this number.
    @_noAllocation @_noLocks
    public mutating func shiftArrivals(by frames: FrameCount) { controller.shiftArrivals(by: frames) }

    /// Records that the card does not play `frames` of the pulled audio. `goesOn` is true if this loss and the last one
    /// are one dropout.
    @_noAllocation @_noLocks
    public mutating func recordUnplayed(_ frames: FrameCount, goesOn: Bool = false) {
        controller.recordUnplayed(frames, goesOn: goesOn)
    }

    /// Fills `output` (interleaved, at the card's rate) with the audio due from `position` on, decoding with `decoder`.
    /// Returns false if the audio is silence; `output` is then unchanged.
    ///
    /// Generic, so that the compiler knows the decoder's code: a caller that is marked `@_noAllocation @_noLocks`
    /// compiles only with a decoder that neither allocates nor locks.
    @inlinable
    public mutating func pull<Decoder: AudioDecoder & ~Copyable>(
        into output: inout MutableSpan<Float>, at position: FrameCount, with decoder: inout Decoder
    ) -> Bool {
        guard beginPull(output.count, at: position) else { return false }
        if takeDecoderReset() { decoder.reset() }
        while let call = nextCall(into: &output) {
            finish(call, Self.perform(call, of: controller, into: &syncBuffer, with: &decoder))
        }
        return true
    }

    // MARK: - The steps of a pull

    /// Starts a pull of the audio due from `position` on. `sampleCount` includes the samples of all channels. Returns
    /// false if nothing is playing or queued.
    @usableFromInline @_noAllocation @_noLocks
    mutating func beginPull(_ sampleCount: Int, at position: FrameCount) -> Bool {
        guard !isIdle || playsNoise else {
            meanSquare = 0
            return false
        }
        controller.recordRequest(from: position)
        resampler.correct(by: controller.ratePartsPerMillion)
        request = PullRequest(position: position, wanted: sampleCount / channelCount)
        step = controller.hasEndedUnderrun ? .endUnderrun : .play
        return true
    }

    /// Whether the decoder must be reset, because its state belongs to another talker.
    @usableFromInline @_noAllocation @_noLocks
    mutating func takeDecoderReset() -> Bool {
        defer { needsDecoderReset = false }
        return needsDecoderReset
    }

    /// Plays until a decoder call is needed, and returns that call; nil when `output` is full.
    @usableFromInline @_noAllocation @_noLocks
    mutating func nextCall(into output: inout MutableSpan<Float>) -> DecoderCall? {
        while true {
            switch step {
            case .endUnderrun:
                step = .play
                let concealed = syncBuffer.count
                controller.discardConcealment(FrameCount(concealed))
                let operation = controller.nextOperation(at: request.position, wanting: .zero)
                if let call = begin(operation, replacing: concealed) { return call }
            case .play:
                guard request.produced < request.wanted else { return nil }
                guard syncBuffer.count == 0 else {
                    request.produced += syncBuffer.play(through: &resampler, into: &output, behind: request.produced)
                    continue
                }
                let position = request.position + atOpusRate(request.produced)
                let operation = controller.nextOperation(
                    at: position, wanting: atOpusRate(request.wanted - request.produced))
                step = .scale(at: position)
                if let call = begin(operation) { return call }
                step = .play
            case .scale(let position):
                scale(at: position)
            case .lookAhead(let position, let limit):
                if FrameCount(syncBuffer.count) < TimeScaler.reach, controller.hasDuePacket {
                    let operation = controller.nextOperation(
                        at: position + FrameCount(syncBuffer.count), wanting: .zero)
                    if let call = begin(operation) { return call }
                } else {
                    recordScaling(syncBuffer.shorten(with: &timeScaler, atMost: limit, timeScaling))
                    step = .play
                }
            }
        }
    }

    /// Starts an operation. Silence is appended here; for any other operation the decoder call is returned. A decoded
    /// packet replaces the last `replaced` frames that wait.
    private mutating func begin(_ operation: PlayoutOperation, replacing replaced: Int = 0) -> DecoderCall? {
        let before = syncBuffer.count
        syncBuffer.makeSpace()
        switch operation {
        case .silence(let frames):
            syncBuffer.appendSilence(frames)
            meanSquare = syncBuffer.meanSquare(ofLast: FrameCount(syncBuffer.count - before))
            if playsNoise { syncBuffer.addNoise(&noise, toLast: syncBuffer.count - before) }
            return nil
        case .decode(let packet, let skipping):
            return DecoderCall(
                .decode, packet, packet.frameCount, skipping: skipping, replaced: replaced, place: syncBuffer.end)
        case .recover(let frames, let packet):
            return DecoderCall(.recover, packet, frames, replaced: replaced, place: syncBuffer.end)
        case .conceal(let frames):
            return DecoderCall(.conceal, .none, frames, replaced: replaced, place: syncBuffer.end)
        }
    }

    /// Appends the audio that the decoder has produced; silence if the decoder rejected the packet as invalid.
    @usableFromInline @_noAllocation @_noLocks
    mutating func finish(_ call: DecoderCall, _ result: DecoderCall.Result) {
        let before = syncBuffer.count - call.replaced
        if let frames = result.frames, frames > .zero {
            syncBuffer.append(frames)
            if result.isByModel { concealedByModel += frames }
        } else {
            syncBuffer.appendSilence(call.frameCount)
        }
        guard case .decode = call.kind else {
            meanSquare = syncBuffer.meanSquare(ofLast: FrameCount(max(syncBuffer.count - before, 0)))
            if case .scale = step { step = .play }
            return
        }
        let kept = syncBuffer.join(call.place, skipping: call.skipping, replacing: call.replaced)
        controller.keepConcealment(kept)
        let frames = FrameCount(max(syncBuffer.count - before, 0))
        meanSquare = syncBuffer.meanSquare(ofLast: frames)
        timeScaling.record(frames, meanSquare: meanSquare)
        if speechLevel.isLoudSpeech(meanSquare), call.packet.origin.isOriginal { controller.recordSpeech(call.packet) }
    }

    /// Time-scales the decoded audio if the delay differs from the target delay.
    private mutating func scale(at position: FrameCount) {
        let change = timeScaling.change(
            for: controller.delayError, includesRecovery: controller.includesRecovery,
            hasBegunLate: controller.hasBegunLate)
        step = change > .zero ? .lookAhead(at: position, limit: change) : .play
        guard change < .zero else { return }
        recordScaling(syncBuffer.lengthen(with: &timeScaler, atMost: .zero - change, timeScaling))
    }

    private mutating func recordScaling(_ frames: FrameCount) {
        timeScaling.use(frames)
        controller.recordTimeScaling(of: frames)
    }

    /// Converts frames of the card to 48 000 Hz, rounded up, so that one frame of the card does not become zero.
    private func atOpusRate(_ frames: Int) -> FrameCount {
        FrameCount((frames * SampleRate.opus.hertz + cardRate - 1) / cardRate)
    }
}
