internal import TenfourAudioCore

/// The audio that is missing in a file that is damaged, cut, or joined with another one.
struct MissingAudio {
    private var holes = (count: 0, begin: Duration.zero, length: Duration.zero)
    private var last = (end: Duration.zero, begin: Duration.zero, length: Duration.zero)
    private var longest = Duration.zero
    private var cut: (end: Duration, stated: Duration)?
    private var rest: (begin: Duration, byteCount: Int)?

    /// Shorter holes count as single damaged packets, as long as they are few. Holes at a shorter distance are one.
    static let shortestHole = Duration.milliseconds(250)
    /// The total of short holes from which on they are named.
    private static let manyHoles = Duration.seconds(1)
    /// A shorter difference between the stated and the real length counts as padding.
    static let shortestEnd = Duration.milliseconds(500)

    /// Records a hole. `end` is the position of the audio after it; nil if positions count the hole, so that it is
    /// `begin` and `length`. A demuxer and a decoder may find the same hole.
    mutating func addHole(at begin: Duration, lasting length: Duration, until end: Duration? = nil) {
        guard length > .zero else { return }
        let end = end ?? begin + length
        var added = length
        if holes.count > 0, begin - last.end < Self.shortestHole {
            let common = max(min(end, last.end) - max(begin, last.begin), .zero)
            added = max(length - common, .zero)
            last = (max(end, last.end), min(begin, last.begin), last.length + added)
        } else {
            holes.count += 1
            last = (end, begin, length)
        }
        if holes.count == 1 { holes.begin = last.begin }
        holes.length += added
        longest = max(longest, last.length)
    }

    /// Records that the audio ends at `end`, while the header states `stated`, unless the difference is short.
    mutating func endEarly(at end: Duration, stated: Duration) {
        if stated - end >= Self.shortestEnd { cut = (end, stated) }
    }

    /// Records that the audio ends at `end`, while there are `share` times as many bytes as were read. A hostile server states
    /// any number of bytes.
    mutating func endEarly(at end: Duration, share: Double) { endEarly(at: end, stated: end * min(share, 10_000)) }

    /// Records bytes after the end of the audio that belong to nothing in the file, such as a second file.
    mutating func leaveOut(_ byteCount: Int, at begin: Duration) { rest = (begin, byteCount) }

    /// Describes what is missing, with the remedy; nil if nothing is missing.
    var text: String? {
        var parts: [String] = []
        let holes = longest >= Self.shortestHole || self.holes.length >= Self.manyHoles ? self.holes : (0, .zero, .zero)
        if holes.count == 1 { parts.append("about \(Self.seconds(holes.length)) from \(Self.seconds(holes.begin)) on") }
        if holes.count > 1 {
            parts.append(
                "about \(Self.seconds(holes.length)) in \(holes.count) places, the first at \(Self.seconds(holes.begin)),"
            )
        }
        if let cut { parts.append("the end from \(Self.seconds(cut.end)) on (of \(Self.seconds(cut.stated)))") }
        var sentences: [String] = []
        if !parts.isEmpty {
            let verb = parts.count > 1 || holes.count > 0 ? "are" : "is"
            let reason = holes.count > 0 ? "damaged" : "cut"
            sentences.append("\(parts.joined(separator: ", and ")) \(verb) missing, since the file is \(reason)")
        }
        if let rest {
            sentences.append(
                "\(rest.byteCount) bytes that follow at \(Self.seconds(rest.begin)) are left out, since they are damaged or belong to another file"
            )
        }
        guard !sentences.isEmpty else { return nil }
        let remedy = rest == nil ? "download it again" : "split the file there, or download it again"
        return sentences.joined(separator: "; ") + ": " + remedy
    }

    /// Writes a duration with one decimal.
    static func seconds(_ duration: Duration) -> String {
        let tenths = Int(min((duration / .milliseconds(100)).rounded(), 1e15))
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

/// A demuxer that knows which audio is missing.
protocol MissingAudioReporting: Demuxer {
    /// The audio that is missing in what was read since the last seek. Complete at the end. A reader adds what cannot be
    /// decoded.
    var missing: MissingAudio { get set }
}

extension ByteSource {
    /// Whether the source has an end, so that its bytes can be complete. A stream in progress, or a pipe, has none.
    var hasEnd: Bool {
        let state = state
        return state.byteCount != nil && !state.isLive
    }
}
