internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourOpusCodec

/// The Opus decoder of one talker. It uses the neural models for which there is time.
///
/// Playback thread. Nothing is allocated after `init`.
struct VoiceDecoder: ~Copyable, Sendable {
    /// Shared by all voices: the listener puts it in before a pull, and takes it out after.
    var budget: DecoderBudget
    private var decoder: OpusDecoder
    /// How much sound deep PLC made up since the talker began.
    private(set) var concealedByModel = FrameCount.zero
    /// The complexity that the decoder has.
    private var complexity = DecoderComplexity.plain
    /// Packets since one carried in-band FEC.
    private var sinceFEC = memoryOfFEC + 1

    init(channelCount: Int, configuration: DecoderConfiguration) throws(RadioError) {
        do { decoder = try OpusDecoder(channelCount: channelCount) } catch { throw RadioError(error) }
        budget = DecoderBudget(configuration)
    }

    @_noAllocation @_noLocks
    mutating func reset() {
        decoder.reset()
        concealedByModel = .zero
        sinceFEC = Self.memoryOfFEC + 1
    }

    /// As of `OpusDecoder`; nil where it refuses. `carriesFEC` says whether `packet` does.
    @_noAllocation @_noLocks
    mutating func decode(
        _ packet: Span<UInt8>, carriesFEC: Bool, into samples: inout MutableSpan<Float>
    ) -> FrameCount? {
        sinceFEC = carriesFEC ? 0 : sinceFEC + 1
        let start = now
        set(budget.complexityToDecode(at: start))
        let frames = try? decoder.decode(packet, into: &samples)
        spent(since: start, isConcealed: false)
        return frames
    }

    /// As of `OpusDecoder`; false where it refuses.
    @_noAllocation @_noLocks
    mutating func recover(
        _ frameCount: FrameCount, from nextPacket: Span<UInt8>, into samples: inout MutableSpan<Float>
    ) -> Bool {
        let start = now
        // Where it has no use for the copy libopus conceals.
        set(min(budget.complexityToDecode(at: start), budget.complexityToConceal(at: start)))
        let isDone = (try? decoder.recover(frameCount, from: nextPacket, into: &samples)) != nil
        spent(since: start, isConcealed: false)
        return isDone
    }

    /// As of `OpusDecoder`; false where it refuses.
    @_noAllocation @_noLocks
    mutating func conceal(_ frameCount: FrameCount, into samples: inout MutableSpan<Float>) -> Bool {
        let start = now
        set(budget.complexityToConceal(at: start))
        let isDone = (try? decoder.conceal(frameCount, into: &samples)) != nil
        spent(since: start, isConcealed: true)
        if isDone, .plain < complexity { concealedByModel += frameCount }
        return isDone
    }

    /// In packets: silence has none.
    private static var memoryOfFEC: Int { @_noAllocation @_noLocks get { 250 } }

    /// Tells the decoder, where that is a change.
    @_noAllocation @_noLocks
    private mutating func set(_ most: DecoderComplexity) {
        // NoLACE scores more than LACE where lost frames are recovered from in-band FEC, and no more elsewhere.
        let wanted = .lace < most && sinceFEC > Self.memoryOfFEC ? .lace : most
        if wanted == complexity { return }
        try? decoder.setComplexity(wanted)
        complexity = wanted
    }

    private var now: Int { @_noAllocation @_noLocks get { budget.measures ? ThreadTime.processor() : 0 } }

    @_noAllocation @_noLocks
    private mutating func spent(since start: Int, isConcealed: Bool) {
        guard budget.measures else { return }
        budget.spend(ThreadTime.processor() - start, with: complexity, isConcealed: isConcealed)
    }
}
