/// A picture in a file, such as its cover. Only what describes it is kept; its bytes are skipped.
public struct Picture: Equatable, Sendable {
    /// The subject of the picture; nil if the file does not say it.
    public var kind: Kind?
    /// The media type, such as `image/jpeg`; nil if it is unknown. Control characters are replaced.
    public var mediaType: String?
    /// The size in bytes.
    public var byteCount: Int
    /// The width and height in pixels; nil if they are unknown.
    public var size: Size?

    public struct Size: Equatable, Sendable {
        public var width: Int
        public var height: Int

        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The picture types of ID3v2 (section 4.14) and FLAC.
    public struct Kind: Equatable, Sendable, CustomStringConvertible {
        /// The number of the type, 0…20.
        public let rawValue: UInt8

        public static let frontCover = Self(checked: 3)

        /// Returns nil for a number that stands for no type.
        public init?(rawValue: Int) {
            guard Self.names.indices.contains(rawValue) else { return nil }
            self.rawValue = UInt8(rawValue)
        }

        private init(checked rawValue: UInt8) { self.rawValue = rawValue }

        /// The type as words, such as `front cover`.
        public var description: String { Self.names[Int(rawValue)] }

        private static let names = [
            "other", "file icon", "other file icon", "front cover", "back cover", "leaflet page", "medium",
            "lead artist", "artist", "leader of the orchestra", "band", "composer", "lyricist", "recording location",
            "during recording", "during performance", "screen capture", "fish", "illustration", "band logo",
            "publisher logo",
        ]
    }

    public init(kind: Kind? = nil, mediaType: String? = nil, byteCount: Int, size: Size? = nil) {
        self.kind = kind
        self.mediaType = mediaType
        self.byteCount = byteCount
        self.size = size
    }

    /// The largest number of pictures of a track. Later ones are left out.
    package static let maximumCount = 64
}

extension Picture {
    /// Creates a picture from the beginning of its bytes, by which its media type and size are recognised: PNG, JPEG
    /// and GIF.
    package init(kind: Kind?, mediaType: String?, byteCount: Int, beginning bytes: Span<UInt8>) {
        let found = Self.recognise(bytes)
        self.init(
            kind: kind, mediaType: found?.mediaType ?? mediaType, byteCount: byteCount, size: found?.size)
    }

    /// Creates a picture from the beginning of a FLAC picture block, which Ogg has too (RFC 9639 section 8.8). Returns
    /// nil if it is damaged.
    package init?(block bytes: Span<UInt8>) {
        guard bytes.count >= 8 else { return nil }
        let kind = Kind(rawValue: Int(bytes.bigEndian32(at: 0)))
        var offset = 4
        func skippedText() -> Range<Int>? {
            guard offset + 4 <= bytes.count else { return nil }
            let length = Int(bytes.bigEndian32(at: offset))
            guard length <= bytes.count - offset - 4 else { return nil }
            defer { offset += 4 + length }
            return offset + 4..<offset + 4 + length
        }
        guard let type = skippedText(), type.count <= 256, skippedText() != nil, offset + 20 <= bytes.count else {
            return nil
        }
        let (width, height) = (Int(bytes.bigEndian32(at: offset)), Int(bytes.bigEndian32(at: offset + 4)))
        self.init(
            kind: kind, mediaType: shown(String(decoding: type.map { bytes[$0] }, as: UTF8.self)),
            byteCount: Int(bytes.bigEndian32(at: offset + 16)), beginning: bytes.extracting((offset + 20)...))
        if size == nil, width > 0, height > 0 { size = Size(width: width, height: height) }
    }

    private static func recognise(_ bytes: Span<UInt8>) -> (mediaType: String, size: Size?)? {
        if bytes.holds("\u{0D}\u{0A}\u{1A}\u{0A}", at: 4), bytes.holds("PNG", at: 1) {
            guard bytes.count >= 24 else { return ("image/png", nil) }
            return ("image/png", size(bytes.bigEndian32(at: 16), bytes.bigEndian32(at: 20)))
        }
        if bytes.holds("GIF8", at: 0) {
            guard bytes.count >= 10 else { return ("image/gif", nil) }
            return ("image/gif", size(UInt32(bytes.littleEndian16(at: 6)), UInt32(bytes.littleEndian16(at: 8))))
        }
        if bytes.count > 3, bytes[0] == 0xFF, bytes[1] == 0xD8, bytes[2] == 0xFF {
            return ("image/jpeg", jpegSize(bytes))
        }
        return nil
    }

    private static func size(_ width: UInt32, _ height: UInt32) -> Size? {
        width > 0 && height > 0 ? Size(width: Int(width), height: Int(height)) : nil
    }

    /// Finds the frame header (ISO 10918-1 section B.2.2) behind other segments.
    private static func jpegSize(_ bytes: Span<UInt8>) -> Size? {
        var offset = 2
        while offset + 9 <= bytes.count, bytes[offset] == 0xFF {
            let marker = bytes[offset + 1]
            if 0xC0...0xCF ~= marker, ![0xC4, 0xC8, 0xCC].contains(marker) {
                let (high, wide) = (bytes.bigEndian16(at: offset + 5), bytes.bigEndian16(at: offset + 7))
                return size(UInt32(wide), UInt32(high))
            }
            let length = Int(bytes.bigEndian16(at: offset + 2))
            guard length >= 2 else { return nil }
            offset += 2 + length
        }
        return nil
    }
}
