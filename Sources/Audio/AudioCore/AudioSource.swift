/// A source of audio: a sound card's input, a file, a pipe or a generator.
public protocol AudioSource: ~Copyable {
    associatedtype Failure: Error

    /// The format of the samples that `read` returns.
    var format: LPCMFormat { get }

    /// Fills `samples` (interleaved, whole frames) from the front and returns the number of frames. The number is less
    /// than requested only at the end of the audio; later calls return zero. May block on a card or a pipe.
    mutating func read(into samples: inout MutableSpan<Float>) throws(Failure) -> FrameCount

    /// Skips up to `count` frames, and returns the number of skipped frames, which is less only at the end. The default
    /// reads them; a source that can seek does that.
    mutating func skip(_ count: FrameCount) throws(Failure) -> FrameCount
}

extension AudioSource where Self: ~Copyable {
    public mutating func skip(_ count: FrameCount) throws(Failure) -> FrameCount { try skipByReading(count) }

    /// Reads up to `count` frames, and returns the number of frames that were read.
    package mutating func skipByReading(_ count: FrameCount) throws(Failure) -> FrameCount {
        let limit = 4_096
        var samples = FixedBuffer<Float>(repeating: 0, count: limit * format.channelCount)
        var skipped = FrameCount.zero
        while skipped < count {
            let asked = min((count - skipped).rawValue, limit)
            var room = samples.mutableSpan(in: 0..<asked * format.channelCount)
            let got = try read(into: &room)
            guard got > .zero else { break }
            skipped += got
        }
        return skipped
    }
}
