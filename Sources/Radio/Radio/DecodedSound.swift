internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourOpusCodec
internal import TenfourResampling

/// Sound that is decoded and waits to be played, and a little of what was: the operations of the lane add to it, the
/// time-stretch bends it, the resampler uses it up.
///
/// Playback thread. Nothing is allocated after `init`.
struct DecodedSound: ~Copyable, Sendable {
    /// Frames that wait, at 48 000 Hz.
    private(set) var count = 0
    /// Behind `history`, always.
    private var start: Int
    private let channelCount: Int
    private var samples: FixedBuffer<Float>

    /// What the time-stretch may want to repeat.
    private static var history: Int { TimeScaler.reach.rawValue }
    private static var overlap: Int { 240 }
    private static var search: Int { 120 }
    /// One packet that waits, one that is decoded ahead, and what the time-stretch puts in.
    private static var room: Int { 2 * OpusDecoder.maximumPacketDuration.rawValue + history }

    init(channelCount: Int) {
        self.channelCount = channelCount
        start = Self.history
        samples = FixedBuffer(repeating: 0, count: (Self.history + Self.room) * channelCount)
    }

    @_noAllocation @_noLocks
    mutating func removeAll() { (start, count) = (Self.history, 0) }

    /// Performs an operation behind what waits; a decoder that refuses gives silence in its place. A packet takes the place
    /// of the last `replaced` frames, which were made up while it was waited for.
    @_noAllocation @_noLocks
    mutating func append(
        _ operation: PlayoutOperation, with decoder: inout VoiceDecoder, from lane: borrowing PlayoutLane,
        replacing replaced: Int = 0
    ) {
        if count == 0 { moveToFront() }
        let before = end
        switch operation {
        case .silence(let frames):
            silence(frames)
        case .decode(let entry, let skipping):
            let decoded = Self.decode(entry, of: lane, with: &decoder, into: &samples, from: end * channelCount)
            if decoded == 0 { silence(entry.frameCount) } else { count += decoded }
            join(skipping.rawValue, into: before, replacing: replaced)
        case .recover(let frames, let entry):
            if Self.recover(frames, from: entry, of: lane, with: &decoder, into: &samples, from: end * channelCount) {
                count += frames.rawValue
            } else {
                silence(frames)
            }
        case .conceal(let frames):
            if Self.conceal(frames, with: &decoder, into: &samples, from: end * channelCount) {
                count += frames.rawValue
            } else {
                silence(frames)
            }
        }
    }

    /// Shortens what waits by one period, at most `limit`. Returns by how much.
    @_noAllocation @_noLocks
    mutating func shorten(with stretch: inout TimeScaler, atMost limit: FrameCount, in tempo: TimeScaleDecision)
        -> FrameCount
    {
        let frames = stretch.shorten(
            &samples, from: start, to: end, atMost: limit, anywhere: tempo.isPause, loudness: tempo.loudness)
        count -= frames.rawValue
        return frames
    }

    /// Lengthens what waits by one period, at most `limit`. Returns by how much.
    @_noAllocation @_noLocks
    mutating func lengthen(with stretch: inout TimeScaler, atMost limit: FrameCount, in tempo: TimeScaleDecision)
        -> FrameCount
    {
        let frames = stretch.lengthen(
            &samples, from: start, to: end, atMost: limit, anywhere: tempo.isPause, loudness: tempo.loudness)
        count += frames.rawValue
        return frames
    }

    /// How loud the last frames of what waits are: their mean square.
    @_noAllocation @_noLocks
    func meanSquare(ofLast frames: FrameCount) -> Float {
        loudness(in: (end - min(frames.rawValue, count)) * channelCount..<end * channelCount)
    }

    /// Plays as much as waits, or as `sound` has room for behind its first `produced` frames. Returns how much it made.
    @_noAllocation @_noLocks
    mutating func play(
        through converter: inout RateConverter, into sound: inout MutableSpan<Float>, behind produced: Int
    ) -> Int {
        let frames = convert(through: &converter, into: &sound, behind: produced)
        start += frames.consumed.rawValue
        count -= frames.consumed.rawValue
        return frames.produced.rawValue
    }

