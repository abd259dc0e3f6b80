internal import TenfourAudioCore

/// The audio that is missing in a file that is damaged, cut, or joined with another one.
struct MissingAudio {
    private var holes = (count: 0, begin: Duration.zero, length: Duration.zero)
    private var cut: (end: Duration, stated: Duration?)?
    private var rest: (begin: Duration, byteCount: Int)?

    /// A shorter hole counts as single damaged packets.
    static let shortestHole = Duration.milliseconds(250)
    /// A shorter difference between the stated and the real length counts as padding.
    static let shortestEnd = Duration.milliseconds(500)

    /// Records a hole, unless it is short.
    mutating func addHole(at begin: Duration, lasting length: Duration) {
        guard length >= Self.shortestHole else { return }
        if holes.count == 0 { holes.begin = begin }
        holes.count += 1
        holes.length += length
    }

    /// Records that the audio ends at `end`, while the header states `stated`, unless the difference is short.
    mutating func endEarly(at end: Duration, stated: Duration) {
        if stated - end >= Self.shortestEnd { cut = (end, stated) }
    }

    /// Records that the file ends within a page, and the audio at `end`. The length of the whole is unknown.
    mutating func endWithinPage(at end: Duration) { cut = cut ?? (end, nil) }

    /// Records bytes after the end of the audio that belong to nothing in the file, such as a second file.
    mutating func leaveOut(_ byteCount: Int, at begin: Duration) { rest = (begin, byteCount) }

    /// Describes what is missing, with the remedy; nil if nothing is missing.
    var text: String? {
        var parts: [String] = []
        if holes.count == 1 { parts.append("about \(Self.seconds(holes.length)) from \(Self.seconds(holes.begin)) on") }
        if holes.count > 1 {
            parts.append(
                "about \(Self.seconds(holes.length)) in \(holes.count) places, the first at \(Self.seconds(holes.begin)),"
            )
        }
        if let cut {
            let whole = cut.stated.map { " (of \(Self.seconds($0)))" } ?? ""
            parts.append("the end from \(Self.seconds(cut.end)) on\(whole)")
        }
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
    /// The audio that is missing in what was read since the last seek. Complete at the end.
    var missing: MissingAudio { get }
}

extension ByteSource {
    /// Whether the source has an end, so that its bytes can be complete. A stream in progress, or a pipe, has none.
    var hasEnd: Bool {
        let state = state
        return state.byteCount != nil && !state.isLive
    }
}
