internal import Glibc
public import TenfourAudioCore

/// Ranges of a WAV file that are marked as `concealed`: their audio was lost in transit, and is concealed or silent.
///
/// They are stored after the samples as cue points with length and label (`cue `, and `ltxt` and `labl` in a `LIST` of
/// type `adtl`: Microsoft's Multimedia Programming Interface 1.0). Editors show them as labelled regions; players
/// ignore them. libsndfile is not used, since it writes cue points without lengths, which editors show as points.
public struct WAVMarks: Equatable, Sendable {
    /// The ranges in ascending order, neither overlapping nor adjacent.
    public private(set) var ranges: [Range<FrameCount>] = []

    /// The maximum number of ranges; further ranges are dropped.
    private static let maximumCount = 65_536
    private static let label = "concealed"
    /// The maximum number of chunks of a file that are searched for marks. The files that this module writes have
    /// fewer; marks after further chunks are not found.
    private static let maximumChunkCount = 1_024

    public init() {}

    /// Adds a range and merges it with ranges that it overlaps. Fast if it overlaps only the last ranges.
    public mutating func add(_ range: Range<FrameCount>) {
        guard !range.isEmpty else { return }
        var (start, end) = (range.lowerBound, range.upperBound)
        var later: [Range<FrameCount>] = []
        while let last = ranges.last, last.upperBound >= start {
            ranges.removeLast()
            if last.lowerBound > end {
                later.append(last)
            } else {
                (start, end) = (min(start, last.lowerBound), max(end, last.upperBound))
            }
        }
        ranges.append(start..<end)
        ranges += later.reversed()
        if ranges.count > Self.maximumCount { ranges.removeLast() }
    }

    // MARK: Writing

    /// Returns the chunks to append after `frameCount` frames; empty if there are no marks.
    func chunks(before frameCount: FrameCount) -> [UInt8] {
        let ranges = ranges.map { $0.clamped(to: .zero..<frameCount) }.filter { !$0.isEmpty }
        guard !ranges.isEmpty else { return [] }
        var points = Self.littleEndianBytes(ranges.count)
        var texts = Array("adtl".utf8)
        for (index, range) in ranges.enumerated() {
            let (start, length) = (range.lowerBound.rawValue, (range.upperBound - range.lowerBound).rawValue)
            let id = Self.littleEndianBytes(index + 1)
            points +=
                id + Self.littleEndianBytes(start) + Array("data".utf8) + Self.littleEndianBytes(0)
                + Self.littleEndianBytes(0) + Self.littleEndianBytes(start)
            texts += Self.chunk(
                "ltxt",
                id + Self.littleEndianBytes(length) + Array("rgn ".utf8) + Self.littleEndianBytes(0)
                    + Self.littleEndianBytes(0))
            texts += Self.chunk("labl", id + Array(Self.label.utf8) + [0])
        }
        return Self.chunk("cue ", points) + Self.chunk("LIST", texts)
    }

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        Array(name.utf8) + littleEndianBytes(body.count) + body + (body.count % 2 == 1 ? [0] : [])
    }

    private static func littleEndianBytes(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    // MARK: Reading

    /// Reads the marks of the file at `path`; none if it cannot be read or is not a WAV file.
    public init(ofFileAt path: String) {
        let file = unsafe path.withPath { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { return }
        defer { close(file) }
        let start = Self.read(12, at: 0, of: file)
        guard start.starts(with: "RIFF".utf8), start.dropFirst(8).starts(with: "WAVE".utf8) else { return }
        var (points, texts): ([UInt8], [UInt8]) = ([], [])
        var place = 12
        for _ in 0..<Self.maximumChunkCount {
            let head = Self.read(8, at: place, of: file)
            guard head.count == 8 else { break }
            let size = Self.number(head, at: 4)
            if head.starts(with: "cue ".utf8) { points = Self.read(size, at: place + 8, of: file) }
            if head.starts(with: "LIST".utf8) {
                let list = Self.read(size, at: place + 8, of: file)
                if list.starts(with: "adtl".utf8) { texts = Array(list.dropFirst(4)) }
            }
            place += 8 + size + size % 2
        }
        parse(points, texts)
    }

    /// Parses `points`, the body of a `cue ` chunk, and `texts`, the body of an `adtl` list.
    init(points: [UInt8], texts: [UInt8]) { parse(points, texts) }

    private mutating func parse(_ points: [UInt8], _ texts: [UInt8]) {
        var starts: [Int: Int] = [:]
        for place in stride(from: 4, through: points.count - 24, by: 24) {
            starts[Self.number(points, at: place)] = Self.number(points, at: place + 20)
        }
        var lengths: [Int: Int] = [:]
        var found: [Range<FrameCount>] = []
        var place = 0
        while place + 12 <= texts.count {
            let size = Self.number(texts, at: place + 4)
            let body = texts[min(place + 8, texts.count)..<min(place + 8 + size, texts.count)]
            let id = Self.number(texts, at: place + 8)
            if texts[place...].starts(with: "ltxt".utf8), body.count >= 8 {
                lengths[id] = Self.number(texts, at: place + 12)
            }
            if texts[place...].starts(with: "labl".utf8), body.dropFirst(4).starts(with: Self.label.utf8),
                let start = starts[id], let length = lengths[id]
            {
                found.append(FrameCount(start)..<FrameCount(start + length))
            }
            place += 8 + size + size % 2
        }
        for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) { add(range) }
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        guard offset + 4 <= bytes.count else { return 0 }
        return (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    /// Reads up to `count` bytes at `offset`, limited to the size of the largest list of marks.
    private static func read(_ count: Int, at offset: Int, of file: Int32) -> [UInt8] {
        let requested = min(count, maximumCount * 64)
        return unsafe [UInt8](unsafeUninitializedCapacity: requested) { room, count in
            count = max(unsafe pread(file, room.baseAddress, requested, off_t(offset)), 0)
        }
    }
}
