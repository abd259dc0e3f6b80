import TenfourAudioCore

/// The comment header of Opus in Ogg (RFC 7845 section 5.2): names and values such as `TITLE=family`.
public struct OpusComments: Equatable, Sendable {
    public var comments: [Comment]

    public struct Comment: Equatable, Sendable {
        /// The name, such as `TITLE`. Case has no meaning.
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The largest number of comments that are read; further ones are skipped.
    private static let maximumCount = 1_000
    /// The length of the longest comment that is read, in bytes; longer ones, which are pictures, are skipped.
    private static let longestComment = 4_096

    public init(_ comments: [Comment] = []) { self.comments = comments }

    /// Returns the value of the first comment with this name, such as `TITLE`; nil if there is none.
    public func value(of name: String) -> String? {
        comments.first { $0.name.uppercased() == name.uppercased() }?.value
    }

    /// Returns the packet of the header. If it is shorter than `byteCount`, zeros follow the comments, which readers skip,
    /// so that later comments can be written in the same place.
    public func bytes(paddedTo byteCount: Int = 0) -> [UInt8] {
        var bytes = Array("OpusTags".utf8) + Self.counted(Array("tenfour".utf8)) + Self.number(comments.count)
        for comment in comments { bytes += Self.counted(Array("\(comment.name)=\(comment.value)".utf8)) }
        return bytes + [UInt8](repeating: 0, count: max(byteCount - bytes.count, 0))
    }

    /// Parses the packet of a comment header. Total: for any bytes it returns comments or throws. Values are safe to
    /// display, and cut to 255 characters.
    public init(parsing packet: Span<UInt8>) throws(OggOpusError) {
        guard packet.begins(with: "OpusTags") else { throw .noComments }
        comments = []
        var offset = 8
        _ = try Self.field(of: packet, at: &offset)
        let count = try Self.number(in: packet, at: &offset)
        for _ in 0..<min(count, Self.maximumCount) {
            let field = try Self.field(of: packet, at: &offset)
            guard field.count <= Self.longestComment,
                let equals = field.first(where: { packet[$0] == UInt8(ascii: "=") })
            else { continue }
            comments.append(
                Comment(
                    String(fromPeer: packet.extracting(field.lowerBound..<equals)),
                    String(fromPeer: packet.extracting((equals + 1)..<field.upperBound))))
        }
    }
}

extension OpusComments {
    private static func number(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } }

    private static func counted(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count) + bytes }

    private static func number(in packet: Span<UInt8>, at offset: inout Int) throws(OggOpusError) -> Int {
        guard packet.count - offset >= 4 else { throw .truncated }
        defer { offset += 4 }
        return (0..<4).reduce(0) { $0 | Int(packet[offset + $1]) << (8 * $1) }
    }

    /// Returns the place of a text whose length precedes it.
    private static func field(of packet: Span<UInt8>, at offset: inout Int) throws(OggOpusError) -> Range<Int> {
        let count = try number(in: packet, at: &offset)
        guard count <= packet.count - offset else { throw .truncated }
        defer { offset += count }
        return offset..<offset + count
    }
}
