/// The ID3 tag (versions 2.2 to 2.4, id3.org) at the start of many MP3, AAC and FLAC files: title, artist, album, gain,
/// chapters, and what describes the pictures. Everything else is skipped, the pictures themselves above all, without
/// buffering it.
///
/// It is our own code because libid3tag and TagLib load the whole tag, of up to 256 MB; here any tag passes through a
/// window of 128 KiB.
public struct ID3Tag: Equatable, Sendable {
    /// The offset of the first byte after the tags; 0 without a tag.
    public private(set) var byteCount = 0
    public private(set) var title: String?
    public private(set) var artist: String?
    public private(set) var album: String?
    /// The gain in frames of the program's own, which are named as in ReplayGain 2.0.
    public private(set) var gain = ReplayGain()
    /// The chapters in the order of their positions.
    public private(set) var chapters: [Chapter] = []
    public private(set) var pictures: [Picture] = []

    private static let headerByteCount = 10
    /// The largest number of frames of a tag that are read. What is in later frames is not found.
    private static let frameLimit = 2_000
    /// The largest number of bytes of a text or chapter that are read; the rest is cut off.
    private static let textLimit = 1_024
    /// The largest number of bytes of a picture that are read, to find its size.
    private static let pictureLimit = 8_192

    /// Reads all tags at the start of `window`, since some programs put their own tag before an existing tag.
    public init(_ window: inout ByteWindow) throws(ByteSourceError) {
        defer { chapters = chapters.ordered }
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
        if hasExtension {
            try window.load(at: offset, count: 4)
            let size = window.bytes
            guard size.count == 4 else { return }
            offset += version == 4 ? Self.synchsafe(size, at: 0) ?? 0 : Int(size.bigEndian32(at: 0)) + 4
        }
        for _ in 0..<Self.frameLimit {
            guard offset + Header.byteCount(version) < range.upperBound else { return }
            try window.load(at: offset, count: Header.byteCount(version))
            guard let header = Header(window.bytes, version: version) else { return }
            offset += Header.byteCount(version)
            guard header.bodyByteCount > 0, header.bodyByteCount <= range.upperBound - offset else { return }
            if header.isPlain, let kind = header.kind {
                let limit = kind == .picture ? Self.pictureLimit : Self.textLimit
                try window.load(at: offset, count: min(header.bodyByteCount, limit))
                read(kind, window.bytes, version: version, of: header.bodyByteCount)
            }
            offset += header.bodyByteCount
        }
    }

    private mutating func read(_ kind: FrameKind, _ bytes: Span<UInt8>, version: UInt8, of byteCount: Int) {
        switch kind {
        case .title: title = title ?? Self.text(bytes)
        case .artist: artist = artist ?? Self.text(bytes)
        case .album: album = album ?? Self.text(bytes)
        case .own:
            guard bytes.count > 1, var texts = ID3Text(encoding: bytes[0], from: 1), let name = texts.next(bytes),
                let value = texts.next(bytes)
            else { return }
            gain.read(name.uppercased(), value)
        case .picture:
            guard pictures.count < Picture.maximumCount else { return }
            if let picture = Self.picture(bytes, version: version, of: byteCount) { pictures.append(picture) }
        case .chapter:
            guard chapters.count < Chapter.maximumCount else { return }
            if let chapter = Self.chapter(bytes, version: version) { chapters.append(chapter) }
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
}

// MARK: Frames

extension ID3Tag {
    private enum FrameKind { case title, artist, album, own, picture, chapter }

    private struct Header {
        /// nil for frames that are skipped.
        var kind: FrameKind?
        var bodyByteCount: Int
        /// Whether the frame is neither compressed nor encrypted and has no length indicator.
        var isPlain: Bool

        static func byteCount(_ version: UInt8) -> Int { version == 2 ? 6 : 10 }

        /// Returns nil at the padding, which consists of zeros, and at the end of the file.
        init?(_ bytes: Span<UInt8>, version: UInt8) {
            guard bytes.count == Self.byteCount(version), bytes[0] != 0 else { return nil }
            kind = Self.kind(bytes, version: version)
            switch version {
            case 2: bodyByteCount = Int(bytes[3]) << 16 | Int(bytes[4]) << 8 | Int(bytes[5])
            case 4: bodyByteCount = ID3Tag.synchsafe(bytes, at: 4) ?? 0
            default: bodyByteCount = Int(bytes.bigEndian32(at: 4))
            }
            isPlain = version == 2 || bytes[9] & (version == 4 ? 0x0F : 0xC0) == 0
        }

        private static func kind(_ bytes: Span<UInt8>, version: UInt8) -> FrameKind? {
            let names: [(StaticString, StaticString, FrameKind)] = [
                ("TT2", "TIT2", .title), ("TP1", "TPE1", .artist), ("TAL", "TALB", .album), ("TXX", "TXXX", .own),
                ("PIC", "APIC", .picture),
            ]
            for (short, long, kind) in names where bytes.holds(version == 2 ? short : long, at: 0) { return kind }
            return version > 2 && bytes.holds("CHAP", at: 0) ? .chapter : nil
        }
    }

    /// Decodes a text frame. Its first byte names the encoding. Only the first of several values is used.
    private static func text(_ bytes: Span<UInt8>) -> String? {
        guard bytes.count > 1, var texts = ID3Text(encoding: bytes[0], from: 1) else { return nil }
        return texts.next(bytes).flatMap { shown($0) }
    }

    /// Reads an attached picture (section 4.14), whose frame has `byteCount` bytes, of which `bytes` are the first.
    private static func picture(_ bytes: Span<UInt8>, version: UInt8, of byteCount: Int) -> Picture? {
        guard bytes.count > 6 else { return nil }
        var mediaType: String?
        var offset = 4
        if version > 2 {
            guard var texts = ID3Text(encoding: 0, from: 1) else { return nil }
            mediaType = texts.next(bytes).flatMap { shown($0, limit: 64) }
            offset = texts.offset
        }
        guard offset + 1 < bytes.count else { return nil }
        let kind = Picture.Kind(rawValue: Int(bytes[offset]))
        guard var texts = ID3Text(encoding: bytes[0], from: offset + 1) else { return nil }
        _ = texts.next(bytes)
        return Picture(
            kind: kind, mediaType: mediaType, byteCount: byteCount - texts.offset,
            beginning: bytes.extracting(texts.offset...))
    }

    /// Reads a chapter (id3.org, ID3v2 Chapter Frame Addendum section 3.1): an identifier, four numbers, and frames.
    private static func chapter(_ bytes: Span<UInt8>, version: UInt8) -> Chapter? {
        guard var texts = ID3Text(encoding: 0, from: 0), texts.next(bytes) != nil, texts.offset + 16 <= bytes.count
        else { return nil }
        var chapter = Chapter(start: .milliseconds(Int64(bytes.bigEndian32(at: texts.offset))))
        var offset = texts.offset + 16
        while offset + Header.byteCount(version) < bytes.count, chapter.title == nil {
            let end = offset + Header.byteCount(version)
            guard let header = Header(bytes.extracting(offset..<end), version: version), header.bodyByteCount > 0 else {
                break
            }
            offset = end + min(header.bodyByteCount, bytes.count - end)
            if header.isPlain, header.kind == .title { chapter.title = text(bytes.extracting(end..<offset)) }
        }
        return chapter
    }
}
