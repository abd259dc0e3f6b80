internal import TenfourAudioCore

/// The entries of a playlist file (`.m3u`, `.m3u8`, `.pls`).
///
/// It is our own code: both formats are lines of text, parsed here in 60 lines, and Debian's library for them,
/// libtotem-plparser, brings GLib and fetches addresses itself.
public struct Playlist: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public var resource: Resource
        /// The entry's title. Control characters are replaced.
        public var title: String?

        public init(resource: Resource, title: String? = nil) {
            self.resource = resource
            self.title = title
        }
    }

    public var entries: [Entry]

    /// The largest size of a playlist, in bytes; a longer one is refused without reading it.
    public static let maximumByteCount = 1 << 20
    /// The largest number of entries; later entries are dropped.
    public static let maximumEntryCount = 10_000
    /// The largest number of playlists nested in each other. There is a limit because two playlists may refer to each
    /// other.
    public static let maximumDepth = 5

    /// Parses the playlist that lies at `resource`, against which relative addresses are resolved. Entries that cannot
    /// be played are dropped. The result has at least one entry; if there is none, throws the reason.
    ///
    /// A playlist of HTTP Live Streaming, whose entries are parts of one stream, is refused: the module
    /// `TenfourHLSSource` reads it.
    public init(parsing bytes: Span<UInt8>, from resource: Resource) throws(PlaylistError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        let lines = Self.lines(of: bytes)
        let found =
            lines.first { !$0.isEmpty }?.lowercased() == "[playlist]" ? Self.parsePLS(lines) : try Self.parseM3U(lines)
        var refusal: ResourceError?
        entries = []
        for (reference, title) in found {
            do throws(ResourceError) {
                let shown = title.map { String(fromPeer: $0) }
                entries.append(Entry(resource: try resource.resolving(reference), title: shown))
            } catch {
                refusal = refusal ?? error
            }
        }
        if entries.isEmpty { throw refusal.map { .unplayable($0) } ?? .empty }
    }

    /// Returns whether a resource is a playlist, by its media type, first bytes and name.
    public static func isPlaylist(_ beginning: Span<UInt8>, contentType: String?, from resource: Resource?) -> Bool {
        let prefix = beginning.extracting(first: 512)
        guard prefix.count > 0, isText(prefix) else { return false }
        let first = lines(of: prefix).first { !$0.isEmpty }?.lowercased() ?? ""
        if first.hasPrefix("#extm3u") || first == "[playlist]" { return true }
        let type = contentType?.lowercased().prefix { $0 != ";" && $0 != " " } ?? ""
        if contentTypes.contains(String(type)) { return true }
        // Refuses HTML, since a web page about a playlist may have a playlist's name, too.
        return !first.hasPrefix("<") && resource.map(isNamedPlaylist) == true
    }

    private static let contentTypes: Set<String> = [
        "audio/x-mpegurl", "audio/mpegurl", "application/x-mpegurl", "application/mpegurl",
        "application/vnd.apple.mpegurl",
        "audio/x-scpls", "audio/scpls", "application/pls+xml",
    ]

    private static func isNamedPlaylist(_ resource: Resource) -> Bool {
        let name: Substring
        switch resource {
        case .standardInput: return false
        case .file(let path): name = path[...]
        case .http(let address): name = address.prefix { $0 != "?" }
        }
        let end = name.suffix(5).lowercased()
        return end.hasSuffix(".m3u") || end.hasSuffix(".m3u8") || end.hasSuffix(".pls")
    }

    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] < 0x20 {
            guard bytes[index] == 9 || bytes[index] == 10 || bytes[index] == 13 else { return false }
        }
        return true
    }

    /// Returns the lines, trimmed of white space.
    private static func lines(of bytes: Span<UInt8>) -> [Substring] {
        var text = Substring(String(utf8OrWindows1252: bytes))
        if text.first == "\u{FEFF}" { text.removeFirst() }
        return text.split(omittingEmptySubsequences: false) { $0.isNewline }.map { line in
            var line = line.drop(while: \.isWhitespace)
            while line.last?.isWhitespace == true { line.removeLast() }
            return line
        }
    }

    private typealias Found = [(reference: String, title: String?)]

    private static func parseM3U(_ lines: [Substring]) throws(PlaylistError) -> Found {
        var found: Found = []
        var title: String?
        for line in lines {
            if line.hasPrefix("#") {
                let directive = line.prefix(8).uppercased()
                if directive.hasPrefix("#EXT-X-") { throw .httpLiveStreaming }
                if directive == "#EXTINF:", let comma = line.firstIndex(of: ",") {
                    let text = line[line.index(after: comma)...].drop(while: \.isWhitespace)
                    title = text.isEmpty ? nil : String(text)
                }
            } else if !line.isEmpty {
                if found.count == maximumEntryCount { break }
                found.append((String(line), title))
                title = nil
            }
        }
        return found
    }

    private static func parsePLS(_ lines: [Substring]) -> Found {
        var files: [Int: String] = [:]
        var titles: [Int: String] = [:]
        for line in lines {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let key = line[..<equals].lowercased()
            let value = line[line.index(after: equals)...].drop(while: \.isWhitespace)
            guard !value.isEmpty else { continue }
            if key.hasPrefix("file"), let number = Int(key.dropFirst(4)), files.count < maximumEntryCount {
                files[number] = String(value)
            } else if key.hasPrefix("title"), let number = Int(key.dropFirst(5)), titles.count < maximumEntryCount {
                titles[number] = String(value)
            }
        }
        return files.sorted { $0.key < $1.key }.map { ($0.value, titles[$0.key]) }
    }
}

