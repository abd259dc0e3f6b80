package import TenfourAudioCore
package import TenfourJitterBuffer
internal import TenfourOpusCodec
package import TenfourPackets
internal import TenfourResampling

/// One talker's way from packets to sound: the lane decides, and this performs with a decoder and a resampler.
///
/// Playback thread. Nothing is allocated after `init`.
package struct Voice: ~Copyable, Sendable {
    package private(set) var ssrc: SSRC?
    package private(set) var lane: PlayoutLane
    /// The mean square of the sound made last, for the level.
    private(set) var meanSquare: Float = 0

    private let channelCount: Int
    private let cardRate: Int
    private var decoder: VoiceDecoder
    private var converter: RateConverter
    private var decoded: DecodedSound
    private var stretch: TimeScaler
    private var tempo = TimeScaleDecision()
    /// The mean square of the loudest packet.
    private var loudest: Float = 0

    /// `format` is the card's.
    package init(
        format: LPCMFormat, configuration: PlayoutConfiguration, decoding: DecoderConfiguration = .init()
    ) throws(RadioError) {
        let decoder = try VoiceDecoder(channelCount: format.channelCount, configuration: decoding)
        let converter = try Self.converter(to: format)
        self.decoder = decoder
        self.converter = converter
        channelCount = format.channelCount
        cardRate = format.rate.hertz
        lane = PlayoutLane(configuration: configuration)
        decoded = DecodedSound(channelCount: format.channelCount)
        stretch = TimeScaler(channelCount: format.channelCount)
    }

    /// Whether another talker may have this voice.
    var isFree: Bool { @_noAllocation @_noLocks get { ssrc == nil || (lane.isIdle && decoded.count == 0) } }

    @_noAllocation @_noLocks
    package mutating func begin(_ ssrc: SSRC) {
        self.ssrc = ssrc
        lane.reset()
        decoder.reset()
        decoded.removeAll()
        tempo = TimeScaleDecision()
        loudest = 0
    }

    @_noAllocation @_noLocks
    package mutating func setRepair(_ needs: RecoveryDemand) { lane.setRepair(needs) }

    @_noAllocation @_noLocks
    package mutating func insert(_ packet: borrowing IncomingPacket, arrivedAt arrival: FrameCount) {
        switch packet.news {
        case .goodbye: lane.end()
        case .repair(let needs): setRepair(needs)
        case nil: insertPayload(of: packet, arrivedAt: arrival)
        }
    }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private mutating func insertPayload(of packet: borrowing IncomingPacket, arrivedAt arrival: FrameCount) {
        _ = lane.insert(
            packet.packet.payload, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
            frameCount: packet.frameCount, carriesFEC: packet.carriesFEC, origin: packet.origin, arrivedAt: arrival)
    }

    @_noAllocation @_noLocks
    mutating func skip(_ frames: FrameCount, missed: FrameCount, goesOn: Bool) {
        lane.skip(frames, missed: missed, goesOn: goesOn)
    }

    @_noAllocation @_noLocks
    mutating func shiftArrivals(by frames: FrameCount) { lane.shiftArrivals(by: frames) }

    @_noAllocation @_noLocks
    mutating func lose(_ frames: FrameCount, goesOn: Bool) { lane.lose(frames, goesOn: goesOn) }

    /// As `pull(into:at:)`, within a budget that all voices share.
    @_noAllocation @_noLocks
    mutating func pull(
        into sound: inout MutableSpan<Float>, at position: FrameCount, within budget: inout DecoderBudget
    ) -> Bool {
        decoder.budget = budget
        let isSounding = pull(into: &sound, at: position)
        budget = decoder.budget
        return isSounding
    }

    /// Fills `sound` (interleaved, at the card's rate) with what is due from `position` on. False when that is silence,
    /// and `sound` was left as it was.
    @_noAllocation @_noLocks
    package mutating func pull(into sound: inout MutableSpan<Float>, at position: FrameCount) -> Bool {
        guard !isFree else {
            meanSquare = 0
            return false
        }
        lane.ask(from: position)
        converter.correct(by: lane.ratePartsPerMillion)
        let wanted = sound.count / channelCount
        if lane.hasEndedWait { endWait(at: position) }
        var produced = 0
        while produced < wanted {
            if decoded.count == 0 {
                decode(at: position + atOpusRate(produced), wanting: atOpusRate(wanted - produced))
            }
            produced += decoded.play(through: &converter, into: &sound, behind: produced)
        }
        return true
    }

    /// Frames of the card's at 48 000 Hz, to the frame above: of any there is at least one.
    @_noAllocation @_noLocks
    private func atOpusRate(_ frames: Int) -> FrameCount {
        FrameCount((frames * SampleRate.opus.hertz + cardRate - 1) / cardRate)
    }

    /// Performs what the lane says comes next, and bends it where the depth is not what it should be.
    @_noAllocation @_noLocks
    private mutating func decode(at position: FrameCount, wanting wanted: FrameCount) {
        guard append(at: position, wanting: wanted) else { return }
        let change = tempo.change(for: lane.excess, isRepairing: lane.isRepairing)
        if change > .zero {
            shorten(at: position, atMost: change)
        } else if change < .zero {
            note(decoded.lengthen(with: &stretch, atMost: .zero - change, in: tempo))
        }
    }

    /// Puts what the lane says comes next behind what waits, in the place of the last `replaced` frames of it. Returns
    /// whether it was a packet.
    @_noAllocation @_noLocks
    private mutating func append(at position: FrameCount, wanting wanted: FrameCount, replacing replaced: Int = 0)
        -> Bool
    {
        let before = decoded.count - replaced
        let operation = lane.next(at: position, wanting: wanted)
        decoded.append(operation, with: &decoder, from: lane, replacing: replaced)
        let frames = FrameCount(max(decoded.count - before, 0))
        meanSquare = decoded.meanSquare(ofLast: frames)
        guard case .decode(let entry, _) = operation else { return false }
        tempo.hear(frames, meanSquare: meanSquare)
        noteRate(of: entry)
        return true
    }

    /// How many bits speech is coded with is told by its loud packets.
    @_noAllocation @_noLocks
    private mutating func noteRate(of entry: PacketQueue.Entry) {
        loudest = max(meanSquare, loudest * Self.fading)
        guard entry.origin == .original, meanSquare >= max(loudest * Self.loudShare, Self.quietest) else { return }
        lane.spoke(entry)
    }

    /// 15 dB below the loudest is loud, and below −45 dBFS nobody speaks.
    private static var loudShare: Float { 0.03 }
    private static var quietest: Float { 3e-5 }
    /// Of the loudest with each packet: by half in some ten minutes.
    private static var fading: Float { 0.999_98 }

    /// What is too much lies in the queue, so there is more to decode where one packet is too short to cut a period from.
    @_noAllocation @_noLocks
    private mutating func shorten(at position: FrameCount, atMost limit: FrameCount) {
        while FrameCount(decoded.count) < TimeScaler.reach, lane.hasSound {
            _ = append(at: position + FrameCount(decoded.count), wanting: .zero)
        }
        note(decoded.shorten(with: &stretch, atMost: limit, in: tempo))
    }

    @_noAllocation @_noLocks
    private mutating func note(_ changed: FrameCount) {
        tempo.spend(changed)
        lane.bent(by: changed)
    }

    /// The packet that was waited for is here: it takes the place of what was made up and has not been played yet.
    @_noAllocation @_noLocks
    private mutating func endWait(at position: FrameCount) {
        let madeUp = decoded.count
        lane.withdraw(FrameCount(madeUp))
        _ = append(at: position, wanting: .zero, replacing: madeUp)
    }

    /// What became of the sound since the talker began.
    package var statistics: PlayoutStatistics {
        @_noAllocation @_noLocks get {
            var statistics = lane.statistics
            statistics.concealedByModel = min(decoder.concealedByModel, statistics.concealed)
            return statistics
        }
    }

    /// Since the talker began.
    var concealment: Concealment {
        @_noAllocation @_noLocks get {
            let late = lane.statistics.concealedInHindsight.rawValue
            return Concealment(ahead: lane.statistics.concealed.rawValue - late, behind: late)
        }
    }

    @_noAllocation @_noLocks
    mutating func tell(_ report: inout VoiceReport) {
        report.ssrc = ssrc ?? SSRC(0)
        report.isUsed = ssrc != nil
        report.isHeard = !isFree
        report.meanSquare = meanSquare
        report.playout = statistics
    }

    private static func converter(to format: LPCMFormat) throws(RadioError) -> RateConverter {
        do {
            return try RateConverter(from: .opus, to: format.rate, channelCount: format.channelCount)
        } catch {
            throw RadioError(error)
        }
    }
}

/// What was made up, in frames at 48 000 Hz.
struct Concealment: BitwiseCopyable, Sendable {
    /// From where a pull begins.
    var ahead = 0
    /// Up to where a pull begins.
    var behind = 0

    @_noAllocation @_noLocks
    init(ahead: Int = 0, behind: Int = 0) {
        self.ahead = ahead
        self.behind = behind
    }
}
