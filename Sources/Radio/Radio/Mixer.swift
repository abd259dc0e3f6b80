internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourOpusCodec
internal import TenfourPackets
internal import TenfourRings

/// All talkers at once: gives each a voice and mixes what they say, on the demand of a card.
///
/// Playback thread. Nothing is allocated after `init`.
struct Mixer: ~Copyable, Sendable {
    static let voiceCount = 8

    /// Of the last pull: that of the talker with the most.
    private(set) var concealment = Concealment()

    /// Packets of talkers beyond the number of voices.
    private var crowdedOut = 0

    private let format: LPCMFormat
    private var voices: InlineArray<8, Voice>
    /// Voices beyond these were never used.
    private var usedCount = 0
    private var clock = CardClock()
    private var scratch: FixedBuffer<Float>
    /// Of all voices together.
    private var budget: DecoderBudget
    private var limiter: Limiter
    /// How much later than the voices the mix is heard.
    private let limiterDelay = FrameCount(Limiter.lookAhead)
    /// Nothing was pulled since the card lost time, or played since it lost sound: what it loses next is the same hole.
    private var isInHole = false
    private var isLosing = false
    /// What is left over when frames of the card's rate are counted at 48 000 Hz, in units of one part in both.
    private var remainder = 0

    /// `longestPull` in frames of the card.
    init(
        format: LPCMFormat, configuration: PlayoutConfiguration, decoding: DecoderConfiguration = .init(),
        longestPull: FrameCount
    ) throws(RadioError) {
        self.format = format
        voices = try InlineArray { (_: Int) throws(RadioError) in
            try Voice(format: format, configuration: configuration, decoding: decoding)
        }
        budget = DecoderBudget(decoding)
        scratch = FixedBuffer(repeating: 0, count: longestPull.rawValue * format.channelCount)
        limiter = Limiter(format: format)
    }

    /// Fills `sound` (interleaved, the card's format) with what is to be heard next. `now` is when the card asked: the
    /// moment the first frame will sound, less the card's usual queue.
    @_noAllocation @_noLocks
    mutating func pull(
        into sound: inout MutableSpan<Float>, at now: Instant, from packets: borrowing RingBufferConsumer<IncomingPacket>
    ) {
        let lost = clock.request(at: now)
        skipAll(lost, missed: lost)
        while takeNext(of: packets) {}

        // The first who talks is heard as is, which nearly always is all there is to mix.
        var soundingCount = 0
        budget.begin(
            atOpusRate(FrameCount(sound.count / format.channelCount)), at: budget.measures ? ThreadTime.processor() : 0)
        concealment = Concealment(ahead: 0, behind: 0)
        for index in 0..<usedCount {
            let before = voices[index].concealment
            let isSounding =
                soundingCount == 0
                ? voices[index].pull(into: &sound, at: clock.position, within: &budget)
                : Self.mix(&voices[index], through: &scratch, into: &sound, at: clock.position, within: &budget)
            if isSounding { soundingCount += 1 }
            let after = voices[index].concealment
            concealment.ahead = max(concealment.ahead, after.ahead - before.ahead)
            concealment.behind = max(concealment.behind, after.behind - before.behind)
        }
        for index in sound.indices where soundingCount == 0 { sound[index] = 0 }
        limiter.process(&sound, isMix: soundingCount > 1)
        clock.advance(by: scaled(sound.count / format.channelCount))
        isInHole = false
    }

    /// The card says that its demands fell behind by so many of its own frames: what would have sounded meanwhile is over.
    /// `missed` frames of it were silent. Without this an underrun too short to be told from a late thread would be heard as
    /// delay, and read from arrivals as jitter.
    @_noAllocation @_noLocks
    mutating func skip(_ behind: FrameCount, missed: FrameCount) {
        let lost = scaled(behind.rawValue)
        clock.lose(lost)
        skipAll(lost, missed: atOpusRate(missed))
    }

    /// The card asks for the same sound later than before (`shift` above zero) or sooner, from the next pull on, by so many of its own frames. What is known of
    /// how packets arrive moves along, so it is not taken for jitter.
    @_noAllocation @_noLocks
    mutating func shiftClock(by shift: FrameCount) {
        guard shift != .zero else { return }
        let frames = atOpusRate(shift)
        clock.shift(by: frames)
        for index in 0..<usedCount { voices[index].shiftArrivals(by: .zero - frames) }
    }

