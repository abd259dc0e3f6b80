import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourMediaSource
import TenfourPlayer
import TenfourRadio
import TenfourWaveform

/// Reads a sound to its end, or to Ctrl-C, and reduces it to bars as it comes.
struct BarReading {
    var path: String
    var barCount: Int
    var floor: Float
    /// The format of samples without a header; nil: a file without a known header is refused.
    var raw: RawFormat?
    var download = DownloadSettings()
    /// Called with the entry that is read and the number of entries, where the address is a playlist.
    var tellEntry: (String, Int) -> Void = { _, _ in }
    /// Told now and then how much of it there has been, 0…1; nil where nobody knows how much there is.
    var tell: (Double?) -> Void = { _ in }

    /// What was read.
    struct Result {
        var bars: Bars
        var format: LPCMFormat
        var stretches: [MarkedRange] = []
        var duration: Duration { bars.frameCount.duration(at: format.rate) }
    }

    private static let blockFrameCount = 4_096
    /// In blocks.
    private static let interval = 512

    /// Throws `.unavailable` for what cannot be read.
    func run() throws(RadioError) -> Result {
        var result = try read(expecting: nil)
        // Where only the end told how long it was, it is read once more. A pipe can be read once.
        if !result.bars.isExact, isRegularFile(path), !Signals.hasEnd {
            let second = try read(expecting: result.bars.frameCount)
            if second.bars.isExact { result = second }
        }
        let rate = result.format.rate
        result.stretches = WAVMarks(ofFileAt: path).ranges.map { range in
            MarkedRange(range.lowerBound.duration(at: rate)..<range.upperBound.duration(at: rate), .concealed)
        }
        return result
    }

    private func read(expecting frameCount: FrameCount?) throws(RadioError) -> Result {
        if isAddress(path) || raw == nil && !isRegularFile(path) { return try readFeed(expecting: frameCount) }
        do throws(AudioFileError) {
            // At its own rate and with its own channels, as nothing else would be exact.
            var file = try AudioFileReader(path: path, rawFormat: raw)
            return try reduce(&file, frameCount: frameCount ?? file.frameCount)
        } catch {
            guard isRegularFile(path) else { throw RadioError(.unavailable, error.description) }
            return try readFeed(expecting: frameCount)
        }
    }

    private func readFeed(expecting frameCount: FrameCount?) throws(RadioError) -> Result {
        do throws(StreamError) {
            var source = try ReaderSource(path, download: download)
            if let entry = source.entry { tellEntry(entry.name, entry.count) }
            let said = source.frameCount?.value
            return try reduce(&source, frameCount: frameCount ?? said)
        } catch {
            let name = path == "-" ? "standard input" : Secrets.shown(path)
            let sentence = error.description
            let remedy = error.isOfUnknownBytes && path == "-" ? "; \(RawSoundOptions.remedy)" : ""
            throw RadioError(.unavailable, (sentence.contains(name) ? "" : "\(name): ") + sentence + remedy)
        }
    }

    /// Of any source, and of how many frames it says it has.
    private func reduce<Source: AudioSource & ~Copyable>(
        _ source: inout Source, frameCount: FrameCount?
    ) throws(Source.Failure) -> Result {
        let format = source.format
        var reduction = BarReduction(
            barCount: barCount, channelCount: format.channelCount, expecting: frameCount, floor: floor)
        var block = FixedBuffer<Float>(repeating: 0, count: Self.blockFrameCount * format.channelCount)
        var blockCount = 0
        while !Signals.hasEnd {
            var room = block.mutableSpan
            let count = try source.read(into: &room)
            guard count > .zero else { break }
            reduction.append(block.span(in: 0..<count.rawValue * format.channelCount))
            blockCount += 1
            if blockCount % Self.interval == 0 {
                tell(frameCount.map { min(Double(reduction.frameCount) / Double(max($0.rawValue, 1)), 1) })
            }
        }
        return Result(bars: reduction.bars(), format: format)
    }
}

/// Whether what is to be read lies on the network.
func isAddress(_ path: String) -> Bool { path.hasPrefix("http://") || path.hasPrefix("https://") }

/// Whether it can be read again, and from any place.
func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}
