public import TenfourAudioCore
public import TenfourPackets
public import TenfourResampling

/// Mixes up to eight talkers: each gets a jitter buffer, and a limiter keeps the sum within full scale.
///
/// For each request of the card call `request`, then `insert` for the packets that have arrived, then `pull`.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
public struct Mixer: ~Copyable, Sendable {
    /// The number of talkers who can be heard at the same time. `MultiStreamDecoder.select` numbers their streams from
    /// 0 to 7.
    public static var streamCount: Int { 8 }

    /// The audio that was concealed in the last pull. Each of its counts is that of the talker with the largest count.
    public private(set) var concealment = Concealment()

    @usableFromInline var buffers: InlineArray<8, JitterBuffer>
    /// The number of buffers that have ever been used: the first `usedCount` elements of `buffers`.
    @usableFromInline private(set) var usedCount = 0
    @usableFromInline var scratch: FixedBuffer<Float>
    @usableFromInline let format: LPCMFormat
    private var volumes = TalkerVolumeTable()
    private var clock = CardClock()
    private var limiter: Limiter
    /// The delay that the limiter adds, in frames at 48 000 Hz.
    private let limiterDelay = FrameCount(Limiter.lookAhead)
    /// The number of packets dropped because no buffer was free for their talker.
    private var crowdedOutCount = 0
    /// For each buffer, the number of packets of its talker, up to `provenCount`, and the arrival of the latest one.
    private var arrivals = InlineArray<8, (count: Int, latest: Instant)>(repeating: (0, .start))
    /// The number of packets from which a talker keeps its buffer until it is idle.
    private let provenCount = 10
    /// The time in nanoseconds without a packet after which another talker may get the buffer of one that has sent fewer packets. Anyone who
    /// can send packets can invent talkers.
    private let longestProvingPause: Int64 = 150_000_000
    /// Whether no audio was pulled since the card last lost time. The next lost time then belongs to the same dropout.
    private var isSkipping = false
    /// Whether the card left some audio of the last pull unplayed. If it leaves audio of the next pull unplayed, too,
    /// both belong to the same dropout.
    private var isLosing = false
    /// The remainder of the last conversion of frames of the card to 48 000 Hz, in units of 1 / (48 000 · card's rate)
    /// s.
    private var remainder = 0

    /// Concealed audio, in frames at 48 000 Hz.
    public struct Concealment: BitwiseCopyable, Sendable {
        /// The number of frames that the pull concealed. Some of them may be heard only after the pull.
        public var ahead = 0
        /// The number of frames that were heard before the pull and count as concealed only now. A packet has shown
        /// that the talker did not pause.
        public var behind = 0

        @_noAllocation @_noLocks
        public init() {}
    }

    /// Creates a mixer without talkers. `format` is the card's format; `longestPull` is in frames of the card.
    public init(
        format: LPCMFormat, configuration: PlayoutConfiguration, longestPull: FrameCount
    ) throws(RateConverterError) {
        self.format = format
        buffers = try InlineArray { (_: Int) throws(RateConverterError) in
            try JitterBuffer(format: format, configuration: configuration)
        }
        scratch = FixedBuffer(repeating: 0, count: longestPull.rawValue * format.channelCount)
        limiter = Limiter(format: format)
    }

    /// Whether any talker's packet has arrived yet.
    public var hasHeardAnyone: Bool { @_noAllocation @_noLocks get { usedCount > 0 } }

    /// Records that the card requests audio. `now` is the time at which the first frame of the request will be heard,
    /// less the usual delay of the card's queue.
    @_noAllocation @_noLocks
    public mutating func request(at now: Instant) {
        let lost = clock.request(at: now)
        skipAll(lost, missed: lost)
    }

    /// Inserts a packet of the talker `ssrc`. A new talker gets a buffer that was never used, if there is one. A silent
    /// talker thus keeps the measured delays for the next talkspurt. If no buffer is free, the packet is dropped and
    /// counted.
    @_noAllocation @_noLocks
    public mutating func insert(
        _ payload: Span<UInt8>, _ packet: PacketInfo, from ssrc: SSRC, arrivedAt arrival: Instant
    ) {
        guard let index = index(for: ssrc, at: arrival) else {
            crowdedOutCount += 1
            return
        }
        arrivals[index] = (min(arrivals[index].count + 1, provenCount), arrival)
        buffers[index].insert(payload, packet, arrivedAt: clock.position(at: arrival))
    }

