internal import TenfourAudioCore
internal import TenfourAudioFile

/// The format, position and size of the samples of a WAV file in a byte source, and its tags (RIFF; RF64 of EBU Tech
/// 3306 and BW64 of ITU-R BS.2088 beyond 4 GiB). `WAVHeaderParser` says why libsndfile does not read it.
struct WAVStream {
    enum Coding: Equatable { case unsigned8, signed16, signed24, signed32, float32, float64 }

    /// The sample coding; nil if this module does not decode it.
    var coding: Coding?
    var rate = 0
    var channelCount = 0
    /// The size of a frame, in bytes.
    var frameByteCount = 0
    /// The offset of the first sample, in bytes.
    var begin = 0
    /// The size of the samples in bytes, as the header states it, whatever the size of the file; nil if the program
    /// that wrote the header did not know it.
    private var statedByteCount: Int?
    /// The offset of the body of the chunk `ds64`, which states the size in RF64; nil if there is none.
    private var sizesOffset: Int?
    var title: String?
    var artist: String?
    var album: String?

    /// The largest number of bytes of a tag list that are read.
    private static let listLimit = 4_096
    /// The number of bytes of the chunk `ds64` that hold the sizes.
    private static let sizesByteCount = WAVHeaderParser.sizesByteCounts.lowerBound
    /// The longest duration of stated samples, in seconds.
    private static let longest = 1e12

    init(_ window: inout ByteWindow) throws(DemuxerError) {
        var parser = WAVHeaderParser()
        var offset = WAVHeaderParser.fileHeaderByteCount
        for _ in 0..<WAVHeaderParser.chunkLimit {
            try Self.load(&window, at: offset, count: WAVHeaderParser.chunkHeaderByteCount)
            guard window.bytes.count == WAVHeaderParser.chunkHeaderByteCount else { break }
            let (kind, size) = WAVHeaderParser.chunk(window.bytes)
            offset += WAVHeaderParser.chunkHeaderByteCount
            if kind == .samples {
                guard parser.format != nil else { break }
                begin = offset
                try readSize(stated: size, parser, &window)
                return
            }
            try Self.load(&window, at: offset, count: min(size, Self.listLimit))
            switch kind {
            case .sizes:
                sizesOffset = offset
                parser.parseSizes(window.bytes)
            case .format:
                guard parser.parseFormat(window.bytes), let format = parser.format else { throw Self.badFormat }
                try adopt(format)
            case .list: readList(window.bytes)
            case .samples, .other: break
            }
            offset += size + size % 2
        }
        throw .malformed("this looks like WAV but is damaged or incomplete: download it again")
    }

    private static var badFormat: DemuxerError {
        .malformed("this looks like WAV, but its format is damaged: download it again")
    }

    private static func load(_ window: inout ByteWindow, at offset: Int, count: Int) throws(DemuxerError) {
        do { try window.load(at: offset, count: count) } catch { throw .byteSource(error) }
    }

    /// Reads the size of the samples. A stated size of 0 means that there are no samples if another chunk follows. If
    /// none follows, it means that the size is not written yet.
    private mutating func readSize(
        stated size: Int, _ parser: WAVHeaderParser, _ window: inout ByteWindow
    ) throws(DemuxerError) {
        statedByteCount = parser.sampleByteCount(
            stated: size, available: Self.available(in: window.byteSource, from: begin))
        guard size == 0 else { return }
        try Self.load(&window, at: begin, count: 4)
        if ["LIST", "cue ", "id3 ", "fact"].contains(where: { window.bytes.holds($0, at: 0) }) { statedByteCount = 0 }
    }

    private static func available(in byteSource: any ByteSource, from begin: Int) -> Int? {
        byteSource.state.byteCount.map { max($0 - begin, 0) }
    }

    /// Returns the present size of the samples; nil if the end is unknown.
    func byteCount(in byteSource: any ByteSource) -> Int? {
        let available = Self.available(in: byteSource, from: begin)
        guard let statedByteCount else { return available }
        return available.map { min($0, statedByteCount) } ?? statedByteCount
    }

    /// Records in `missing` the samples that the header states and the file lacks, and the bytes after them that are no
    /// chunk. The audio ends at `end`, after `byteCount` bytes of samples.
    func findEnd(
        _ window: inout ByteWindow, at end: Duration, after byteCount: Int, in missing: inout MissingAudio
    ) throws(DemuxerError) {
        guard byteCount > 0 else { return }
        let (stated, rest) = try surplus(&window)
        // Limits the duration, since the header may state any size.
        func duration(of count: Int) -> Duration {
            .seconds(min(end / .seconds(1) * (Double(count) / Double(byteCount)), Self.longest))
        }
        missing.endEarly(at: end, stated: duration(of: stated))
        if duration(of: rest.count) >= MissingAudio.shortestHole,
            try !FrameSearch.isPadding(at: rest.lowerBound, count: rest.count, in: &window)
        {
            missing.leaveOut(rest.count, at: end)
        }
    }

