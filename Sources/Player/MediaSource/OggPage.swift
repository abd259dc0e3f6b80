/// One page of an Ogg stream (RFC 3533 section 6): pieces of packets, and where in the sound the last packet that ends in it ends.
struct OggPage: Equatable {
    /// Where it lies in the resource.
    var offset: Int
    var isContinuing: Bool
    var isFirst: Bool
    var isLast: Bool
    /// nil where no packet ends in the page.
    var granule: Int?
    var serial: UInt32
    var sequence: UInt32
    /// How long each piece is; one of 255 bytes goes on in the next.
    var segments: [UInt8]

    var headerByteCount: Int { Self.fixedByteCount + segments.count }
    var bodyByteCount: Int { segments.reduce(0) { $0 + Int($1) } }
    var end: Int { offset + headerByteCount + bodyByteCount }

    static let fixedByteCount = 27
    /// Six thousand years: what tells of more is damaged.
    static let lastGranule = 1 << 53
    static let longest = 27 + 255 + 255 * 255
}

/// Finds pages in a download, and believes only those whose checksum is right.
struct OggPages: ~Copyable {
    var window: ByteWindow

    init(_ window: consuming ByteWindow) { self.window = window }

    var byteSource: any ByteSource { window.byteSource }

    /// The page at `offset`, nil where there is none. Its bytes are then what the window has loaded.
    mutating func page(at offset: Int) throws(ByteSourceError) -> OggPage? {
        try window.load(at: offset, count: OggPage.fixedByteCount)
        guard window.bytes.count == OggPage.fixedByteCount, window.bytes.holds("OggS\0", at: 0) else { return nil }
        let count = Int(window.bytes[26])
        try window.load(at: offset, count: OggPage.fixedByteCount + count)
        guard window.bytes.count == OggPage.fixedByteCount + count else { return nil }
        var body = 0
        for index in 0..<count { body += Int(window.bytes[27 + index]) }
        try window.load(at: offset, count: OggPage.fixedByteCount + count + body)
        guard window.bytes.count == OggPage.fixedByteCount + count + body else { return nil }
        guard Self.checksum(of: window.bytes) == window.bytes.littleEndian32(at: 22) else { return nil }
        return Self.read(window.bytes, at: offset)
    }

    /// The first page that begins at `offset` or behind it, before `limit`.
    mutating func page(from offset: Int, before limit: Int) throws(ByteSourceError) -> OggPage? {
        var place = offset
        while place < limit {
            try window.load(at: place, count: 4_096)
            guard window.bytes.count >= OggPage.fixedByteCount else { return nil }
            guard let found = Self.mark(in: window.bytes) else {
                place += window.bytes.count - 3
                continue
            }
            place += found
            guard place < limit else { return nil }
            if let page = try self.page(at: place) { return page }
            place += 1
        }
        return nil
    }

    private static func mark(in bytes: Span<UInt8>) -> Int? {
        var index = 0
        while index + 4 <= bytes.count {
            if bytes[index] == 0x4F, bytes.holds("OggS", at: index) { return index }
            index += 1
        }
        return nil
    }

    private static func read(_ bytes: Span<UInt8>, at offset: Int) -> OggPage {
        let flags = bytes[5]
        let granule = Int64(bitPattern: bytes.littleEndian64(at: 6))
        return OggPage(
            offset: offset, isContinuing: flags & 1 != 0, isFirst: flags & 2 != 0, isLast: flags & 4 != 0,
            granule: 0...Int64(OggPage.lastGranule) ~= granule ? Int(granule) : nil,
            serial: bytes.littleEndian32(at: 14),
            sequence: bytes.littleEndian32(at: 18), segments: (0..<Int(bytes[26])).map { bytes[27 + $0] })
    }

    /// CRC-32 with the generator 04C11DB7, the highest bit first, over the page with zeros in the checksum's place.
    static func checksum(of page: Span<UInt8>) -> UInt32 {
        var sum: UInt32 = 0
        for index in page.indices {
            let byte = 22..<26 ~= index ? 0 : page[index]
            sum = sum << 8 ^ table[Int(UInt8(truncatingIfNeeded: sum >> 24) ^ byte)]
        }
        return sum
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { sum, _ in sum & 1 << 31 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }
}
