internal import TenfourAudioCore

/// The comments of an Ogg Opus stream (RFC 7845 section 5.2), read piece by piece: title, artist, album, gain, chapters
/// and what describes the pictures.
///
/// Only the beginning of each comment is kept while it is read, so that a picture of any size takes no memory.
struct VorbisComments {
    private(set) var title: String?
    private(set) var artist: String?
    private(set) var album: String?
    private(set) var gain = ReplayGain()
    private(set) var pictures: [Picture] = []
    var chapters: [Chapter] { chapterComments.chapters }

    private var chapterComments = ChapterComments()
    private var state = State.magic
    /// The bytes of the present field, at most `keptByteCount`.
    private var kept: [UInt8] = []
    /// The number of bytes of the present field that are still to come.
    private var left: Int
    private var commentsLeft: UInt32 = 0

    private enum State { case magic, vendorLength, vendor, count, length, comment, ended }

    /// The number of bytes of a comment that are kept.
    private static let keptByteCount = 8_192

    private static let magic: StaticString = "OpusTags"

    init() { left = Self.magic.utf8CodeUnitCount }

    /// Whether the bytes so far may be comments.
    private(set) var isValid = true

    /// Reads the next bytes of the packet.
    mutating func append(_ bytes: Span<UInt8>) {
        var offset = 0
        while offset < bytes.count, state != .ended {
            let step = min(left, bytes.count - offset)
            for index in offset..<offset + min(step, max(Self.keptByteCount - kept.count, 0)) {
                kept.append(bytes[index])
            }
            offset += step
            left -= step
            while left == 0, state != .ended { finishField() }
        }
    }

    /// Ends the present field and begins the next one.
    private mutating func finishField() {
        let number = kept.count == 4 ? kept.span.littleEndian32(at: 0) : 0
        switch state {
        case .magic:
            isValid = kept.span.holds(Self.magic, at: 0)
            begin(isValid ? .vendorLength : .ended, 4)
        case .vendorLength: begin(.vendor, Int(number))
        case .vendor: begin(.count, 4)
        case .count:
            commentsLeft = number
            beginComment()
        case .length: begin(.comment, Int(number))
        case .comment:
            readComment()
            beginComment()
        case .ended: break
        }
    }

    private mutating func beginComment() {
        guard commentsLeft > 0 else { return begin(.ended, 0) }
        commentsLeft -= 1
        begin(.length, 4)
    }

    private mutating func begin(_ next: State, _ byteCount: Int) {
        kept.removeAll(keepingCapacity: true)
        (state, left) = (next, byteCount)
    }

    private mutating func readComment() {
        guard let sign = kept.firstIndex(of: UInt8(ascii: "=")), (1...64).contains(sign) else { return }
        let name = String(decoding: kept[..<sign], as: UTF8.self).uppercased()
        let value = kept[(sign + 1)...]
        switch name {
        case "TITLE": title = title ?? Self.text(value)
        case "ARTIST": artist = artist ?? Self.text(value)
        case "ALBUM": album = album ?? Self.text(value)
        case "METADATA_BLOCK_PICTURE": readPicture(value)
        default:
            let text = String(decoding: value.prefix(4_096), as: UTF8.self)
            if !chapterComments.read(name, text) { gain.read(name, text) }
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        shown(String(decoding: bytes.prefix(4_096), as: UTF8.self))
    }

    /// Reads the beginning of a picture block in Base64.
    private mutating func readPicture(_ value: ArraySlice<UInt8>) {
        guard pictures.count < Picture.maximumCount else { return }
        let block = [UInt8](base64: value)
        if let picture = Picture(block: block.span) { pictures.append(picture) }
    }
}

extension [UInt8] {
    /// Decodes Base64 (RFC 4648 section 4) up to the first byte that does not belong to it.
    fileprivate init(base64 text: ArraySlice<UInt8>) {
        self = []
        var (bits, bitCount) = (UInt32(0), 0)
        for byte in text {
            let value: UInt8
            switch byte {
            case 0x41...0x5A: value = byte - 0x41
            case 0x61...0x7A: value = byte - 0x61 + 26
            case 0x30...0x39: value = byte - 0x30 + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: return
            }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
        }
    }
}
