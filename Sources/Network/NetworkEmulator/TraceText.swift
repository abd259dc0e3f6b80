private import TenfourAudioCore

// A trace as text is CSV. A line holds the delay of a packet in milliseconds, or `lost`:
//
//     delay_ms                # this heading may be left out
//     31.25
//     lost
//
// In a trace with two columns, the first is the time from which on the line is valid, in milliseconds. The first line's
// time is the beginning of the trace; the times ascend; the last line is valid for as long as the line before it:
//
//     t_ms,delay_ms
//     0,31.25
//     20,lost
//
// `#` begins a comment. Empty lines and spaces around values are ignored; any other text is an error.

extension Trace {
    /// Reads a trace from its text.
    public init(parsing text: String) throws(TraceError) {
        var reader = TraceReader()
        var line = 0
        for content in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            line += 1
            try reader.read(content, line: line)
        }
        guard !reader.entries.isEmpty else { throw TraceError(line: max(line, 1), reason: .empty) }
        if reader.times.isEmpty {
            self.init(packets: reader.entries)
        } else {
            let steps = reader.times.suffix(2)
            let rest = steps.count == 2 ? steps[steps.endIndex - 1] - steps[steps.startIndex] : 1
            self.init(times: reader.times, entries: reader.entries, lasting: rest)
        }
    }

    /// The trace as text, which `init(parsing:)` reads.
    public var text: String {
        var text =
            isTimed
            ? "# from t_ms on, packets take delay_ms milliseconds or are lost\nt_ms,delay_ms\n"
            : "# each packet takes delay_ms milliseconds or is lost\ndelay_ms\n"
        for (index, entry) in entries.enumerated() {
            if isTimed { text += decimal(times[index], unit: 1_000_000) + "," }
            switch entry {
            case .lost: text += "lost\n"
            case .delayed(let delay): text += decimal(delay.asDelay, unit: 1_000_000) + "\n"
            }
        }
        return text
    }
}

/// The reason why a text is not a trace, and the number of the line, counted from 1.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        case empty
        /// The number of columns is neither 1 nor 2, or differs from the number in earlier lines.
        case columns(Int)
        case delay(String)
        case time(String)
        case timeNotLater(String)
    }

    public var line: Int
    public var reason: Reason

    public init(line: Int, reason: Reason) {
        self.line = line
        self.reason = reason
    }

    public var description: String {
        let what =
            switch reason {
            case .empty: "the trace has no entry: write one delay in milliseconds, or lost, on each line"
            case .columns(let count):
                "it has \(count) columns: write “delay_ms” or “t_ms,delay_ms”, the same in every line"
            case .delay(let text):
                "\(quoted(text)) is not a delay: write milliseconds from 0 to 3600000, or the word “lost”"
            case .time(let text): "\(quoted(text)) is not a time: write milliseconds"
            case .timeNotLater(let text):
                "the time \(quoted(text)) is not later than that of the line before: sort the lines by time"
            }
        return "trace line \(line): \(what)"
    }
}

private struct TraceReader {
    private(set) var entries: [Trace.Entry] = []
    /// The times of the entries in nanoseconds since the first one.
    private(set) var times: [Int64] = []
    /// The number of columns in the lines read so far; nil before the first line.
    private var columnCount: Int?
    /// The time in the first line, in nanoseconds.
    private var firstTime: Int64 = 0

    mutating func read(_ content: Substring, line: Int) throws(TraceError) {
        let content = content.prefix { $0 != "#" }
        guard content.contains(where: { !$0.isWhitespace }) else { return }
        let columns = content.split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
        guard columns.count <= 2, columnCount == nil || columnCount == columns.count
        else { throw TraceError(line: line, reason: .columns(columns.count)) }
        let isFirst = columnCount == nil
        columnCount = columns.count
        if isFirst && (columns == ["delay_ms"] || columns == ["t_ms", "delay_ms"]) { return }

        let delayText = columns[columns.count - 1]
        if delayText.lowercased() == "lost" {
            entries.append(.lost)
        } else {
            guard let delay = nanoseconds(ofMilliseconds: delayText, from: 0, to: 3_600_000)
            else { throw TraceError(line: line, reason: .delay(String(delayText))) }
            entries.append(.delayed(.nanoseconds(delay)))
        }
        if columns.count == 2 { try append(time: columns[0], line: line) }
    }

    private mutating func append(time text: Substring, line: Int) throws(TraceError) {
        // Accepts times within 4·10¹² ms of zero. Unix times fit up to the year 2096.
        guard let time = nanoseconds(ofMilliseconds: text, from: -4e12, to: 4e12)
        else { throw TraceError(line: line, reason: .time(String(text))) }
        if times.isEmpty { firstTime = time }
        guard times.isEmpty || time - firstTime > times[times.count - 1]
        else { throw TraceError(line: line, reason: .timeNotLater(String(text))) }
        times.append(time - firstTime)
    }
}

private func nanoseconds(ofMilliseconds text: Substring, from least: Double, to most: Double) -> Int64? {
    guard let number = Double(text), number >= least, number <= most else { return nil }
    return Int64((number * 1_000_000).rounded())
}
