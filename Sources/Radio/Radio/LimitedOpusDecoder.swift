internal import TenfourAudioCore
internal import TenfourOpusCodec

/// The Opus decoder of one talker. It uses the neural models for which a `DecoderBudget` has time.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
struct LimitedOpusDecoder: ~Copyable, Sendable {
    private var decoder: OpusDecoder
    /// The decoder complexity that is set in `decoder`.
    private var complexity = DecoderComplexity.plain
    /// The number of packets since the last one with in-band FEC.
    private var packetsSinceFEC = memoryOfFEC + 1

    /// The number of successive packets without in-band FEC after which the talker counts as a sender without FEC. It
    /// is not a time, because a silent talker sends no packets.
    private static var memoryOfFEC: Int { @_noAllocation @_noLocks get { 250 } }

    init(channelCount: Int) throws(RadioError) {
        do { decoder = try OpusDecoder(channelCount: channelCount) } catch { throw RadioError(error) }
    }

    @_noAllocation @_noLocks
    mutating func reset() {
        decoder.reset()
        packetsSinceFEC = Self.memoryOfFEC + 1
    }

    /// Decodes a packet; see `AudioDecoder.decode`.
    @_noAllocation @_noLocks
    mutating func decode(
        _ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>, within budget: inout DecoderBudget
    ) -> FrameCount? {
        packetsSinceFEC = packet.carriesFEC ? 0 : packetsSinceFEC + 1
        let start = Self.now(budget)
        set(budget.complexityToDecode(at: start))
        let frames = try? decoder.decode(packet, into: &samples)
        record(since: start, isConcealed: false, of: &budget)
        return frames
    }

    /// Recovers the audio before a packet; see `AudioDecoder.recover`.
    @_noAllocation @_noLocks
    mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>,
        within budget: inout DecoderBudget
    ) -> Bool {
        let start = Self.now(budget)
        // Applies both limits of the complexity, because libopus conceals the loss if it cannot use the packet's FEC.
        set(min(budget.complexityToDecode(at: start), budget.complexityToConceal(at: start)))
        let isDone = (try? decoder.recover(frameCount, from: nextPacket, into: &samples)) != nil
        record(since: start, isConcealed: false, of: &budget)
        return isDone
    }

    /// Conceals a lost packet; see `AudioDecoder.conceal`.
    @_noAllocation @_noLocks
    mutating func conceal(
        _ frameCount: FrameCount, into samples: inout MutableSpan<Float>, within budget: inout DecoderBudget
    ) -> ConcealmentMethod? {
        let start = Self.now(budget)
        set(budget.complexityToConceal(at: start))
        let isDone = (try? decoder.conceal(frameCount, into: &samples)) != nil
        record(since: start, isConcealed: true, of: &budget)
        guard isDone else { return nil }
        return .plain < complexity ? .neural : .plain
    }

    /// Sets the decoder's complexity to `most`, but at most to LACE if the talker sends no in-band FEC.
    @_noAllocation @_noLocks
    private mutating func set(_ most: DecoderComplexity) {
        // Replaces NoLACE by LACE for a sender without FEC. NoLACE has a better quality score than LACE only if lost
        // frames are recovered from in-band FEC.
        let wanted = .lace < most && packetsSinceFEC > Self.memoryOfFEC ? .lace : most
        if wanted == complexity { return }
        try? decoder.setComplexity(wanted)
        complexity = wanted
    }

    /// The thread's processor time in nanoseconds; 0 if no time is measured.
    @_noAllocation @_noLocks
    private static func now(_ budget: DecoderBudget) -> Int { budget.measures ? ThreadTime.processor() : 0 }

    @_noAllocation @_noLocks
    private func record(since start: Int, isConcealed: Bool, of budget: inout DecoderBudget) {
        guard budget.measures else { return }
        budget.record(ThreadTime.processor() - start, with: complexity, isConcealed: isConcealed)
    }
}
