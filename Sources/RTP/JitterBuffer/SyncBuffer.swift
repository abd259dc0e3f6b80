internal import TenfourAudioCore
internal import TenfourResampling

/// Decoded audio that waits to be played, and the last 20 ms of played audio, at 48 000 Hz.
///
/// The decoder writes into `space`, the time scaler shortens and lengthens the audio, and the resampler reads it.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
@usableFromInline
struct SyncBuffer: ~Copyable, Sendable {
    /// The number of frames that wait to be played.
    private(set) var count = 0
    /// The index in `samples`, in frames, of the first frame that waits. It is at least `history`, because the audio
    /// played last lies before it.
    private var start: Int
    private let channelCount: Int
    private var samples: FixedBuffer<Float>

    /// The number of played frames that are kept, because the time scaler may repeat them.
    private static var history: Int { TimeScaler.reach.rawValue }
    /// The maximum length of a cross-fade, in frames: 5 ms.
    private static var overlap: Int { 240 }
    /// The maximum distance, in frames, at which the cross-fade looks for similar audio: 2.5 ms. Also the time over
    /// which `smoothStep` spreads a step.
    private static var search: Int { 120 }
    /// The number of frames for which there is space: one packet that waits, one that is decoded ahead, and the audio
    /// that the time scaler inserts.
    private static var capacity: Int { 2 * EncodedPacket.longestDuration.rawValue + history }

    init(channelCount: Int) {
        self.channelCount = channelCount
        start = Self.history
        samples = FixedBuffer(repeating: 0, count: (Self.history + Self.capacity) * channelCount)
    }

    @_noAllocation @_noLocks
    mutating func removeAll() { (start, count) = (Self.history, 0) }

    /// The index, in frames, after the last frame that waits. The decoder writes from this index on.
    var end: Int { @_noAllocation @_noLocks get { start + count } }

    /// Moves the last played audio to the front if no frame waits, so that there is space behind it. Call this before
    /// each operation.
    @_noAllocation @_noLocks
    mutating func makeSpace() {
        guard count == 0, start > Self.history else { return }
        let offset = (start - Self.history) * channelCount
        for index in 0..<Self.history * channelCount { samples[index] = samples[offset + index] }
        start = Self.history
    }

    /// The space behind the waiting audio, into which a decoder writes.
    @usableFromInline
    var space: MutableSpan<Float> {
        @_lifetime(&self) @_noAllocation @_noLocks
        mutating get { samples.mutableSpan(in: end * channelCount..<samples.count) }
    }

    /// Appends `frames` that a decoder has written into `space`.
    @_noAllocation @_noLocks
    mutating func append(_ frames: FrameCount) {
        count += min(max(frames.rawValue, 0), samples.count / channelCount - end)
    }

    /// Appends `frames` of silence, or as many as there is space for.
    @_noAllocation @_noLocks
    mutating func appendSilence(_ frames: FrameCount) {
        let frames = min(frames.rawValue, samples.count / channelCount - end)
        for index in end * channelCount..<(end + frames) * channelCount { samples[index] = 0 }
        count += frames
    }

    /// Adds noise to the last `frames` that wait.
    @_noAllocation @_noLocks
    mutating func addNoise(_ noise: inout ComfortNoiseGenerator, toLast frames: Int) {
        for frame in end - frames..<end {
            let sample = noise.next()
            for channel in 0..<channelCount { samples[frame * channelCount + channel] += sample }
        }
    }

    /// Joins the packet that begins at `place` to the audio before it. The first `skipped` frames of the packet are
    /// removed, because they were concealed already. The last `replaced` frames before the packet are removed, because
    /// they were concealed while the packet was late. If nothing is skipped, at most 2.5 ms of them stay, and playout
    /// does not become earlier: otherwise, the next packet would be late by this time. Returns the number of concealed
    /// frames that stay.
    @_noAllocation @_noLocks
    mutating func join(_ place: Int, skipping skipped: FrameCount, replacing replaced: Int) -> FrameCount {
        let skipped = min(skipped.rawValue, end - place)
        if replaced > 0, skipped == 0, end > place {
            return crossFade(from: place - replaced, intoBeginningOf: place)
        }
        let overlap = min(replaced, min(Self.overlap, end - place - skipped))
        if overlap > 0 {
            crossFade(from: place - replaced, into: place, around: skipped, over: overlap)
        } else if skipped > 0 {
            remove(place..<place + skipped)
            smoothStep(at: place)
        }
        return .zero
    }

