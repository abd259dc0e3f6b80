extension String {
    /// Makes text from a peer (a name, an SDES item, a line of SDP) safe to display: the result cannot move the cursor,
    /// colour the screen, start a line or change the reading direction, and its length is limited.
    ///
    /// Controls (C0, C1, DEL), line and paragraph separators and the marks, embeddings, overrides and isolates of
    /// bidirectional text become U+FFFD, as do invalid UTF-8 and the bytes of paths that `String(pathBytes:)` keeps. Text
    /// of more than `limit` Unicode scalars is cut and ends in "…". Any bytes are accepted; at most `4 * limit + 4` bytes
    /// are read.
    public init(fromPeer bytes: Span<UInt8>, limit: Int = 255) {
        let prefix = bytes.extracting(first: 4 * limit + 4)
        let decoded = unsafe prefix.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        self.init(fromPeer: decoded, limit: limit)
    }

    /// Makes Unicode text from a peer safe to display, with the same replacements and limit as the initializer that
    /// takes bytes.
    public init(fromPeer text: String, limit: Int = 255) {
        self.init()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            guard index < limit else {
                unicodeScalars.append("…")
                return
            }
            unicodeScalars.append(scalar.disturbsATerminal || scalar.isPathByte ? "\u{FFFD}" : scalar)
        }
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is replaced: control, separator, bidirectional, annotation and tag characters. Zero-width
    /// joiners are kept, since Persian words and emoji families need them.
    fileprivate var disturbsATerminal: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F: true  // C0, DEL, C1
        case 0x2028, 0x2029: true  // line and paragraph separator
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // bidirectional marks and formatting
        case 0xFFF9...0xFFFB, 0xE0000...0xE007F: true  // interlinear annotation; tags, which are not seen
        default: false
        }
    }
}
