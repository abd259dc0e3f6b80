internal import Handoff
internal import Playout
internal import RTP
internal import Sound

/// All talkers at once: gives each a voice and mixes what they say, on the demand of a card.
///
/// Playback thread. Nothing is allocated after `init`.
struct Listener: ~Copyable, Sendable {
    static let voiceCount = 8

    private(set) var report = ListenerReport()

    private let format: LPCMFormat
    private var voices: InlineArray<8, Voice>
    private var clock = CardClock()
    private var incoming = IncomingPacket()
    private var scratch: Preallocated<Float>
    /// What is left over when frames of the card's rate are counted at 48 000 Hz, in units of one part in both.
    private var remainder = 0

    /// `longestPull` in frames of the card.
    init(format: LPCMFormat, configuration: PlayoutConfiguration, longestPull: FrameCount) throws(RadioError) {
        self.format = format
        voices = try InlineArray { (_: Int) throws(RadioError) in
            try Voice(format: format, configuration: configuration)
        }
        scratch = Preallocated(repeating: 0, count: longestPull.rawValue * format.channelCount)
    }

    /// Fills `sound` (interleaved, the card's format) with what is to be heard next. `now` is when the card asked: the
    /// moment the first frame will sound, less the card's usual queue.
    @_noAllocation @_noLocks
    mutating func pull(
        into sound: inout MutableSpan<Float>, at now: Instant, from packets: borrowing HandoffConsumer<IncomingPacket>
    ) {
        let lost = clock.request(at: now)
        for index in voices.indices where lost > .zero { voices[index].skip(lost) }
        while packets.pop(into: &incoming) { take() }

        for index in sound.indices { sound[index] = 0 }
        for index in voices.indices {
            Self.mix(&voices[index], through: &scratch, into: &sound, at: clock.position)
        }
        advance(by: sound.count / format.channelCount)
        update()
    }

    @_noAllocation @_noLocks
    private static func mix(
        _ voice: inout Voice, through scratch: inout Preallocated<Float>, into sound: inout MutableSpan<Float>,
        at position: FrameCount
    ) {
        var own = scratch.mutableSpan(in: 0..<sound.count)
        guard voice.pull(into: &own, at: position) else { return }
        for sample in sound.indices { sound[sample] += own[sample] }
    }

    /// A packet goes to its talker's voice, or to a free one: one that nobody had yet, if there is any, since what it knows
    /// of a talker who is only silent is worth keeping. When all are taken it is dropped and counted.
    @_noAllocation @_noLocks
    private mutating func take() {
        var (unused, idle): (Int?, Int?)
        for index in voices.indices {
            if voices[index].ssrc == incoming.ssrc {
                return voices[index].insert(incoming, arrivedAt: clock.position(at: incoming.arrival))
            }
            if unused == nil, voices[index].ssrc == nil { unused = index }
            if idle == nil, voices[index].isFree { idle = index }
        }
        guard !incoming.isGoodbye else { return }
        guard let free = unused ?? idle else {
            report.crowdedOut += 1
            return
        }
        voices[free].begin(incoming.ssrc)
        voices[free].insert(incoming, arrivedAt: clock.position(at: incoming.arrival))
    }

    @_noAllocation @_noLocks
    private mutating func advance(by frames: Int) {
        let scaled = frames * SampleRate.opus.hertz + remainder
        remainder = scaled % format.rate.hertz
        clock.advance(by: FrameCount(scaled / format.rate.hertz))
    }

    @_noAllocation @_noLocks
    private mutating func update() {
        for index in voices.indices {
            report.voices[index] = VoiceReport(
                ssrc: voices[index].ssrc ?? SSRC(0), isUsed: voices[index].ssrc != nil, isHeard: !voices[index].isFree,
                meanSquare: voices[index].meanSquare, playout: voices[index].lane.statistics)
        }
    }
}

/// How listening goes, as the playback thread last left it.
struct ListenerReport: BitwiseCopyable, Sendable {
    var voices = InlineArray<8, VoiceReport>(repeating: VoiceReport())
    /// Packets of talkers beyond the number of voices.
    var crowdedOut = 0
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
