internal import TenfourAudioCore

/// Metadata that a radio station sends within its stream: `StreamTitle='…';StreamUrl='…';`.
///
/// The format has no specification; this parser accepts the metadata that SHOUTcast and Icecast send, and never fails.
/// FFmpeg parses this format only inside its own HTTP client.
public struct ICYMetadata: Equatable, Sendable {
    /// The title; empty if the station sends an empty title, nil if it sends none. Control characters are replaced.
    public var title: String?
    public var url: String?

    /// The longest block that the length byte can announce.
    public static let maximumByteCount = 255 * 16

    /// Reads at most `maximumByteCount` bytes. Text is UTF-8 or, if that is invalid, Windows-1252, which includes
    /// Latin-1.
    public init(parsing bytes: Span<UInt8>) {
        var rest = bytes.extracting(first: Self.maximumByteCount)
        // Removes the padding: zeros up to a multiple of 16 bytes.
        var end = rest.count
        while end > 0, rest[end - 1] == 0 { end -= 1 }
        rest = rest.extracting(..<end)
        var place = 0
        while let (key, value, next) = Self.field(of: rest, from: place) {
            if title == nil, Self.text(rest.extracting(key)).lowercased() == "streamtitle" {
                title = Self.shown(rest.extracting(value))
            } else if url == nil, Self.text(rest.extracting(key)).lowercased() == "streamurl" {
                url = Self.shown(rest.extracting(value))
            }
            place = next
        }
    }

    /// Parses `key='value';`. The value may contain quotation marks and semicolons: it ends where another field begins,
    /// or at the end.
    private static func field(of bytes: Span<UInt8>, from start: Int) -> (
        key: Range<Int>, value: Range<Int>, next: Int
    )? {
        var equals = start
        while equals < bytes.count, bytes[equals] != UInt8(ascii: "=") { equals += 1 }
        guard equals + 1 < bytes.count else { return nil }
        guard bytes[equals + 1] == UInt8(ascii: "'") else {
            // An unquoted value ends at the semicolon.
            var end = equals + 1
            while end < bytes.count, bytes[end] != UInt8(ascii: ";") { end += 1 }
            return (start..<equals, equals + 1..<end, min(end + 1, bytes.count))
        }
        let first = equals + 2
        var end = first
        while end < bytes.count {
            if bytes[end] == UInt8(ascii: "'"), isEnd(bytes, after: end) {
                return (start..<equals, first..<end, min(end + 2, bytes.count))
            }
            end += 1
        }
        return (start..<equals, min(first, bytes.count)..<bytes.count, bytes.count)
    }

    private static func isEnd(_ bytes: Span<UInt8>, after quotation: Int) -> Bool {
        if quotation + 1 == bytes.count { return true }
        guard bytes[quotation + 1] == UInt8(ascii: ";") else { return false }
        var place = quotation + 2
        if place == bytes.count { return true }
        while place < bytes.count, isNameByte(bytes[place]) { place += 1 }
        return place > quotation + 2 && place < bytes.count && bytes[place] == UInt8(ascii: "=")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || (48...57).contains(byte) || byte == 95
    }

    private static func shown(_ bytes: Span<UInt8>) -> String { String(fromPeer: text(bytes), limit: 1_024) }

    private static func text(_ bytes: Span<UInt8>) -> String { String(utf8OrWindows1252: bytes) }
}

extension String {
    /// Decodes UTF-8 or, if that is invalid, Windows-1252.
    init(utf8OrWindows1252 bytes: Span<UInt8>) {
        let text = unsafe bytes.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
        if let text {
            self = text
            return
        }
        self.init()
        for index in bytes.indices { unicodeScalars.append(windows1252(bytes[index])) }
    }
}

private func windows1252(_ byte: UInt8) -> Unicode.Scalar {
    (0x80...0x9F).contains(byte) ? windows1252Scalars[Int(byte) - 0x80] : Unicode.Scalar(byte)
}

/// The characters of 0x80…0x9F, which are control characters in Latin-1.
private let windows1252Scalars = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)
