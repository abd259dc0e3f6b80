internal import TenfourAudioCore

/// Describes the participants behind SSRCs (SDES, RTCP packet type 202, RFC 3550 section 6.5).
public struct SourceDescription: Hashable, Sendable {
    /// The chunks, one for each source. Only the first 31 are written.
    public var chunks: [Chunk]

    public init(chunks: [Chunk]) { self.chunks = chunks }

    /// Creates a description of our own source. `canonicalName` stays the same when the SSRC changes and should not
    /// reveal a person or place (RFC 7022); `name` is for people. `extensions` are private items.
    public init(
        ssrc: SSRC, canonicalName: String, name: String? = nil, tool: String? = nil, extensions: [Item] = []
    ) {
        var items = [Item(.canonicalName, canonicalName)]
        if let name { items.append(Item(.name, name)) }
        if let tool { items.append(Item(.tool, tool)) }
        items += extensions
        chunks = [Chunk(ssrc: ssrc, items: items)]
    }

    public struct Chunk: Hashable, Sendable {
        public var ssrc: SSRC
        public var items: [Item]

        public init(ssrc: SSRC, items: [Item]) {
            self.ssrc = ssrc
            self.items = items
        }

        /// The first item of the given kind; nil if the chunk has none.
        public subscript(kind: Item.Kind) -> Item? { items.first { $0.kind == kind } }
    }

    public struct Item: Hashable, Sendable {
        public var kind: Kind
        /// The value as sent, at most 255 bytes. Compare values by these bytes; show `text` to people.
        public private(set) var value: [UInt8]

        /// Creates an item. Text beyond 255 bytes of UTF-8 is cut between two Unicode scalars.
        public init(_ kind: Kind, _ text: String) {
            self.kind = kind
            value = Array(text.prefix(ofUTF8: 255).utf8)
        }

        init(_ kind: Kind, value: [UInt8]) {
            self.kind = kind
            self.value = value
        }

        /// Creates a PRIV item (RFC 3550 section 6.5.8): `prefix` defines the meaning of `text`. Together they have at
        /// most 254 bytes.
        public init(privatePrefix prefix: String, _ text: String) {
            precondition(prefix.utf8.count + text.utf8.count <= 254, "an SDES item holds 255 bytes")
            kind = .privateExtension
            value = [UInt8(prefix.utf8.count)] + Array(prefix.utf8) + Array(text.utf8)
        }

        /// The value, made safe for a terminal.
        public var text: String { String(fromPeer: value.span) }

        /// The value of a PRIV item with the prefix `prefix`, made safe for a terminal. Nil for any other item.
        public func text(behindPrivatePrefix prefix: String) -> String? {
            let head = [UInt8(truncatingIfNeeded: prefix.utf8.count)] + Array(prefix.utf8)
            guard kind == .privateExtension, value.starts(with: head) else { return nil }
            return String(fromPeer: value.span.extracting(head.count..<value.count))
        }

        /// The kind of an item: RFC 3550 section 6.5.1 to 6.5.8. Items of other kinds are kept.
        public struct Kind: Hashable, Sendable {
            public var rawValue: UInt8
            /// Creates a kind from its number, 1…255; zero ends a list of items on the wire.
            public init(rawValue: UInt8) {
                precondition(rawValue != 0, "an SDES item has a kind")
                self.rawValue = rawValue
            }

            /// The canonical name (CNAME).
            public static let canonicalName = Kind(rawValue: 1)
            public static let name = Kind(rawValue: 2)
            public static let email = Kind(rawValue: 3)
            public static let phone = Kind(rawValue: 4)
            public static let location = Kind(rawValue: 5)
            /// The sending program.
            public static let tool = Kind(rawValue: 6)
            public static let note = Kind(rawValue: 7)
            /// PRIV: a prefix with its length, then a value.
            public static let privateExtension = Kind(rawValue: 8)
        }
    }

    /// The length on the wire in bytes, with the header.
    public var byteCount: Int { chunks.prefix(31).reduce(4) { $0 + $1.byteCount } }

    /// Appends the packet, which has `byteCount` bytes; `datagram` must have space for them.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        let chunks = chunks.prefix(31)
        datagram.append(headerOf: RTCPHeader.sourceDescription, count: chunks.count, byteCount: byteCount)
        for chunk in chunks { chunk.write(into: &datagram) }
    }
}

extension SourceDescription {
    init(parsing datagram: Span<UInt8>, _ header: RTCPHeader) throws(RTCPParseError) {
        var position = header.body.lowerBound
        chunks = []
        for _ in 0..<header.count {
            chunks.append(try Chunk(parsing: datagram, at: &position, header))
        }
    }
}

extension SourceDescription.Chunk {
    /// Parses a chunk. Its items end with a zero byte, and the chunk ends with the 32-bit word that contains this byte.
    fileprivate init(
        parsing datagram: Span<UInt8>, at position: inout Int, _ header: RTCPHeader
    ) throws(RTCPParseError) {
        let end = header.body.upperBound
        guard end - position >= 4 else { throw header.tooShort }
        ssrc = SSRC(datagram.uint32(at: position))
        items = []
        position += 4
        while true {
            guard position < end else { throw header.tooShort }
            let kind = datagram[position]
            guard kind != 0 else { break }
            guard position + 1 < end else { throw header.tooShort }
            let value = (position + 2)..<(position + 2 + Int(datagram[position + 1]))
            guard value.upperBound <= end else { throw header.tooShort }
            items.append(.init(.init(rawValue: kind), value: value.map { datagram[$0] }))
            position = value.upperBound
        }
        position += 4 - (position - header.body.lowerBound) % 4
    }

    fileprivate var byteCount: Int {
        let items = items.reduce(0) { $0 + 2 + $1.value.count }
        return 4 + (items / 4 + 1) * 4
    }

    fileprivate func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(bigEndian: ssrc.rawValue)
        var left = byteCount - 4
        for item in items {
            datagram.append(item.kind.rawValue)
            datagram.append(UInt8(item.value.count))
            for byte in item.value { datagram.append(byte) }
            left -= 2 + item.value.count
        }
        for _ in 0..<left { datagram.append(0) }
    }
}

extension String {
    /// The longest prefix of whole Unicode scalars that fits in `byteCount` bytes of UTF-8.
    func prefix(ofUTF8 byteCount: Int) -> Substring {
        guard utf8.count > byteCount else { return self[...] }
        var end = utf8.index(utf8.startIndex, offsetBy: byteCount)
        while utf8[end] & 0xC0 == 0x80 { utf8.formIndex(before: &end) }
        return self[..<end]
    }
}
