/// The container format of a resource, recognised by its first bytes.
public enum ContainerFormat: Hashable, Sendable {
    case oggOpus
    /// Ogg that does not carry Opus.
    case ogg
    case wav
    case wave64
    case aiff
    case caf
    case flac
    case mp4
    /// Matroska and its subset WebM.
    case matroska
    /// MPEG transport stream: packets of 188 bytes, or 192 with a timestamp before each, as in television and HLS.
    case mpegTS
    /// Blocks of WavPack.
    case wavPack
    /// Musepack of stream version 7.
    case musepack7
    /// Musepack of stream version 8.
    case musepack8
    /// AU of Sun and NeXT.
    case au
    /// Another format, which libavformat recognises by more bytes, such as Windows Media, DTS, AVI or MPEG-PS.
    case other
    /// Frames of MPEG audio (layers I to III), AAC, AC-3 or E-AC-3 without a container.
    case elementary
    /// A web page, as captive portals, log-ins and errors send in place of audio.
    case html
    /// A gzip-compressed file.
    case gzip
    case playlist
    case empty
    case unknown
}

extension ContainerFormat {
    /// The number of bytes that `init(sniffing:)` examines.
    public static let sniffedByteCount = 512

    /// Recognises a format by its first `sniffedByteCount` bytes, after an `ID3Tag` if there is one. `.elementary` is a
    /// guess that its demuxer must confirm: many bytes look like the start of a frame.
    public init(sniffing bytes: Span<UInt8>) {
        func has(_ magic: StaticString, at offset: Int = 0) -> Bool { bytes.holds(magic, at: offset) }
        if bytes.isEmpty {
            self = .empty
        } else if has("OggS") {
            self = Self.firstPage(bytes, holds: "OpusHead") ? .oggOpus : .ogg
        } else if (has("RIFF") || has("RF64") || has("BW64")) && has("WAVE", at: 8) {
            self = .wav
        } else if has("riff\u{2E}") {
            self = .wave64
        } else if has("FORM") && (has("AIFF", at: 8) || has("AIFC", at: 8)) {
            self = .aiff
        } else if has("caff") {
            self = .caf
        } else if has("fLaC") {
            self = .flac
        } else if ["ftyp", "moov", "mdat", "wide", "free", "skip"].contains(where: { has($0, at: 4) }) {
            self = .mp4
        } else if bytes.count > 3 && bytes.bigEndian32(at: 0) == 0x1A45_DFA3 {
            self = .matroska
        } else if has("wvpk") {
            self = .wavPack
        } else if has("MP+") && bytes.count > 3 && bytes[3] & 0xF == 7 {
            self = .musepack7
        } else if has("MPCK") {
            self = .musepack8
        } else if has(".snd") {
            self = .au
        } else if Self.isOther(bytes) {
            self = .other
        } else if Self.hasPackets(bytes, every: 188, from: 0) || Self.hasPackets(bytes, every: 192, from: 4) {
            self = .mpegTS
        } else if bytes.count > 2 && bytes[0] == 0x1F && bytes[1] == 0x8B && bytes[2] == 8 {
            self = .gzip
        } else {
            self = Self(sniffingText: bytes)
        }
    }

    /// Returns whether `bytes` begin like a format that libavformat recognises: Windows Media, AVI, Flash, MPEG-PS, DTS,
    /// TTA, Monkey's Audio, AMR, RealMedia or DSF.
    private static func isOther(_ bytes: Span<UInt8>) -> Bool {
        if bytes.holds("RIFF", at: 0), bytes.holds("AVI ", at: 8) { return true }
        for magic: StaticString in ["FLV", "TTA", "MAC ", "#!AMR", ".RMF", "DSD "] where bytes.holds(magic, at: 0) {
            return true
        }
        let numbers: [UInt32] = [0x3026_B275, 0x0000_01BA, 0x7FFE_8001, 0xFE7F_0180, 0x1FFF_E800, 0xFF1F_00E8]
        return bytes.count > 3 && numbers.contains(bytes.bigEndian32(at: 0))
    }