    /// Shortens the waiting audio by one pitch period of at most `limit`. Returns the number of frames removed.
    @_noAllocation @_noLocks
    mutating func shorten(with scaler: inout TimeScaler, atMost limit: FrameCount, _ decision: TimeScaleDecision)
        -> FrameCount
    {
        let frames = scaler.shorten(
            &samples, from: start, to: end, atMost: limit, anywhere: decision.isPause, loudness: decision.loudness)
        count -= frames.rawValue
        return frames
    }

    /// Lengthens the waiting audio by one pitch period of at most `limit`. Returns the number of frames inserted.
    @_noAllocation @_noLocks
    mutating func lengthen(with scaler: inout TimeScaler, atMost limit: FrameCount, _ decision: TimeScaleDecision)
        -> FrameCount
    {
        let frames = scaler.lengthen(
            &samples, from: start, to: end, atMost: limit, anywhere: decision.isPause, loudness: decision.loudness)
        count += frames.rawValue
        return frames
    }

    /// The mean square of the last `frames` that wait.
    @_noAllocation @_noLocks
    func meanSquare(ofLast frames: FrameCount) -> Float {
        meanSquare(in: (end - min(frames.rawValue, count)) * channelCount..<end * channelCount)
    }

    /// Plays the waiting audio, as far as `output` has space behind its first `produced` frames. Returns the number of
    /// frames written.
    @_noAllocation @_noLocks
    mutating func play(
        through resampler: inout RateConverter, into output: inout MutableSpan<Float>, behind produced: Int
    ) -> Int {
        let frames = resample(through: &resampler, into: &output, behind: produced)
        start += frames.consumed.rawValue
        count -= frames.consumed.rawValue
        return frames.produced.rawValue
    }

    /// Fades from concealed audio into the packet over at most 5 ms, at the position in the packet that is most similar
    /// to the concealed audio. At most `skipped` frames of the packet are left out.
    private mutating func crossFade(from concealed: Int, into packet: Int, around skipped: Int, over overlap: Int) {
        let places = max(packet + skipped - Self.search, packet)...packet + skipped
        let place = TimeScaler.place(in: samples, of: concealed, among: places, length: overlap, channelCount)
        fade(from: concealed, into: place, over: overlap)
    }

    /// Fades from concealed audio into the first frames of the packet over at most 5 ms, at the position in the
    /// concealed audio that is most similar to them. Returns the number of concealed frames before this position.
    private mutating func crossFade(from concealed: Int, intoBeginningOf packet: Int) -> FrameCount {
        let replaced = packet - concealed
        let overlap = min(min(Self.overlap, end - packet), max(replaced - Self.search, replaced / 2))
        let places = concealed...concealed + min(Self.search, replaced - overlap)
        let place = TimeScaler.place(in: samples, of: packet, among: places, length: overlap, channelCount)
        fade(from: place, into: packet, over: overlap)
        return FrameCount(place - concealed)
    }

    /// Fades from the frame `one` to the frame `other` over `overlap` frames, and removes the frames between them.
    private mutating func fade(from one: Int, into other: Int, over overlap: Int) {
        for frame in 0..<overlap {
            let weight = Float(frame) / Float(overlap)
            for channel in 0..<channelCount {
                let here = (one + frame) * channelCount + channel
                let there = samples[(other + frame) * channelCount + channel]
                samples[here] += (there - samples[here]) * weight
            }
        }
        remove(one + overlap..<other + overlap)
    }

    /// Spreads the step in the waveform at frame `place` over 2.5 ms, so that nothing clicks.
    private mutating func smoothStep(at place: Int) {
        guard place > 0, place < end else { return }
        for channel in 0..<channelCount {
            let step = samples[(place - 1) * channelCount + channel] - samples[place * channelCount + channel]
            for frame in 0..<min(Self.search, end - place) {
                let weight = 1 - Float(frame) / Float(Self.search)
                samples[(place + frame) * channelCount + channel] += step * weight
            }
        }
    }

    private mutating func remove(_ frames: Range<Int>) {
        for index in frames.lowerBound * channelCount..<(end - frames.count) * channelCount {
            samples[index] = samples[index + frames.count * channelCount]
        }
        count -= frames.count
    }

    // Reviewed: these two functions deallocate nothing, though the compiler takes the end of a Span's life for a
    // deallocation.

    @_semantics("no_performance_analysis")
    private func meanSquare(in range: Range<Int>) -> Float { TenfourAudioCore.meanSquare(of: samples.span(in: range)) }

    @_semantics("no_performance_analysis")
    private func resample(
        through resampler: inout RateConverter, into output: inout MutableSpan<Float>, behind produced: Int
    ) -> (consumed: FrameCount, produced: FrameCount) {
        var rest = output._mutatingExtracting(produced * channelCount..<output.count)
        return resampler.process(samples.span(in: start * channelCount..<end * channelCount), into: &rest)
    }
}