    @_noAllocation @_noLocks
    private mutating func skipAll(_ lost: FrameCount, missed: FrameCount) {
        guard lost > .zero || missed > .zero else { return }
        for index in 0..<usedCount { voices[index].skip(lost, missed: missed, goesOn: isInHole) }
        isInHole = true
    }

    /// Called after each pull: the card did not play so many of its own frames since the last one though they were pulled for it,
    /// because it is gone, or keeps a time of its own.
    @_noAllocation @_noLocks
    mutating func lose(_ frames: FrameCount) {
        guard frames > .zero else {
            isLosing = false
            return
        }
        let lost = atOpusRate(frames)
        for index in 0..<usedCount { voices[index].lose(lost, goesOn: isLosing) }
        isLosing = true
    }

    /// Whether there has been a packet yet.
    var hasHeardAnyone: Bool { @_noAllocation @_noLocks get { usedCount > 0 } }

    /// Says how it goes, in place, as that is large to copy; not at every pull. Mutating, because whoever only reads voices
    /// gets copies of all eight on the stack.
    @_noAllocation @_noLocks
    mutating func tell(_ report: inout MixerReport) {
        report.crowdedOut = crowdedOut
        report.decoder = budget
        for index in 0..<usedCount {
            voices[index].tell(&report.voices[index])
            report.voices[index].playout.delay += limiterDelay
            report.voices[index].playout.target += limiterDelay
        }
    }

    /// Returns whether it sounds.
    @_noAllocation @_noLocks
    private static func mix(
        _ voice: inout Voice, through scratch: inout FixedBuffer<Float>, into sound: inout MutableSpan<Float>,
        at position: FrameCount, within budget: inout DecoderBudget
    ) -> Bool {
        var own = scratch.mutableSpan(in: 0..<sound.count)
        guard voice.pull(into: &own, at: position, within: &budget) else { return false }
        for sample in sound.indices { sound[sample] += own[sample] }
        return true
    }

    /// Vetted: nothing is retained for the closure, which does not outlive the call.
    @_semantics("no_performance_analysis")
    private mutating func takeNext(of packets: borrowing RingBufferConsumer<IncomingPacket>) -> Bool {
        packets.pop { take($0) }
    }

    /// A packet goes to its talker's voice, or to a free one: one that nobody had yet, if there is any, since what it knows
    /// of a talker who is only silent is worth keeping. When all are taken it is dropped and counted.
    @_noAllocation @_noLocks
    private mutating func take(_ packet: borrowing IncomingPacket) {
        var idle: Int?
        for index in 0..<usedCount {
            if voices[index].ssrc == packet.ssrc {
                return voices[index].insert(packet, arrivedAt: clock.position(at: packet.arrival))
            }
            if idle == nil, voices[index].isFree { idle = index }
        }
        guard packet.news == nil else { return }
        guard let free = usedCount < voices.count ? usedCount : idle else {
            crowdedOut += 1
            return
        }
        usedCount = max(usedCount, free + 1)
        voices[free].begin(packet.ssrc)
        voices[free].insert(packet, arrivedAt: clock.position(at: packet.arrival))
    }

    /// Frames of the card's rate at 48 000 Hz, to the frame below.
    @_noAllocation @_noLocks
    private func atOpusRate(_ frames: FrameCount) -> FrameCount {
        FrameCount(frames.rawValue * SampleRate.opus.hertz / format.rate.hertz)
    }

    /// Frames of the card's rate at 48 000 Hz. What is left over is counted with the next.
    @_noAllocation @_noLocks
    private mutating func scaled(_ frames: Int) -> FrameCount {
        let scaled = frames * SampleRate.opus.hertz + remainder
        remainder = scaled % format.rate.hertz
        return FrameCount(scaled / format.rate.hertz)
    }
}

/// How listening goes, as the playback thread last left it.
struct MixerReport: BitwiseCopyable, Sendable {
    var voices = InlineArray<8, VoiceReport>(repeating: VoiceReport())
    /// Packets of talkers beyond the number of voices.
    var crowdedOut = 0
    /// What the decoders use at this time.
    var decoder = DecoderBudget(DecoderConfiguration(.plain))
}

struct VoiceReport: BitwiseCopyable, Sendable {
    var ssrc = SSRC(0)
    /// It belongs, or belonged last, to a talker.
    var isUsed = false
    /// Sound of theirs plays or waits to.
    var isHeard = false
    var meanSquare: Float = 0
    var playout = PlayoutStatistics()
}