    /// Returns the size of the samples that the header states, 0 if it does not know it, and the bytes after them that
    /// belong to no chunk: a second file, or samples of which the header does not know.
    private func surplus(_ window: inout ByteWindow) throws(DemuxerError) -> (stated: Int, rest: Range<Int>) {
        let state = window.byteSource.state
        guard let statedByteCount, let byteCount = state.byteCount else { return (0, 0..<0) }
        guard state.isSeekable, statedByteCount < byteCount - begin else { return (statedByteCount, 0..<0) }
        var offset = begin + statedByteCount + statedByteCount % 2
        for _ in 0..<WAVHeaderParser.chunkLimit where offset < byteCount {
            try Self.load(&window, at: offset, count: WAVHeaderParser.chunkHeaderByteCount)
            let bytes = window.bytes
            guard bytes.count == WAVHeaderParser.chunkHeaderByteCount else { break }
            let isName = (0..<4).allSatisfy { 0x20..<0x7F ~= bytes[$0] }
            let size = Int(bytes.littleEndian32(at: 4))
            let isFile = ["RIFF", "RF64", "BW64", "FORM", "fLaC", "OggS", "wvpk"].contains { bytes.holds($0, at: 0) }
            guard isName, !isFile, size <= byteCount - offset - 7 else { return (statedByteCount, offset..<byteCount) }
            offset += WAVHeaderParser.chunkHeaderByteCount + size + size % 2
        }
        return (statedByteCount, 0..<0)
    }

    /// Reads the size again, since a program may still be writing the file. Returns true if there are more samples.
    mutating func rereadSize(in byteSource: any ByteSource) -> Bool {
        guard let statedByteCount, byteSource.state.isSeekable else { return false }
        var parser = WAVHeaderParser()
        if let sizesOffset {
            guard let sizes = Self.bytes(of: byteSource, at: sizesOffset, count: Self.sizesByteCount) else {
                return false
            }
            parser.parseSizes(sizes.span)
        }
        guard let size = Self.bytes(of: byteSource, at: begin - 4, count: 4) else { return false }
        let new = parser.sampleByteCount(
            stated: Int(size.span.littleEndian32(at: 0)), available: Self.available(in: byteSource, from: begin))
        guard new.map({ $0 > statedByteCount }) ?? true else { return false }
        self.statedByteCount = new
        return true
    }

    /// Counts all bytes of the file as samples, if those that follow the stated ones are no chunk. For a file to which a
    /// program appends before it states the size. Returns true if there are more samples.
    mutating func includeSurplus(_ window: inout ByteWindow) throws(DemuxerError) -> Bool {
        guard statedByteCount != nil, try !surplus(&window).rest.isEmpty else { return false }
        statedByteCount = nil
        return true
    }

    /// Returns `count` bytes at `offset` as they are now; nil if they cannot be read.
    private static func bytes(of byteSource: any ByteSource, at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = unsafe bytes.withUnsafeMutableBytes { try? unsafe byteSource.read(at: offset, into: $0) }
        return read == count ? bytes : nil
    }

    private mutating func adopt(_ format: WAVHeaderParser.Format) throws(DemuxerError) {
        (channelCount, rate, frameByteCount) = (format.channelCount, format.hertz, format.frameByteCount)
        guard channelCount > 0, SampleRate.recorded.contains(rate) else { throw Self.badFormat }
        coding =
            switch (format.tag, format.bitsPerSample) {
            case (1, 8): .unsigned8
            case (1, 16): .signed16
            case (1, 24): .signed24
            case (1, 32): .signed32
            case (3, 32): .float32
            case (3, 64): .float64
            default: nil
            }
        if channelCount > 64 || frameByteCount != channelCount * format.bitsPerSample / 8 { coding = nil }
    }

    /// Reads title, artist and album of an `INFO` list (`INAM`, `IART`, `IPRD`).
    private mutating func readList(_ bytes: Span<UInt8>) {
        guard bytes.holds("INFO", at: 0) else { return }
        var offset = 4
        while offset + 8 <= bytes.count {
            let size = Int(bytes.littleEndian32(at: offset + 4))
            let (isTitle, isArtist) = (bytes.holds("INAM", at: offset), bytes.holds("IART", at: offset))
            let isAlbum = bytes.holds("IPRD", at: offset)
            offset += 8
            guard size <= bytes.count - offset else { return }
            let text = (offset..<offset + size).map { bytes[$0] }.prefix { $0 != 0 }
            if isTitle { title = shown(String(decoding: text, as: UTF8.self)) }
            if isArtist { artist = shown(String(decoding: text, as: UTF8.self)) }
            if isAlbum { album = shown(String(decoding: text, as: UTF8.self)) }
            offset += size + size % 2
        }
    }
}