    /// Records that the talker `ssrc` has left.
    @_noAllocation @_noLocks
    public mutating func end(_ ssrc: SSRC) {
        if let index = index(of: ssrc) { buffers[index].end() }
    }

    /// Sets the delay that copies and retransmissions of the talker `ssrc` need. The setting is lost when another
    /// talker gets the buffer, so call this repeatedly.
    @_noAllocation @_noLocks
    public mutating func setRecoveryDemand(_ demand: RecoveryDemand, of ssrc: SSRC) {
        if let index = index(of: ssrc) { buffers[index].setRecoveryDemand(demand) }
    }

    /// Sets the noise of the pause of the talker `ssrc` after the audio with the number `begin`.
    @_noAllocation @_noLocks
    public mutating func setComfortNoise(_ noise: ComfortNoise, after begin: SequenceNumber, of ssrc: SSRC) {
        if let index = index(of: ssrc) { buffers[index].setComfortNoise(noise, after: begin) }
    }

    /// The number of talkers who can have a volume.
    public static var volumeCapacity: Int { 16 }

    /// Sets the volume of the talker `ssrc`, a factor of the amplitude. Changes with the next pull. If `volumeCapacity`
    /// talkers have a volume, nothing is set.
    @_noAllocation @_noLocks
    public mutating func setVolume(_ volume: Float, of ssrc: SSRC) { volumes.set(volume, of: ssrc) }

    /// Resets the volumes of all talkers to 1.
    @_noAllocation @_noLocks
    public mutating func removeVolumes() { volumes.removeAll() }

    /// Fills `output` (interleaved, the card's format) with the mix of the audio that is due.
    @inlinable
    public mutating func pull<Decoder: MultiStreamDecoder & ~Copyable>(
        into output: inout MutableSpan<Float>, with decoder: inout Decoder
    ) {
        beginPull()
        let position = position
        // Pulls the first talker directly into `output`: a single talker needs no mixing, and there is seldom more than
        // one.
        var talkerCount = 0
        for index in 0..<usedCount {
            decoder.select(stream: index)
            let before = concealment(of: index)
            let gain = gain(of: index)
            if talkerCount == 0 {
                if buffers[index].pull(into: &output, at: position, with: &decoder) {
                    gain.apply(to: &output, channelCount: format.channelCount)
                    talkerCount += 1
                }
            } else {
                if Self.mix(
                    &buffers[index], through: &scratch, into: &output, gain, format.channelCount, at: position,
                    with: &decoder)
                {
                    talkerCount += 1
                }
            }
            recordConcealment(of: index, since: before)
        }
        finishPull(&output, talkerCount: talkerCount)
    }

    /// Adds the audio of `buffer` to `output`. Returns false if the audio is silence.
    @inlinable
    static func mix<Decoder: AudioDecoder & ~Copyable>(
        _ buffer: inout JitterBuffer, through scratch: inout FixedBuffer<Float>, into output: inout MutableSpan<Float>,
        _ gain: TalkerVolumeTable.Gain, _ channelCount: Int, at position: FrameCount, with decoder: inout Decoder
    ) -> Bool {
        var own = scratch.mutableSpan(in: 0..<output.count)
        guard buffer.pull(into: &own, at: position, with: &decoder) else { return false }
        gain.apply(to: &own, channelCount: channelCount)
        for index in output.indices { output[index] += own[index] }
        return true
    }

    /// Skips the audio that was due while the card stood still. Call this for an underrun that is too short to be
    /// detected from a late request. Without this call, the underrun would count as jitter and increase the delay.
    ///
    /// `missed` is the duration of the silence that the listener heard. `frames` is the duration by which the silence
    /// would increase the delay. If the card's queue holds more audio than before the underrun, `frames` is shorter
    /// than `missed` by the difference. Both are in frames at the card's rate.
    @_noAllocation @_noLocks
    public mutating func skip(_ frames: FrameCount, missed: FrameCount) {
        let lost = scaled(frames.rawValue)
        clock.recordLoss(lost)
        skipAll(lost, missed: atOpusRate(missed))
    }

    /// Moves the expected time of all later requests by `shift` frames of the card: later if `shift` is positive,
    /// earlier if it is negative. Measured arrivals are shifted too, so that the change does not count as jitter.
    @_noAllocation @_noLocks
    public mutating func shiftClock(by shift: FrameCount) {
        guard shift != .zero else { return }
        let frames = atOpusRate(shift)
        clock.shift(by: frames)
        for index in 0..<usedCount { buffers[index].shiftArrivals(by: .zero - frames) }
    }

