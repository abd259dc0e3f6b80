internal import TenfourAudioCore

/// A member's name in the roster: 1…64 bytes of UTF-8 without control characters, and without white space at its ends.
public struct MemberName: Hashable, Sendable {
    public let text: String

    public static let maximumByteCount = 64

    public init?(_ text: String) { self.init(Array(text.utf8).span) }

    init?(_ bytes: Span<UInt8>) {
        guard (1...Self.maximumByteCount).contains(bytes.count) else { return nil }
        let copied = bytes.indices.map { bytes[$0] }
        guard let text = String(validating: copied, as: UTF8.self),
            // Characters that would be replaced when the name is displayed are not allowed in it.
            String(fromPeer: text, limit: Self.maximumByteCount) == text,
            let first = text.first, let last = text.last, !first.isWhitespace, !last.isWhitespace
        else { return nil }
        self.text = text
    }

    /// Compares the bytes, since Unicode counts different bytes as the same text.
    public static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    public func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}
