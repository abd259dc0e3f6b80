/// A chapter of a recording, as an audiobook, a podcast or a concert has them.
public struct Chapter: Equatable, Sendable {
    /// The position at which the chapter begins. It ends where the next one begins, or at the end of the recording.
    public var start: Duration
    /// The title; nil if the file states none. Control characters are replaced.
    public var title: String?

    public init(start: Duration, title: String? = nil) {
        self.start = start
        self.title = title
    }

    /// The largest number of chapters of a track. Later ones are left out.
    public static let maximumCount = 10_000
}

extension [Chapter] {
    /// The chapters in the order of their positions, at most `Chapter.maximumCount`. Negative positions are left out,
    /// and of chapters that begin at the same position all but the first.
    package var ordered: [Chapter] {
        var chapters: [Chapter] = []
        // The sort is stable, so that of equal positions the first chapter of the file stays.
        for chapter in sorted(by: { $0.start < $1.start }) where chapter.start >= .zero {
            guard chapters.last?.start != chapter.start, chapters.count < Chapter.maximumCount else { continue }
            chapters.append(chapter)
        }
        return chapters
    }

    /// Returns the index of the chapter that contains `position`; nil before the first chapter.
    package func index(at position: Duration) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].start <= position { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }

    /// The chapters of the part of a file that begins at `start`, with positions in this part.
    func within(_ part: MediaPart) -> [Chapter] {
        compactMap { chapter in
            guard chapter.start >= part.start, part.end.map({ chapter.start < $0 }) ?? true else { return nil }
            return Chapter(start: chapter.start - part.start, title: chapter.title)
        }
    }
}

/// Chapters in comments such as `CHAPTER01=00:00:00.000` and `CHAPTER01NAME=Beginning`, as Ogg and FLAC have them.
/// Source: https://wiki.xiph.org/Chapter_Extension.
struct ChapterComments {
    private var starts: [Int: Duration] = [:]
    private var titles: [Int: String] = [:]

    /// Reads a comment. `name` is in upper case. Returns false if it is about no chapter.
    mutating func read(_ name: String, _ value: String) -> Bool {
        guard name.hasPrefix("CHAPTER") else { return false }
        let rest = name.dropFirst(7)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard (1...6).contains(digits.count), let number = Int(digits), starts.count < Chapter.maximumCount else {
            return false
        }
        switch rest.dropFirst(digits.count) {
        case "":
            guard let start = Self.time(value), starts[number] == nil else { return false }
            starts[number] = start
        case "NAME" where titles.count < Chapter.maximumCount: titles[number] = shown(value)
        default: return false
        }
        return true
    }

    var chapters: [Chapter] {
        starts.sorted { $0.key < $1.key }.map { Chapter(start: $0.value, title: titles[$0.key]) }.ordered
    }

    /// Parses `HH:MM:SS.mmm`. Returns nil for other text.
    private static func time(_ text: String) -> Duration? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hours = Int(parts[0]), (0..<10_000).contains(hours),
            let minutes = Int(parts[1]), (0..<60).contains(minutes), let seconds = Double(parts[2]),
            (0..<60).contains(seconds)
        else { return nil }
        return .seconds(hours * 3_600 + minutes * 60) + .milliseconds(Int64((seconds * 1_000).rounded()))
    }
}
