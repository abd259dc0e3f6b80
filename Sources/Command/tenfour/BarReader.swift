import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourMediaSource
import TenfourPlayer
import TenfourRadio
import TenfourWaveform

/// Reads a recording to its end, or until Ctrl-C, and reduces it to the bars of its picture.
struct BarReader {
    var path: String
    var barCount: Int
    var floor: Float
    /// The format of samples without a header; if nil, files without a header are refused.
    var raw: RawFormat?
    var download = DownloadSettings()
    /// A function that is called if the address is a playlist. Its arguments are the name of the entry that is read and
    /// the number of entries.
    var reportEntry: (String, Int) -> Void = { _, _ in }
    /// A function that is called regularly during reading. Its argument is the proportion of the recording read so far,
    /// 0…1; nil if the length is unknown.
    var reportProgress: (Double?) -> Void = { _ in }

    /// The bars and marks of a recording.
    struct Result {
        var bars: Bars
        var format: LPCMFormat
        var markedRanges: [MarkedRange] = []
        var duration: Duration { bars.frameCount.duration(at: format.rate) }
    }

    private static let blockFrameCount = 4_096
    /// The number of blocks read between two calls of `reportProgress`.
    private static let interval = 512

    /// Reads the recording and returns its bars. Throws `.unavailable` if it cannot be read.
    func run() throws(RadioError) -> Result {
        var result = try read(expecting: nil)
        // Reads a file again if its length was unknown in advance, since the length is known now. A pipe can be read
        // only once.
        if !result.bars.isExact, isRegularFile(path), !Signals.hasEnd {
            let second = try read(expecting: result.bars.frameCount)
            if second.bars.isExact { result = second }
        }
        let rate = result.format.rate
        result.markedRanges = WAVMarks(ofFileAt: path).ranges.map { range in
            MarkedRange(range.lowerBound.duration(at: rate)..<range.upperBound.duration(at: rate), .concealed)
        }
        return result
    }

    private func read(expecting frameCount: FrameCount?) throws(RadioError) -> Result {
        if isAddress(path) || raw == nil && !isRegularFile(path) { return try readMedia(expecting: frameCount) }
        do throws(AudioFileError) {
            // Reads the recording at its own rate and channel count, because resampling would not be exact.
            var file = try AudioFileReader(path: path, rawFormat: raw)
            return try reduce(&file, frameCount: frameCount ?? file.frameCount)
        } catch {
            guard isRegularFile(path) else { throw RadioError(.unavailable, error.description) }
            return try readMedia(expecting: frameCount)
        }
    }

    private func readMedia(expecting frameCount: FrameCount?) throws(RadioError) -> Result {
        do throws(StreamError) {
            var source = try ReaderSource(path, download: download)
            if let entry = source.entry { reportEntry(entry.name, entry.count) }
            let stated = source.frameCount?.value
            return try reduce(&source, frameCount: frameCount ?? stated)
        } catch {
            let name = path == "-" ? "standard input" : Secrets.shown(path)
            let sentence = error.description
            let remedy = error.isOfUnknownBytes && path == "-" ? "; \(RawAudioOptions.remedy)" : ""
            throw RadioError(.unavailable, (sentence.contains(name) ? "" : "\(name): ") + sentence + remedy)
        }
    }

    /// Reads `source` to its end. `frameCount` is its number of frames; nil if unknown.
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
                reportProgress(frameCount.map { min(Double(reduction.frameCount) / Double(max($0.rawValue, 1)), 1) })
            }
        }
        return Result(bars: reduction.bars(), format: format)
    }
}

/// Returns whether `path` is an HTTP address.
func isAddress(_ path: String) -> Bool { path.hasPrefix("http://") || path.hasPrefix("https://") }

/// Returns whether `path` is a regular file, which can be read again from any offset.
func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}
