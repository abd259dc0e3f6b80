internal import TenfourAudioCore

/// The entries of a playlist file (`.m3u`, `.m3u8`, `.pls`, `.xspf`), or the enclosures of a feed of a podcast (RSS, Atom).
///
/// It is our own code: the formats are lines of text or a few elements of XML, and Debian's library for them,
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
    /// The largest size of a playlist in XML, in bytes: 16 MiB, since feeds describe each entry at length.
    public static let maximumFeedByteCount = 1 << 24
    /// The largest number of entries; later entries are dropped.
    public static let maximumEntryCount = 10_000
    /// The largest number of playlists nested in each other. There is a limit because two playlists may refer to each
    /// other.
    public static let maximumDepth = 5

    /// Parses the playlist that lies at `resource`, in UTF-8, Windows-1252, or UTF-16 with a byte order mark, against which relative addresses are resolved. Entries that cannot
    /// be played are dropped. The result has at least one entry; if there is none, throws the reason.
    ///
    /// A playlist of HTTP Live Streaming, whose entries are parts of one stream, is refused: the module
    /// `TenfourHLSSource` reads it.
    public init(parsing bytes: Span<UInt8>, from resource: Resource) throws(PlaylistError) {
        let isFeed = PlaylistFeed.isFeed(bytes)
        guard bytes.count <= (isFeed ? Self.maximumFeedByteCount : Self.maximumByteCount) else { throw .tooLong }
        let found: [Reference]
        if isFeed {
            found = PlaylistFeed(bytes).references
        } else {
            let lines = TextLine.lines(of: bytes)
            let isPLS = lines.first { !$0.text.isEmpty }?.text.lowercased() == "[playlist]"
            found = isPLS ? Self.parsePLS(lines) : try Self.parseM3U(lines)
        }
        var refusal: ResourceError?
        entries = []
        for reference in found {
            do throws(ResourceError) {
                let shown = reference.title.map { String(fromPeer: $0) }
                entries.append(Entry(resource: try reference.resolved(at: resource), title: shown))
            } catch {
                refusal = refusal ?? error
            }
        }
        if entries.isEmpty { throw refusal.map { .unplayable($0) } ?? .empty }
    }

    /// An entry as the playlist states it.
    struct Reference {
        /// The address or path as text.
        var text: String
        /// The path by its bytes, if the playlist is no UTF-8.
        var path: String?
        var title: String?

        /// Resolves the reference against the playlist at `base`. A local path means the file of that name; if there is
        /// none, that of its text in Windows-1252, or else that of its percent-decoded text, since VLC percent-encodes names.
        func resolved(at base: Resource) throws(ResourceError) -> Resource {
            if case .http = base { return try base.resolving(text) }
            let first = try base.resolving(path ?? text)
            // The bytes of a path are no part of an address.
            guard case .file = first else { return try base.resolving(text) }
            if first.isExistingFile { return first }
            let others = [text, Resource.percentDecoded((path ?? text)[...])].compactMap(\.self)
            for other in others {
                if let found = try? base.resolving(other), found.isExistingFile { return found }
            }
            return try base.resolving(text)
        }
    }

    /// Returns whether a resource is a playlist, by its media type, first bytes and name.
    public static func isPlaylist(_ beginning: Span<UInt8>, contentType: String?, from resource: Resource?) -> Bool {
        let prefix = beginning.extracting(first: sniffedByteCount)
        if let text = UTF16Text.utf8(of: prefix) {
            return isPlaylist(text.span, contentType: contentType, from: resource)
        }
        guard prefix.count > 0, isText(prefix) else { return false }
        if PlaylistFeed.isFeed(beginning) { return true }
        let first = TextLine.lines(of: prefix).first { !$0.text.isEmpty }?.text.lowercased() ?? ""
        if first.hasPrefix("#extm3u") || first == "[playlist]" { return true }
        let type = contentType?.lowercased().prefix { $0 != ";" && $0 != " " } ?? ""
        if contentTypes.contains(String(type)) { return true }
        // Refuses HTML, since a web page about a playlist may have a playlist's name, too.
        return !first.hasPrefix("<") && resource.map(isNamedPlaylist) == true
    }

    /// The number of bytes that tell a playlist from audio. XML may need more, up to `PlaylistFeed.sniffedByteCount`.
    private static let sniffedByteCount = 512

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
        return [".m3u", ".m3u8", ".pls"].contains(where: end.hasSuffix)
    }

    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] < 0x20 {
            guard bytes[index] == 9 || bytes[index] == 10 || bytes[index] == 13 else { return false }
        }
        return true
    }

    private static func parseM3U(_ lines: [TextLine]) throws(PlaylistError) -> [Reference] {
        var found: [Reference] = []
        var title: String?
        for (line, path) in lines.map({ ($0.text, $0.path) }) {
            if line.hasPrefix("#") {
                let directive = line.prefix(8).uppercased()
                if directive.hasPrefix("#EXT-X-") { throw .httpLiveStreaming }
                if directive == "#EXTINF:", let comma = line.firstIndex(of: ",") {
                    let text = line[line.index(after: comma)...].drop(while: \.isWhitespace)
                    title = text.isEmpty ? nil : String(text)
                }
            } else if !line.isEmpty {
                if found.count == maximumEntryCount { break }
                found.append(Reference(text: String(line), path: path, title: title))
                title = nil
            }
        }
        return found
    }

    private static func parsePLS(_ lines: [TextLine]) -> [Reference] {
        var files: [Int: Reference] = [:]
        var titles: [Int: String] = [:]
        for (line, path) in lines.map({ ($0.text, $0.path) }) {
            guard let (key, value) = pair(line), !value.isEmpty else { continue }
            if key.hasPrefix("file"), let number = Int(key.dropFirst(4)), files.count < maximumEntryCount {
                files[number] = Reference(text: value, path: path.flatMap { pair($0[...])?.value })
            } else if key.hasPrefix("title"), let number = Int(key.dropFirst(5)), titles.count < maximumEntryCount {
                titles[number] = value
            }
        }
        return files.sorted { $0.key < $1.key }.map { number, reference in
            var reference = reference
            reference.title = titles[number]
            return reference
        }
    }

    /// Splits a line at its equals sign, which may have spaces around it. The key is in lower case.
    private static func pair(_ line: Substring) -> (key: String, value: String)? {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        let key = line[..<equals].lowercased().filter { !$0.isWhitespace }
        return (key, String(line[line.index(after: equals)...].drop(while: \.isWhitespace)))
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
            "the playlist is longer than \(Playlist.maximumByteCount >> 20) MiB, or a feed longer than \(Playlist.maximumFeedByteCount >> 20) MiB; play its entries one by one"
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
        try read(byteSource, upTo: sniffedByteCount, &bytes)
        if PlaylistFeed.mayBeFeed(bytes.span) { try read(byteSource, upTo: PlaylistFeed.sniffedByteCount, &bytes) }
        let state = byteSource.state
        guard isPlaylist(bytes.span, contentType: state.contentType, from: state.resource) else { return false }
        let limit = PlaylistFeed.isFeed(bytes.span) ? maximumFeedByteCount : maximumByteCount
        try read(byteSource, upTo: limit + 1, &bytes)
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
