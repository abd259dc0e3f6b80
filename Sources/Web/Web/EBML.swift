/// The elements of EBML (RFC 8794), of which WebM consists: id, size, content.
enum EBML {
    static func element(_ id: UInt32, _ content: [UInt8]) -> [UInt8] { identifier(id) + size(content.count) + content }

    /// An unsigned number, in as few bytes as possible.
    static func number(_ id: UInt32, _ number: UInt64) -> [UInt8] {
        let byteCount = max((64 - number.leadingZeroBitCount + 7) / 8, 1)
        return element(id, bytes(of: number, count: byteCount))
    }

    static func text(_ id: UInt32, _ text: String) -> [UInt8] { element(id, Array(text.utf8)) }

    static func decimal(_ id: UInt32, _ number: Double) -> [UInt8] {
        element(id, bytes(of: number.bitPattern, count: 8))
    }

    /// The beginning of an element whose size is unknown because its content has no end.
    static func endless(_ id: UInt32) -> [UInt8] { identifier(id) + [0x01] + [UInt8](repeating: 0xFF, count: 7) }

    private static func identifier(_ id: UInt32) -> [UInt8] {
        bytes(of: UInt64(id), count: (32 - id.leadingZeroBitCount + 7) / 8)
    }

    /// A size in 1, 2 or 8 bytes; the first bit that is set tells which.
    private static func size(_ size: Int) -> [UInt8] {
        if size < 0x7F { return [0x80 | UInt8(size)] }
        if size < 0x3FFF { return bytes(of: 0x4000 | UInt64(size), count: 2) }
        return bytes(of: 0x0100_0000_0000_0000 | UInt64(size), count: 8)
    }

    private static func bytes(of number: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
    }
}
