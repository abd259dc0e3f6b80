internal import TenfourAudioCore
public import TenfourMediaSource

/// A playlist of HTTP Live Streaming (RFC 8216, section 4).
///
/// It is our own code: FFmpeg's reader of these playlists fetches addresses itself, past our rules for schemes, hosts,
/// credentials and memory.
public enum HLSPlaylist: Equatable, Sendable {
    /// A list of streams with the same content.
    case master(HLSMasterPlaylist)
    /// A list of segments.
    case media(HLSMediaPlaylist)

    /// The largest size of a playlist, in bytes.
    public static let maximumByteCount = 8 << 20
    /// The largest number of segments.
    public static let maximumSegmentCount = 100_000
    /// The largest number of streams in a master playlist; later streams are not read.
    public static let maximumStreamCount = 256

    /// Parses the playlist that lies at `base`.
    public init(parsing bytes: Span<UInt8>, from base: Resource) throws(HLSPlaylistError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var parser = HLSPlaylistParser(base: base)
        var lines = HLSLines(bytes)
        guard let first = lines.nextFilled(), first.hasPrefix("#EXTM3U") else { throw .noPlaylist }
        while let line = lines.nextFilled() { try parser.parse(line) }
        self = try parser.result()
    }

    /// Returns whether `bytes` are a playlist of HTTP Live Streaming or its beginning: they begin with `#EXTM3U` and
    /// have a tag that begins with `#EXT-X-`.
    public static func isHLS(_ bytes: Span<UInt8>) -> Bool {
        var lines = HLSLines(bytes)
        guard let first = lines.nextFilled(), first.hasPrefix("#EXTM3U") else { return false }
        while let line = lines.nextFilled() {
            if line.hasPrefix("#EXT-X-") || line.hasPrefix("#ext-x-") { return true }
        }
        return false
    }
}

/// The lines of a text, without white space at their ends. Comments are left out.
struct HLSLines {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: Span<UInt8>) {
        self.bytes = [UInt8](capacity: bytes.count) { for index in bytes.indices { $0.append(bytes[index]) } }
        if self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    /// Returns the next line that is not empty and no comment; nil at the end.
    mutating func nextFilled() -> String? {
        while place < bytes.count {
            var start = place
            var end = bytes[place...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
            place = end + 1
            while start < end, bytes[start] == 32 || bytes[start] == 9 { start += 1 }
            while start < end, bytes[end - 1] == 32 || bytes[end - 1] == 9 { end -= 1 }
            if start == end { continue }
            // Leaves out comments here, before a string is made: all tags begin with `#EXT`.
            if bytes[start] == 35, !bytes[start..<end].prefix(4).elementsEqual("#EXT".utf8),
                !bytes[start..<end].prefix(4).elementsEqual("#ext".utf8)
            {
                continue
            }
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        return nil
    }
}
