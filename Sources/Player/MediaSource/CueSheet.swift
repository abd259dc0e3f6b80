internal import TenfourAudioCore

/// A CUE sheet: a text that divides audio files into tracks, as programs that copy CDs write it.
///
/// The commands FILE, TRACK, INDEX, PREGAP, TITLE and PERFORMER are read, each line in UTF-8 or Windows-1252, with or
/// without a byte order mark, or all in UTF-16 with one; all others are ignored. Source: appendix A of the user's guide of CDRWIN. The name of a file
/// may have any encoding: if there is a file with a name of just these bytes, it is the one.
///
/// It is our own code: Debian's libcue aborts the program on some damaged sheets, and a sheet is lines of text.
package struct CueSheet: Equatable, Sendable {
    package struct Track: Equatable, Sendable {
        package var resource: Resource
        package var part: MediaPart
        /// The silence before the track that PREGAP demands of a CD. It is not played.
        package var pregap = Duration.zero
    }

    package private(set) var tracks: [Track] = []
    /// The title of the album. Control characters are replaced.
    package private(set) var title: String?

    /// The largest size of a sheet, in bytes.
    package static let maximumByteCount = 1 << 18
    /// The largest number of tracks; a CD has at most 99.
    package static let maximumTrackCount = 999

    /// Parses the sheet that lies at `resource`, beside which its files lie. The result has at least one track.
    package init(parsing bytes: Span<UInt8>, from resource: Resource) throws(CueSheetError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var parser = CueParser(resource)
        for line in TextLine.lines(of: bytes) { try parser.read(line) }
        (tracks, title) = (try parser.finish(), parser.albumTitle)
    }
}

/// The part of a file that is one item of a queue.
package struct MediaPart: Equatable, Sendable {
    /// The number of the track.
    package var number: Int
    package var start: Duration
    /// The end in the file; nil for the end of the file.
    package var end: Duration?
    /// The title and the artist. Control characters are replaced.
    package var title: String?
    package var artist: String?

    package init(number: Int, start: Duration, end: Duration? = nil, title: String? = nil, artist: String? = nil) {
        self.number = number
        self.start = start
        self.end = end
        self.title = title
        self.artist = artist
    }
}

/// The reason why a CUE sheet cannot be played.
package enum CueSheetError: Error, Equatable, Sendable, CustomStringConvertible {
    case tooLong
    case noTracks
    /// The sheet names a file that does not lie beside it. The name is safe to show.
    case elsewhere(String)
    /// The text of the line is safe to show.
    case malformed(String)
    /// A track begins at or before the one before it in its file. The text of the line is safe to show.
    case disordered(String)
    case byteSource(ByteSourceError)

    /// A sentence for people that includes the remedy.
    package var description: String {
        switch self {
        case .tooLong:
            "the CUE sheet is longer than \(CueSheet.maximumByteCount >> 10) KiB; play its audio files directly"
        case .noTracks: "the CUE sheet has no tracks; play its audio files directly"
        case .elsewhere(let name):
            "the CUE sheet leads to '\(name)', which does not lie in its folder, so it is not opened; play that file directly"
        case .malformed(let line):
            "the CUE sheet has a line that cannot be read, '\(line)'; correct it in an editor"
        case .disordered(let line):
            "the CUE sheet has a track that does not begin after the track before it, '\(line)'; correct it in an editor"
        case .byteSource(let error): error.description
        }
    }
}

// MARK: Reading

extension CueSheet {
    /// Reads a sheet from `byteSource`. Returns nil if the bytes are no sheet; they can then be read again as audio.
    /// Blocks.
    package init?(reading byteSource: any ByteSource) throws(CueSheetError) {
        var window = ByteWindow(of: byteSource, capacity: 16_384)
        do { try window.load(at: 0, count: 512) } catch { throw .byteSource(error) }
        let resource = byteSource.state.resource ?? .standardInput
        guard Self.isCueSheet(window.bytes, from: resource) else { return nil }
        var whole = ByteWindow(of: byteSource, capacity: Self.maximumByteCount + 1)
        do { try whole.load(at: 0, count: Self.maximumByteCount + 1) } catch { throw .byteSource(error) }
        try self.init(parsing: whole.bytes, from: resource)
    }

    /// Returns whether a resource is a CUE sheet, by its name or by a FILE command in its first bytes.
    package static func isCueSheet(_ beginning: Span<UInt8>, from resource: Resource) -> Bool {
        let prefix = beginning.extracting(first: 512)
        if let text = UTF16Text.utf8(of: prefix) { return isCueSheet(text.span, from: resource) }
        guard prefix.count > 0 else { return false }
        for index in prefix.indices where prefix[index] < 0x20 {
            guard prefix[index] == 9 || prefix[index] == 10 || prefix[index] == 13 else { return false }
        }
        if isNamed(resource) { return true }
        let lines = String(utf8OrWindows1252: prefix).split(whereSeparator: \.isNewline)
        return lines.contains { line in
            let line = line.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
            return line.prefix(6).uppercased() == "FILE \""
        }
    }

    private static func isNamed(_ resource: Resource) -> Bool {
        switch resource {
        case .standardInput: false
        case .file(let path): path.suffix(4).lowercased() == ".cue"
        case .http(let address): address.prefix { $0 != "?" }.suffix(4).lowercased() == ".cue"
        }
    }
}
