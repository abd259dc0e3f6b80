internal import Glibc
internal import TenfourAudioCore
internal import TenfourMediaSource

/// Reads an item while the item before it fades out under its beginning, both with equal power: their gains are the
/// cosine and the sine of the same angle, so that the loudness of unlike audio stays the same.
///
/// Both items are read block by block, so that no block takes more than twice the time of an ordinary one. A seek ends
/// the crossfade. For one thread at a time.
final class CrossfadeReader: MediaReader {
    /// The reader of the item that fades in.
    let base: any MediaReader
    /// The item that fades out; nil after the crossfade.
    private var fading: FadingItem?
    /// The number of frames already mixed.
    private var mixed = 0
    private let frameCount: Int
    private let channelCount: Int
    /// The samples of `fading` that are mixed next.
    private var block: [Float] = []

    /// The reader of `fading` has the format of `base`.
    init(_ base: any MediaReader, fading: FadingItem) {
        self.base = base
        frameCount = fading.frameCount
        self.fading = fading
        channelCount = base.format.channelCount
    }

    var demuxer: any Demuxer { base.demuxer }
    var format: LPCMFormat { base.format }
    var sampleWidth: SampleWidth? { base.sampleWidth }
    var position: Estimate<Duration> { base.position }

    /// Whether nothing of the item before is left.
    var isOver: Bool { fading == nil }

    func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        let count = try base.read(into: &samples).rawValue
        guard let fading else { return FrameCount(count) }
        // Plays the rest of the item before if this one is shorter than the crossfade.
        let wanted = count > 0 ? count : samples.count / channelCount
        let length = min(wanted, frameCount - mixed)
        let faded = read(length, of: fading)
        for frame in 0..<length {
            let angle = (Float(mixed + frame) + 0.5) / Float(frameCount) * (.pi / 2)
            let (rising, falling) = (sinf(angle), cosf(angle))
            for index in frame * channelCount..<(frame + 1) * channelCount {
                let new = frame < count ? samples[index] * rising : 0
                samples[index] = new + (frame < faded ? block[index] * falling : 0)
            }
        }
        mixed += length
        if mixed >= frameCount || count == 0 && faded == 0 { end() }
        return FrameCount(count == 0 && faded > 0 ? length : count)
    }

    /// Reads the next `length` frames of the item that fades out into `block`, and returns how many there are. An error
    /// ends it.
    private func read(_ length: Int, of fading: FadingItem) -> Int {
        if block.count < length * channelCount { block = [Float](repeating: 0, count: length * channelCount) }
        var read = 0
        var span = block.mutableSpan
        while read < length {
            var room = span.extracting(read * channelCount..<length * channelCount)
            guard let count = try? fading.reader.read(into: &room).rawValue, count > 0 else { break }
            read += count
        }
        return read
    }

    func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration> {
        let reached = try base.seek(to: position)
        end()
        return reached
    }

    private func end() {
        fading = nil
        block = []
    }
}

/// The end of an item that fades out.
final class FadingItem {
    let reader: any MediaReader
    /// The number of frames up to its end.
    let frameCount: Int
    let byteSource: any ByteSource

    init(_ reader: any MediaReader, frameCount: Int, _ byteSource: any ByteSource) {
        (self.reader, self.frameCount, self.byteSource) = (reader, frameCount, byteSource)
    }

    deinit { byteSource.stop() }
}