    /// Returns whether the first Ogg page's payload begins with `magic`. The payload follows 27 bytes and the segment
    /// table (RFC 3533 section 6).
    private static func firstPage(_ bytes: Span<UInt8>, holds magic: StaticString) -> Bool {
        bytes.count > 26 && bytes.holds(magic, at: 27 + Int(bytes[26]))
    }

    /// Returns whether a transport stream packet begins at `start` and after every `byteCount` bytes. Each packet
    /// begins with 0x47 (ISO 13818-1 section 2.4.3.2). All packets that begin in the first `sniffedByteCount` bytes are
    /// checked.
    private static func hasPackets(_ bytes: Span<UInt8>, every byteCount: Int, from start: Int) -> Bool {
        guard bytes.count > start + 2 * byteCount else { return false }
        return stride(from: start, to: min(bytes.count, sniffedByteCount), by: byteCount).allSatisfy {
            bytes[$0] == 0x47
        }
    }

    private init(sniffingText bytes: Span<UInt8>) {
        var start = bytes.holds("\u{FEFF}", at: 0) ? 3 : 0
        while start < bytes.count, [0x09, 0x0A, 0x0D, 0x20].contains(bytes[start]) { start += 1 }
        let text = bytes.extracting(start...)
        if text.holds("#EXTM3U", at: 0) || text.holds("[playlist]", at: 0, ignoringCase: true) {
            self = .playlist
        } else if text.holds("<!", at: 0) || text.holds("<html", at: 0, ignoringCase: true)
            || text.holds("<?xml", at: 0)
            || text.holds("<head", at: 0, ignoringCase: true)
        {
            self = .html
        } else {
            self = text.isEmpty ? .unknown : .elementary
        }
    }

    /// Throws `refusal`, if there is one.
    package func check() throws(ReaderError) {
        guard let refusal else { return }
        throw .demuxer(.malformed(refusal, kind: self == .unknown ? .unknownFormat : .notAudio))
    }

    /// The reason why this format cannot be played, as a sentence with its remedy; nil if it may be playable.
    public var refusal: String? {
        switch self {
        case .empty: "this is empty: download it again, or check the program that should have written it"
        case .html:
            "this is a web page, not audio: open it in a browser, which may ask for a log-in or link to the audio"
        case .gzip: "this is compressed with gzip: decompress it first with `gunzip` or `curl --compressed`"
        case .playlist: "this is a playlist, not audio: play one of the addresses in it"
        case .unknown: "this is not a known audio format: convert it with ffmpeg first"
        default: nil
        }
    }
}

extension Span<UInt8> {
    /// Returns whether `magic` lies at `offset`.
    package func holds(_ magic: StaticString, at offset: Int, ignoringCase: Bool = false) -> Bool {
        let length = magic.utf8CodeUnitCount
        guard offset >= 0, count - offset >= length else { return false }
        return magic.withUTF8Buffer { requested in
            for index in 0..<length {
                let given = self[offset + index]
                let isUpper = ignoringCase && 0x41...0x5A ~= given
                let lower = isUpper ? given | 0x20 : given
                guard unsafe requested[index] == lower else { return false }
            }
            return true
        }
    }

    /// The big-endian number of four bytes at `offset`, which must exist.
    package func bigEndian32(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
            | UInt32(self[offset + 3])
    }

    /// The big-endian number of two bytes at `offset`, which must exist.
    package func bigEndian16(at offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

    package func littleEndian16(at offset: Int) -> UInt16 { UInt16(self[offset]) | UInt16(self[offset + 1]) << 8 }

    package func littleEndian32(at offset: Int) -> UInt32 {
        UInt32(littleEndian16(at: offset)) | UInt32(littleEndian16(at: offset + 2)) << 16
    }

    package func littleEndian64(at offset: Int) -> UInt64 {
        UInt64(littleEndian32(at: offset)) | UInt64(littleEndian32(at: offset + 4)) << 32
    }
}