    private var end: Int { start + count }

    /// Leaves out the first `skipped` frames of the packet just decoded to `place`, for which sound was made up already, and
    /// the `replaced` ones before it, which it comes instead of.
    private mutating func join(_ skipped: Int, into place: Int, replacing replaced: Int) {
        let skipped = min(skipped, end - place)
        let overlap = min(replaced, min(Self.overlap, end - place - skipped))
        if overlap > 0 {
            fade(from: place - replaced, into: place, around: skipped, over: overlap)
        } else if skipped > 0 {
            remove(place..<place + skipped)
            bend(at: place)
        }
    }

    /// Goes over from what was made up to the packet within 5 ms, where in the packet the two are most alike.
    private mutating func fade(from madeUp: Int, into packet: Int, around skipped: Int, over overlap: Int) {
        let places = max(packet + skipped - Self.search, packet)...min(packet + skipped + Self.search, end - overlap)
        let place = TimeScaler.place(in: samples, of: madeUp, among: places, length: overlap, channelCount)
        for frame in 0..<overlap {
            let weight = Float(frame) / Float(overlap)
            for channel in 0..<channelCount {
                let here = (madeUp + frame) * channelCount + channel
                let there = samples[(place + frame) * channelCount + channel]
                samples[here] += (there - samples[here]) * weight
            }
        }
        remove(madeUp + overlap..<place + overlap)
    }

    /// Bends what begins at `place` to where the sound before it ended, over 2.5 ms, so that nothing clicks.
    private mutating func bend(at place: Int) {
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

    /// Keeps the history and makes room behind it.
    private mutating func moveToFront() {
        guard start > Self.history else { return }
        let offset = (start - Self.history) * channelCount
        for index in 0..<Self.history * channelCount { samples[index] = samples[offset + index] }
        start = Self.history
    }

    private mutating func silence(_ frames: FrameCount) {
        let frames = min(frames.rawValue, samples.count / channelCount - end)
        for index in end * channelCount..<(end + frames) * channelCount { samples[index] = 0 }
        count += frames
    }

    // Vetted: nothing is freed in these, though the compiler takes the end of a Span's life for that.

    @_semantics("no_performance_analysis")
    private func loudness(in range: Range<Int>) -> Float { TenfourAudioCore.meanSquare(of: samples.span(in: range)) }

    @_semantics("no_performance_analysis")
    private func convert(
        through converter: inout RateConverter, into sound: inout MutableSpan<Float>, behind produced: Int
    ) -> (consumed: FrameCount, produced: FrameCount) {
        var rest = sound._mutatingExtracting(produced * channelCount..<sound.count)
        return converter.process(samples.span(in: start * channelCount..<end * channelCount), into: &rest)
    }

    @_semantics("no_performance_analysis")
    private static func decode(
        _ entry: PacketQueue.Entry, of lane: borrowing PlayoutLane, with decoder: inout VoiceDecoder,
        into samples: inout FixedBuffer<Float>, from start: Int
    ) -> Int {
        var room = samples.mutableSpan(in: start..<samples.count)
        return decoder.decode(lane.payload(of: entry), carriesFEC: entry.carriesFEC, into: &room)?.rawValue ?? 0
    }

    @_semantics("no_performance_analysis")
    private static func recover(
        _ frames: FrameCount, from entry: PacketQueue.Entry, of lane: borrowing PlayoutLane,
        with decoder: inout VoiceDecoder, into samples: inout FixedBuffer<Float>, from start: Int
    ) -> Bool {
        var room = samples.mutableSpan(in: start..<samples.count)
        return decoder.recover(frames, from: lane.payload(of: entry), into: &room)
    }

    @_semantics("no_performance_analysis")
    private static func conceal(
        _ frames: FrameCount, with decoder: inout VoiceDecoder, into samples: inout FixedBuffer<Float>, from start: Int
    ) -> Bool {
        var room = samples.mutableSpan(in: start..<samples.count)
        return decoder.conceal(frames, into: &room)
    }
}
