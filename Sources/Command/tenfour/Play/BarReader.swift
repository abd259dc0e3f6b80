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
    /// Where the part to read begins, and its longest duration; nil: up to the end.
    var start = Duration.zero
    var duration: Duration?
    /// Whether each channel has bars of its own.
    var separatesChannels = false
    /// The format of samples without a header; if nil, files without a header are refused.
    var raw: RawFormat?
    var download = DownloadSettings()
    /// A function that is called if the address is a playlist. Its arguments are the name of the entry that is read and
    /// the number of entries.
    var reportEntry: (String, Int) -> Void = { _, _ in }
    /// A function that is called regularly during reading. Its argument is the proportion of the recording read so far,
    /// 0…1; nil if the length is unknown.
    var reportProgress: (Double?) -> Void = { _ in }

    /// The bars and marks of a recording, or of a part of it.
    struct Result {
        /// The bars of each channel, or only those of the loudest channel at each moment. Not empty.
        var rows: [Bars]
        var format: LPCMFormat
        /// Where the part begins in the recording. The other moments count from it.
        var start: Duration
        var markedRanges: [MarkedRange] = []
        /// The reason why reading ended before the end of the recording; nil if it did not.
        var failure: String?
        var frameCount: FrameCount { rows[0].frameCount }
        var duration: Duration { frameCount.duration(at: format.rate) }
        /// Whether the whole part was read and each bar stands for an equally long part of it.
        var isExact: Bool { failure == nil && rows[0].isExact }
        /// The highest level of all channels, and their mean level.
        var peak: Float { rows.map(\.peak).max() ?? 0 }
        var average: Float { rows.reduce(0) { $0 + $1.average } / Float(rows.count) }
    }

    private static let blockFrameCount = 4_096
    /// The number of blocks read between two calls of `reportProgress`.
    private static let interval = 512

    /// Reads the recording and returns its bars. Throws `.unavailable` if it cannot be read.
    func run() throws(RadioError) -> Result {
        var result = try read(expecting: nil)
        // Reads a file again if its length was unknown in advance, since the length is known now. A pipe can be read
        // only once.
        if !result.rows[0].isExact, isRegularFile(path), !Signals.hasEnd {
            let second = try read(expecting: result.frameCount)
            if second.rows[0].isExact { result = second }
        }
        if result.frameCount == .zero, !Signals.hasEnd {
            throw RadioError(
                .unavailable,
                start > .zero
                    ? "\(shownPath) contains no audio after \(exactTimecode(start)), where --start begins\(try end()): start earlier"
                    : "\(shownPath) contains no audio: name another file")
        }
        let rate = result.format.rate
        let first = FrameCount(start, at: rate)
        let part = first..<first + result.frameCount
        result.markedRanges = WAVMarks(ofFileAt: path).ranges.map { $0.clamped(to: part) }.filter { !$0.isEmpty }.map {
            MarkedRange(
                ($0.lowerBound - first).duration(at: rate)..<($0.upperBound - first).duration(at: rate), .concealed)
        }
        return result
    }

    /// Where the recording ends, as a clause; empty if it cannot be read again.
    private func end() throws(RadioError) -> String {
        guard isRegularFile(path) else { return "" }
        var whole = self
        (whole.start, whole.duration, whole.reportEntry) = (.zero, nil, { _, _ in })
        return ", since it ends at \(exactTimecode(try whole.read(expecting: nil).duration))"
    }

    private var shownPath: String { path == "-" ? "standard input" : Secrets.shown(path) }

    /// Reads the part. `frameCount` is its number of frames; if nil, it follows from the length that the file states.
    private func read(expecting frameCount: FrameCount?) throws(RadioError) -> Result {
        let total = { (rate: SampleRate) in frameCount.map { $0 + FrameCount(start, at: rate) } }
        guard let raw, !isAddress(path) else { return try readMedia(total) }
        do throws(AudioFileError) {
            var file = try AudioFileReader(path: path, rawFormat: raw)
            return try reduce(&file, total: total(file.format.rate) ?? file.frameCount)
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    private func readMedia(_ total: (SampleRate) -> FrameCount?) throws(RadioError) -> Result {
        do throws(StreamError) {
            // Reads the recording at its own rate and channel count, because resampling would not be exact.
            var source = try ReaderSource(path, download: download)
            if let entry = source.entry { reportEntry(entry.name, entry.count) }
            let stated = source.frameCount?.value
            return try reduce(&source, total: total(source.format.rate) ?? stated)
        } catch {
            let remedy = error.isOfUnknownBytes && path == "-" ? "; \(RawAudioOptions.remedy)" : ""
            throw RadioError(.unavailable, error.sentence(about: shownPath) + remedy)
        }
    }

    /// Reads the part of `source` that is asked for. `total` is its number of frames, with those before and after the
    /// part; nil if unknown.
    private func reduce<Source: AudioSource & ~Copyable>(
        _ source: inout Source, total: FrameCount?
    ) throws(Source.Failure) -> Result {
        let format = source.format
        let first = FrameCount(start, at: format.rate)
        let limit = duration.map { FrameCount($0, at: format.rate) }
        let expected = total.map { max($0 - first, .zero) }.map { min($0, limit ?? $0) } ?? limit
        let isThere = try source.skip(first) == first
        let reducer = BarReducer(
            barCount: barCount, format: format, separatesChannels: separatesChannels, expecting: expected, floor: floor)
        var left = isThere ? limit?.rawValue ?? .max : 0
        var block = FixedBuffer<Float>(repeating: 0, count: Self.blockFrameCount * format.channelCount)
        var blockCount = 0
        var failure: String?
        while !Signals.hasEnd, left > 0 {
            var room = block.mutableSpan(in: 0..<min(Self.blockFrameCount, left) * format.channelCount)
            let count: Int
            do throws(Source.Failure) { count = try source.read(into: &room).rawValue } catch {
                // Draws what was read before.
                guard reducer.frameCount > 0 else { throw error }
                failure = "\(error)"
                break
            }
            guard count > 0 else { break }
            reducer.append(block.span(in: 0..<count * format.channelCount))
            left -= count
            blockCount += 1
            if blockCount % Self.interval == 0 {
                reportProgress(expected.map { min(Double(reducer.frameCount) / Double(max($0.rawValue, 1)), 1) })
            }
        }
        var result = Result(rows: reducer.bars, format: format, start: start)
        result.failure = failure
        return result
    }
}

/// Reduces audio to bars, of all channels together or of each one.
private final class BarReducer {
    private let channelCount: Int
    private var reductions: [OwnReduction]
    /// The samples of one channel.
    private var samples: [Float] = []

    /// A reduction in a box, since an array cannot hold it.
    private final class OwnReduction {
        var reduction: BarReduction
        init(_ reduction: consuming BarReduction) { self.reduction = reduction }
    }

    init(barCount: Int, format: LPCMFormat, separatesChannels: Bool, expecting: FrameCount?, floor: Float) {
        channelCount = format.channelCount
        let rowCount = separatesChannels ? channelCount : 1
        reductions = (0..<rowCount).map { _ in
            OwnReduction(
                BarReduction(
                    barCount: barCount, channelCount: separatesChannels ? 1 : format.channelCount,
                    expecting: expecting, floor: floor))
        }
    }

    var frameCount: Int { reductions[0].reduction.frameCount }
    var bars: [Bars] { reductions.map { $0.reduction.bars() } }

    func append(_ block: Span<Float>) {
        if reductions.count == 1 { return reductions[0].reduction.append(block) }
        for channel in 0..<channelCount {
            samples.removeAll(keepingCapacity: true)
            for index in stride(from: channel, to: block.count, by: channelCount) { samples.append(block[index]) }
            reductions[channel].reduction.append(samples.span)
        }
    }
}

/// Returns whether `path` is an HTTP address.
func isAddress(_ path: String) -> Bool { path.hasPrefix("http://") || path.hasPrefix("https://") }

/// Returns whether `path` is a regular file, which can be read again from any offset.
func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe path != "-" && path.withPath({ unsafe stat($0, &status) }) == 0 && status.st_mode & S_IFMT == S_IFREG
}
