internal import TenfourAudioCore

/// A line of a playlist or a CUE sheet, without white space at its ends.
struct TextLine {
    /// The line in UTF-8 or, if it is no UTF-8, in Windows-1252.
    var text: Substring
    /// The bytes of the line, as `String(pathBytes:)` keeps them, since names of files may have any encoding; nil if the
    /// whole file is UTF-8.
    var path: String?

    /// Returns the lines of a file, which may begin with a byte order mark.
    static func lines(of bytes: Span<UInt8>) -> [TextLine] {
        if let text = UTF16Text.utf8(of: bytes) { return Self.lines(of: text.span) }
        var lines: [TextLine] = []
        let hasMark = bytes.holds("\u{FEFF}", at: 0)
        let rest = bytes.extracting((hasMark ? 3 : 0)...)
        let isUTF8 = unsafe rest.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) } != nil
        var start = 0
        for index in 0...rest.count where index == rest.count || rest[index] == 0x0A || rest[index] == 0x0D {
            var (first, end) = (start, index)
            while first < end, isSpace(rest[first]) { first += 1 }
            while first < end, isSpace(rest[end - 1]) { end -= 1 }
            let line = rest.extracting(first..<end)
            let text = Substring(String(utf8OrWindows1252: line))
            let path = isUTF8 ? nil : String(pathBytes: (0..<line.count).map { line[$0] })
            lines.append(TextLine(text: text, path: path))
            start = index + 1
        }
        return lines
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
