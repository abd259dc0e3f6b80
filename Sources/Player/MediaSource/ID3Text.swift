internal import TenfourAudioCore

/// The texts in a frame of an ID3 tag, each ended by a zero or by the end of the frame (id3.org, section 3.3).
struct ID3Text {
    private let encoding: UInt8
    /// The offset of the next text in the frame.
    private(set) var offset: Int

    /// Begins with the text at `offset`. Its encoding is ISO 8859-1, UTF-16 with a byte order mark, UTF-16BE or UTF-8,
    /// from 0 to 3. Returns nil for other numbers.
    init?(encoding: UInt8, from offset: Int) {
        guard encoding <= 3 else { return nil }
        self.encoding = encoding
        self.offset = offset
    }

    /// Returns the next text, which may be cut off at the end of `bytes`; nil at the end. It is not safe to show.
    mutating func next(_ bytes: Span<UInt8>) -> String? {
        guard offset < bytes.count else { return nil }
        switch encoding {
        case 0: return String(String.UnicodeScalarView(singleBytes(bytes).map { Unicode.Scalar($0) }))
        case 3: return String(decoding: singleBytes(bytes), as: UTF8.self)
        default: return String(decoding: units(bytes), as: UTF16.self)
        }
    }

    private mutating func singleBytes(_ bytes: Span<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        while offset < bytes.count {
            defer { offset += 1 }
            if bytes[offset] == 0 { break }
            text.append(bytes[offset])
        }
        return text
    }

    private mutating func units(_ bytes: Span<UInt8>) -> [UInt16] {
        var units: [UInt16] = []
        var isLittle = false
        while offset + 1 < bytes.count {
            let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
            offset += 2
            switch (first, second) {
            case (0xFF, 0xFE): isLittle = true
            case (0xFE, 0xFF): isLittle = false
            case (0, 0): return units
            default: units.append(isLittle ? second << 8 | first : first << 8 | second)
            }
        }
        offset = bytes.count
        return units
    }
}
