internal import OpusCodec
internal import Playout
internal import Resampling
internal import Sound

/// Sound that is decoded and waits to be played: what an operation of the lane gave, until the resampler has used it up.
///
/// Playback thread. Nothing is allocated after `init`.
struct DecodedSound: ~Copyable, Sendable {
    /// Frames that wait, at 48 000 Hz.
    private(set) var count = 0
    private var start = 0
    private let channelCount: Int
    private var samples: Preallocated<Float>

    init(channelCount: Int) {
        self.channelCount = channelCount
        samples = Preallocated(repeating: 0, count: OpusDecoder.maximumPacketDuration.rawValue * channelCount)
    }

    @_noAllocation @_noLocks
    mutating func removeAll() { (start, count) = (0, 0) }

    /// Performs an operation; a decoder that refuses gives silence in its place.
    @_noAllocation @_noLocks
    mutating func fill(
        _ operation: PlayoutOperation, with decoder: inout OpusDecoder, from lane: borrowing PlayoutLane
    ) {
        start = 0
        switch operation {
        case .silence(let frames):
            silence(frames)
        case .decode(let entry, let skipping):
            count = decode(entry, of: lane, with: &decoder)
            if count == 0 { silence(entry.frameCount) }
            start = min(skipping.rawValue, count)
            count -= start
        case .recover(let frames, let entry):
            if !recover(frames, from: entry, of: lane, with: &decoder) { silence(frames) }
        case .conceal(let frames):
            if !conceal(frames, with: &decoder) { silence(frames) }
        }
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

    // Vetted: nothing is freed in these three, though the compiler takes the end of a Span's life for that.

    @_semantics("no_performance_analysis")
    private func convert(
        through converter: inout RateConverter, into sound: inout MutableSpan<Float>, behind produced: Int
    ) -> (consumed: FrameCount, produced: FrameCount) {
        var rest = sound._mutatingExtracting(produced * channelCount..<sound.count)
        return converter.process(
            samples.span(in: start * channelCount..<(start + count) * channelCount), into: &rest)
    }

    @_semantics("no_performance_analysis")
    private mutating func decode(
        _ entry: PacketQueue.Entry, of lane: borrowing PlayoutLane, with decoder: inout OpusDecoder
    ) -> Int {
        var room = samples.mutableSpan
        do { return try decoder.decode(lane.payload(of: entry), into: &room).rawValue } catch { return 0 }
    }

    @_semantics("no_performance_analysis")
    private mutating func recover(
        _ frames: FrameCount, from entry: PacketQueue.Entry, of lane: borrowing PlayoutLane,
        with decoder: inout OpusDecoder
    ) -> Bool {
        count = frames.rawValue
        var room = samples.mutableSpan
        do { try decoder.recover(frames, from: lane.payload(of: entry), into: &room) } catch { return false }
        return true
    }

    @_noAllocation @_noLocks
    private mutating func conceal(_ frames: FrameCount, with decoder: inout OpusDecoder) -> Bool {
        count = frames.rawValue
        var room = samples.mutableSpan
        do { try decoder.conceal(frames, into: &room) } catch { return false }
        return true
    }

    @_noAllocation @_noLocks
    private mutating func silence(_ frames: FrameCount) {
        count = min(frames.rawValue, samples.count / channelCount)
        for index in 0..<count * channelCount { samples[index] = 0 }
    }
}
