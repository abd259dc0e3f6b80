internal import TenfourAudioCore

/// Reads a CUE sheet line by line.
struct CueParser {
    private(set) var albumTitle: String?

    /// The resource of the sheet.
    private let sheet: Resource
    private var albumArtist: String?
    private var file: Resource?
    private var tracks: [CueSheet.Track] = []
    /// The track of the last TRACK command, which is no track of audio or has no INDEX 01 yet.
    private var open: OpenTrack?
    /// Whether TITLE and PERFORMER belong to a track, and not to the album.
    private var isInTrack = false

    private struct OpenTrack {
        var number: Int
        var isAudio: Bool
        var title: String?
        var artist: String?
        var pregap = Duration.zero
    }

    init(_ sheet: Resource) { self.sheet = sheet }

    mutating func read(_ line: TextLine) throws(CueSheetError) {
        var words = CueWords(line.text)
        guard let command = words.next() else { return }
        switch command.uppercased() {
        case "FILE":
            guard let name = words.next() else { throw .malformed(Self.quoted(line)) }
            var bytes = CueWords(line.path.map { $0[...] } ?? line.text)
            _ = bytes.next()
            file = try resource(named: name, bytes: bytes.next() ?? name)
        case "TRACK":
            guard file != nil, let number = words.next().flatMap({ Int($0) }),
                (0...CueSheet.maximumTrackCount).contains(number)
            else { throw .malformed(Self.quoted(line)) }
            // A track of data has no sound, and ends the one before it.
            open = OpenTrack(number: number, isAudio: words.next()?.uppercased() ?? "AUDIO" == "AUDIO")
            isInTrack = true
        case "INDEX": try readIndex(&words, line)
        case "PREGAP":
            guard let time = words.next().flatMap({ Self.time($0) }) else { throw .malformed(Self.quoted(line)) }
            open?.pregap = time
        case "TITLE": setTitle(words.next())
        case "PERFORMER": setArtist(words.next())
        default: break
        }
    }

    /// Returns the tracks, each with its end.
    func finish() throws(CueSheetError) -> [CueSheet.Track] {
        guard !tracks.isEmpty else { throw .noTracks }
        return tracks
    }

    private mutating func readIndex(_ words: inout CueWords, _ line: TextLine) throws(CueSheetError) {
        guard let number = words.next().flatMap({ Int($0) }), let time = words.next().flatMap({ Self.time($0) }) else {
            throw .malformed(Self.quoted(line))
        }
        guard number == 1, let track = open, let file else { return }
        open = nil
        if let last = tracks.last, last.resource == file, last.part.end == nil {
            guard last.part.start < time else { throw .disordered(Self.quoted(line)) }
            tracks[tracks.count - 1].part.end = time
        }
        guard track.isAudio, tracks.count < CueSheet.maximumTrackCount else { return }
        tracks.append(
            CueSheet.Track(
                resource: file,
                part: MediaPart(
                    number: track.number, start: time, title: track.title, artist: track.artist ?? albumArtist),
                pregap: track.pregap))
    }

    private mutating func setTitle(_ text: String?) {
        let text = text.flatMap { shown($0) }
        if !isInTrack {
            albumTitle = text
        } else if open != nil {
            open?.title = text
        } else if !tracks.isEmpty {
            tracks[tracks.count - 1].part.title = text
        }
    }

    private mutating func setArtist(_ text: String?) {
        let text = text.flatMap { shown($0) }
        if !isInTrack {
            albumArtist = text
        } else if open != nil {
            open?.artist = text
        } else if !tracks.isEmpty {
            tracks[tracks.count - 1].part.artist = text
        }
    }

    /// Returns the file whose name has these bytes. If there is none, or the sheet is UTF-8, returns that of the text.
    private func resource(named name: String, bytes: String) throws(CueSheetError) -> Resource {
        if bytes != name, let found = try? resource(named: bytes), found.isExistingFile { return found }
        return try resource(named: name)
    }

    /// Returns the file that `name` names, which must lie beside the sheet or in a folder below.
    private func resource(named name: String) throws(CueSheetError) -> Resource {
        let path = name.contains("/") ? name : String(name.map { $0 == "\\" ? "/" : $0 })
        // By bytes: a slash before a combining character ends a folder's name, and is another `Character`.
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isBeside = parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual("..".utf8) && !$0.elementsEqual(".".utf8) }
        // A name that `Resource` reads as anything but a relative path has a scheme.
        guard isBeside, !isDrive(path), (try? Resource(path)) == .file(path: path) else {
            throw .elsewhere(String(fromPeer: name, limit: 80))
        }
        // In an address, these characters would end the path.
        if case .http = sheet, path.contains(where: { "?#%".contains($0) }) {
            throw .elsewhere(String(fromPeer: name, limit: 80))
        }
        do throws(ResourceError) {
            let found = try sheet.resolving(path)
            guard Self.isBelow(found, sheet) else { throw ResourceError("it lies elsewhere") }
            return found
        } catch {
            throw .elsewhere(String(fromPeer: name, limit: 80))
        }
    }

    private func isDrive(_ path: String) -> Bool {
        let bytes = Array(path.utf8.prefix(2))
        guard bytes.count == 2, bytes[1] == UInt8(ascii: ":") else { return false }
        return (65...90).contains(bytes[0]) || (97...122).contains(bytes[0])
    }

    private static func isBelow(_ resource: Resource, _ sheet: Resource) -> Bool {
        switch (resource, sheet) {
        case (.file(let path), .file(let base)):
            path.hasPrefix(base.lastIndex(of: "/").map { String(base[...$0]) } ?? "") && path != base
        case (.file(let path), .standardInput): !path.hasPrefix("/")
        case (.http(let address), .http(let base)):
            base.prefix { $0 != "?" }.lastIndex(of: "/").map { address.hasPrefix(base[...$0]) } ?? false
        default: false
        }
    }

    /// Parses minutes, seconds and frames of a seventy-fifth of a second, such as `03:25:74`; at most 1000 minutes.
    private static func time(_ text: String) -> Duration? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ (1...4).contains($0.utf8.count) }) else { return nil }
        guard let minutes = Int(parts[0]), let seconds = Int(parts[1]), let frames = Int(parts[2]),
            (0..<1_000).contains(minutes), (0..<60).contains(seconds), (0..<75).contains(frames)
        else { return nil }
        // 10^18 / 75, whose fraction is a third.
        let attoseconds = Int64(frames) * 13_333_333_333_333_333 + Int64(frames) / 3
        return Duration(secondsComponent: Int64(minutes * 60 + seconds), attosecondsComponent: attoseconds)
    }

    private static func quoted(_ line: TextLine) -> String {
        String(fromPeer: String(line.text.drop(while: \.isWhitespace)), limit: 80)
    }
}

/// The words of a line: separated by spaces, or in quotation marks.
private struct CueWords {
    private var rest: Substring

    init(_ line: Substring) { rest = line }

    mutating func next() -> String? {
        rest = rest.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        guard let first = rest.first else { return nil }
        if first == "\"" {
            rest.removeFirst()
            // A name may contain quotation marks: the last one on the line ends it.
            guard let end = rest.lastIndex(of: "\"") else {
                defer { rest = "" }
                return String(rest)
            }
            defer { rest = rest[rest.index(after: end)...] }
            return String(rest[..<end])
        }
        let end = rest.firstIndex(where: \.isWhitespace) ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(rest[..<end])
    }
}