/// The reason why a playlist cannot be played.
public enum PlaylistError: Error, Equatable, Sendable, CustomStringConvertible {
    case empty
    case tooLong
    /// No entry can be played, for this reason.
    case unplayable(ResourceError)
    case httpLiveStreaming

    /// A sentence for people that includes the remedy.
    public var description: String {
        switch self {
        case .empty: "the playlist has no entries; check it in an editor"
        case .tooLong:
            "the playlist is longer than \(Playlist.maximumByteCount >> 20) MiB; play its entries one by one"
        case .unplayable(let error): error.description
        case .httpLiveStreaming:
            "this is a playlist of HTTP Live Streaming (HLS), whose entries are parts of one stream; play its own address"
        }
    }
}

extension PlaylistError {
    package var kind: MediaErrorKind { if case .unplayable(let error) = self { error.kind } else { .unplayableList } }
}

// MARK: Reading

extension Playlist {
    /// Reads a playlist from `byteSource`. Returns nil if the bytes are no playlist; they can then be read again as
    /// audio. Blocks.
    public init?(reading byteSource: any ByteSource) throws(PlaylistReadingError) {
        var bytes: [UInt8] = []
        do throws(ByteSourceError) {
            guard try Self.read(byteSource, into: &bytes) else { return nil }
        } catch {
            throw .byteSource(error)
        }
        do throws(PlaylistError) {
            try self.init(parsing: bytes.span, from: byteSource.state.resource ?? .standardInput)
        } catch {
            throw .playlist(error)
        }
    }

    /// Reads a playlist into `bytes`, one byte more than the largest size if it is longer. Returns false if the bytes are
    /// no playlist; they can then be read again as audio. Blocks.
    package static func read(_ byteSource: any ByteSource, into bytes: inout [UInt8]) throws(ByteSourceError) -> Bool {
        try read(byteSource, upTo: 512, &bytes)
        let state = byteSource.state
        guard isPlaylist(bytes.span, contentType: state.contentType, from: state.resource) else { return false }
        try read(byteSource, upTo: maximumByteCount + 1, &bytes)
        return true
    }

    /// Reads further bytes until there are `limit`, or to the end.
    package static func read(
        _ byteSource: any ByteSource, upTo limit: Int, _ bytes: inout [UInt8]
    ) throws(ByteSourceError) {
        var room = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < limit {
            let requested = min(room.count, limit - bytes.count)
            let offset = bytes.count
            var count = 0
            do {
                count = try unsafe room.withUnsafeMutableBytes {
                    try unsafe byteSource.read(
                        at: offset, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<requested]))
                }
            } catch let error as ByteSourceError {
                throw error
            } catch {
                return
            }
            if count == 0 { return }
            bytes += room[..<count]
        }
    }
}

public enum PlaylistReadingError: Error, Equatable, Sendable {
    case byteSource(ByteSourceError)
    case playlist(PlaylistError)
}