    /// Records that the card did not play `frames` (at the card's rate) of the audio pulled since the last call. The
    /// card is gone, or its clock deviates. Call this after each pull.
    @_noAllocation @_noLocks
    public mutating func recordUnplayed(_ frames: FrameCount) {
        guard frames > .zero else {
            isLosing = false
            return
        }
        let lost = atOpusRate(frames)
        for index in 0..<usedCount { buffers[index].recordUnplayed(lost, goesOn: isLosing) }
        isLosing = true
    }

    /// Copies the present state into `report`, which is too large to return. Mutating, because reading the buffers
    /// would copy all eight onto the stack.
    @_noAllocation @_noLocks
    public mutating func write(to report: inout MixerReport) {
        report.crowdedOutCount = crowdedOutCount
        for index in 0..<usedCount {
            buffers[index].write(to: &report.talkers[index])
            report.talkers[index].playout.delay += limiterDelay
            report.talkers[index].playout.target += limiterDelay
        }
    }

    // MARK: - The steps of a pull

    @usableFromInline
    var position: FrameCount { @_noAllocation @_noLocks get { clock.position } }

    @usableFromInline @_noAllocation @_noLocks
    mutating func beginPull() { concealment = Concealment() }

    @usableFromInline @_noAllocation @_noLocks
    mutating func gain(of index: Int) -> TalkerVolumeTable.Gain {
        volumes.next(index, of: buffers[index].ssrc, isIdle: buffers[index].isIdle && !buffers[index].playsNoise)
    }

    @usableFromInline @_noAllocation @_noLocks
    mutating func finishPull(_ output: inout MutableSpan<Float>, talkerCount: Int) {
        for index in output.indices where talkerCount == 0 { output[index] = 0 }
        limiter.process(&output, isMix: talkerCount > 1)
        clock.advance(by: scaled(output.count / format.channelCount))
        isSkipping = false
    }

    @usableFromInline @_noAllocation @_noLocks
    mutating func concealment(of index: Int) -> Concealment { buffers[index].concealment }

    @usableFromInline @_noAllocation @_noLocks
    mutating func recordConcealment(of index: Int, since before: Concealment) {
        let now = buffers[index].concealment
        concealment.ahead = max(concealment.ahead, now.ahead - before.ahead)
        concealment.behind = max(concealment.behind, now.behind - before.behind)
    }

    private mutating func skipAll(_ lost: FrameCount, missed: FrameCount) {
        guard lost > .zero || missed > .zero else { return }
        for index in 0..<usedCount { buffers[index].skip(lost, missed: missed, goesOn: isSkipping) }
        isSkipping = true
    }

    private mutating func index(of ssrc: SSRC) -> Int? {
        for index in 0..<usedCount where buffers[index].ssrc == ssrc { return index }
        return nil
    }

    /// Returns the index of the buffer that belongs to `ssrc`, or assigns a free buffer to it; nil if all buffers are
    /// in use.
    private mutating func index(for ssrc: SSRC, at arrival: Instant) -> Int? {
        if let index = index(of: ssrc) { return index }
        var free: Int? = usedCount < buffers.count ? usedCount : nil
        for index in 0..<usedCount where free == nil && buffers[index].isIdle && !buffers[index].playsNoise {
            free = index
        }
        for index in 0..<usedCount where free == nil && buffers[index].isIdle { free = index }
        for index in 0..<usedCount where free == nil && arrivals[index].count < provenCount {
            if arrival.nanoseconds - arrivals[index].latest.nanoseconds > longestProvingPause { free = index }
        }
        guard let free else { return nil }
        usedCount = max(usedCount, free + 1)
        buffers[free].begin(ssrc)
        arrivals[free] = (0, arrival)
        return free
    }

    /// Converts frames of the card to 48 000 Hz, rounded down.
    private func atOpusRate(_ frames: FrameCount) -> FrameCount {
        FrameCount(frames.rawValue * SampleRate.opus.hertz / format.rate.hertz)
    }

    /// Converts frames of the card to 48 000 Hz. The remainder is kept and added at the next call.
    private mutating func scaled(_ frames: Int) -> FrameCount {
        let scaled = frames * SampleRate.opus.hertz + remainder
        remainder = scaled % format.rate.hertz
        return FrameCount(scaled / format.rate.hertz)
    }
}
