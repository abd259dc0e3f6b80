/// The ID3 tag (versions 2.2 to 2.4, id3.org) at the start of many MP3, AAC and FLAC files. Reads title and artist and
/// skips everything else, pictures above all, without buffering it.
///
/// It is our own code because libid3tag and TagLib load the whole tag, of up to 256 MB; here any tag passes through a
/// window of 128 KiB.
public struct ID3Tag: Equatable, Sendable {
    /// The offset of the first byte after the tags; 0 without a tag.
    public private(set) var byteCount = 0
    public private(set) var title: String?
    public private(set) var artist: String?

    private static let headerByteCount = 10
    /// The largest number of frames of a tag that are read; title and artist in later frames are not found.
    private static let frameLimit = 200
    /// The largest number of bytes of a text that are read; the rest is cut off.
    private static let textLimit = 1_024

    /// Reads all tags at the start of `window`, since some programs put their own tag before an existing tag.
    public init(_ window: inout ByteWindow) throws(ByteSourceError) {
        for _ in 0..<16 {
            try window.load(at: byteCount, count: Self.headerByteCount)
            let header = window.copiedBytes
            guard header.count == Self.headerByteCount, header.span.holds("ID3", at: 0), 2...4 ~= header[3] else {
                return
            }
            guard let size = Self.synchsafe(header.span, at: 6) else { return }
            let version = header[3]
            let flags = header[5]
            let start = byteCount
            let hasFooter = version == 4 && flags & 0x10 != 0
            byteCount += Self.headerByteCount + size + (hasFooter ? Self.headerByteCount : 0)
            // Skips the frames of a tag of version 2.2 with bit 6, which announces a compression that was never
            // specified. In later versions this bit announces an extended header.
            let isReadable = flags & 0x80 == 0 || version == 4
            if isReadable, !(version == 2 && flags & 0x40 != 0) {
                try readFrames(
                    &window, version: version, hasExtension: flags & 0x40 != 0,
                    in: start + Self.headerByteCount..<start + Self.headerByteCount + size)
            }
        }
    }

    private mutating func readFrames(
        _ window: inout ByteWindow, version: UInt8, hasExtension: Bool, in range: Range<Int>
    ) throws(ByteSourceError) {
        var offset = range.lowerBound
        let headerByteCount = version == 2 ? 6 : 10
        if hasExtension {
            try window.load(at: offset, count: 4)
            let size = window.bytes
            guard size.count == 4 else { return }
            offset += version == 4 ? Self.synchsafe(size, at: 0) ?? 0 : Int(size.bigEndian32(at: 0)) + 4
        }
        for _ in 0..<Self.frameLimit {
            guard title == nil || artist == nil, offset + headerByteCount < range.upperBound else { return }
            try window.load(at: offset, count: headerByteCount)
            let header = window.copiedBytes
            // Ends at the padding, which consists of zeros.
            guard header.count == headerByteCount, header[0] != 0 else { return }
            let isTitle = header.span.holds(version == 2 ? "TT2" : "TIT2", at: 0)
            let isArtist = header.span.holds(version == 2 ? "TP1" : "TPE1", at: 0)
            let byteCount: Int
            switch version {
            case 2: byteCount = Int(header[3]) << 16 | Int(header[4]) << 8 | Int(header[5])
            case 4: byteCount = Self.synchsafe(header.span, at: 4) ?? 0
            default: byteCount = Int(header.span.bigEndian32(at: 4))
            }
            // Reads only frames that are neither compressed nor encrypted and have no length indicator.
            let isPlain = version == 2 || header[9] & (version == 4 ? 0x0F : 0xC0) == 0
            offset += headerByteCount
            guard byteCount > 0, byteCount <= range.upperBound - offset else { return }
            if isPlain, isTitle || isArtist {
                try window.load(at: offset, count: min(byteCount, Self.textLimit))
                let text = Self.text(window.bytes)
                if isTitle { title = title ?? text } else { artist = artist ?? text }
            }
            offset += byteCount
        }
    }

    /// Returns the number in four bytes of seven bits each; nil if a top bit is set.
    private static func synchsafe(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
        var value = 0
        for index in offset..<offset + 4 {
            guard bytes[index] < 0x80 else { return nil }
            value = value << 7 | Int(bytes[index])
        }
        return value
    }

    /// Decodes a text frame. Its first byte names the encoding: ISO 8859-1, UTF-16 with a byte order mark, UTF-16BE or
    /// UTF-8. Only the first of several values is used.
    private static func text(_ bytes: Span<UInt8>) -> String? {
        guard let encoding = bytes.count > 1 ? bytes[0] : nil else { return nil }
        var units: [UInt16] = []
        switch encoding {
        case 0:
            for index in 1..<bytes.count {
                if bytes[index] == 0 { break }
                units.append(UInt16(bytes[index]))
            }
        case 1, 2:
            var isLittle = false
            var index = 1
            while index + 1 < bytes.count {
                let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                index += 2
                if first == 0xFF && second == 0xFE {
                    isLittle = true
                    continue
                }
                if first == 0xFE && second == 0xFF {
                    isLittle = false
                    continue
                }
                let unit = isLittle ? second << 8 | first : first << 8 | second
                if unit == 0 { break }
                units.append(unit)
            }
        case 3:
            var utf8: [UInt8] = []
            for index in 1..<bytes.count {
                if bytes[index] == 0 { break }
                utf8.append(bytes[index])
            }
            return shown(String(decoding: utf8, as: UTF8.self))
        default: return nil
        }
        return shown(String(decoding: units, as: UTF16.self))
    }
}
