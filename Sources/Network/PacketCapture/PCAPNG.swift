internal import TenfourAudioCore

/// The pcapng format of Wireshark and dumpcap: a sequence of blocks, some of which contain packets
/// (draft-ietf-opsawg-pcapng).
struct PCAPNG {
    /// The byte order of the section that is being read.
    private var order = ByteOrder.bigEndian
    private var interfaces: [Interface] = []

    /// The type of a section header block. It is the same in both byte orders.
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    private static let byteOrderMagic: UInt32 = 0x1A2B_3C4D
    /// The maximum length of a block in bytes. A longer block counts as damage.
    private static let longestBlock = 16 << 20
    /// The maximum number of interfaces of a section. A further interface counts as damage.
    private static let maximumInterfaceCount = 65_536

    fileprivate struct Interface {
        var linkType: LinkType
        var longestPacket: Int
        /// The number of time units in a second: a power of ten or of two.
        var unitsInSecond: UInt64 = 1_000_000
        /// The number of seconds added to the time of each packet (the option `if_tsoffset`).
        var offset: Int64 = 0
    }

    mutating func next(in bytes: Span<UInt8>, at start: Int) -> CaptureStep {
        var position = start
        while position < bytes.count {
            guard position + 12 <= bytes.count else { return .damage("it ends within a block") }
            let isSection = ByteOrder.bigEndian.uint32(bytes, at: position) == Self.sectionHeader
            if isSection {
                guard let order = order(ofSectionAt: position + 8, in: bytes) else {
                    return .damage("a section has no byte order")
                }
                self.order = order
                interfaces = []
            }
            let type = order.uint32(bytes, at: position)
            let byteCount = Int(order.uint32(bytes, at: position + 4))
            guard byteCount >= 12, byteCount % 4 == 0, byteCount <= Self.longestBlock else {
                return .damage("a block says it has \(byteCount) bytes")
            }
            guard byteCount <= bytes.count - position else { return .damage("it ends within a block") }
            let body = position + 8..<position + byteCount - 4
            position += byteCount
            switch type {
            case 1:
                guard addInterface(bytes, body) else { return .damage("the description of an interface is truncated") }
            case 2, 3, 6:
                guard let packet = packet(type, bytes, body) else { return .damage("a packet does not fit its block") }
                return .packet(packet, end: position)
            default:
                break
            }
        }
        return .end
    }

    private func order(ofSectionAt offset: Int, in bytes: Span<UInt8>) -> ByteOrder? {
        if ByteOrder.bigEndian.uint32(bytes, at: offset) == Self.byteOrderMagic { return .bigEndian }
        return ByteOrder.littleEndian.uint32(bytes, at: offset) == Self.byteOrderMagic ? .littleEndian : nil
    }

    private mutating func addInterface(_ bytes: Span<UInt8>, _ body: Range<Int>) -> Bool {
        guard body.count >= 8, interfaces.count < Self.maximumInterfaceCount else { return false }
        let longest = Int(order.uint32(bytes, at: body.lowerBound + 4))
        var interface = Interface(
            linkType: LinkType(rawValue: UInt32(order.uint16(bytes, at: body.lowerBound))),
            longestPacket: longest == 0 ? .max : longest)
        var position = body.lowerBound + 8
        while position + 4 <= body.upperBound {
            let code = order.uint16(bytes, at: position)
            let byteCount = Int(order.uint16(bytes, at: position + 2))
            guard code != 0, position + 4 + byteCount <= body.upperBound else { break }
            if code == 9, byteCount == 1 { interface.setResolution(bytes[position + 4]) }
            if code == 14, byteCount == 8 {
                interface.offset = Int64(bitPattern: order.uint64(bytes, at: position + 4))
            }
            position += 4 + (byteCount + 3) / 4 * 4
        }
        interfaces.append(interface)
        return true
    }

    /// Reads a packet block: enhanced (type 6), simple (3) or obsolete (2). Nil if its lengths contradict each other.
    private func packet(_ type: UInt32, _ bytes: Span<UInt8>, _ body: Range<Int>) -> CapturedPacket? {
        let headerByteCount = type == 3 ? 4 : 20
        guard body.count >= headerByteCount else { return nil }
        let start = body.lowerBound + headerByteCount
        guard type != 3 else {
            guard let interface = interfaces.first else { return nil }
            let original = Int(order.uint32(bytes, at: body.lowerBound))
            let kept = min(original, interface.longestPacket, body.upperBound - start)
            // Gives the packet time 0, because a simple packet block contains no time.
            return CapturedPacket(
                time: .start, linkType: interface.linkType, bytes: start..<start + kept, originalByteCount: original)
        }
        let number =
            type == 2
            ? Int(order.uint16(bytes, at: body.lowerBound)) : Int(order.uint32(bytes, at: body.lowerBound))
        guard number < interfaces.count else { return nil }
        let high = UInt64(order.uint32(bytes, at: body.lowerBound + 4))
        let low = UInt64(order.uint32(bytes, at: body.lowerBound + 8))
        let byteCount = Int(order.uint32(bytes, at: body.lowerBound + 12))
        guard byteCount <= body.upperBound - start else { return nil }
        return CapturedPacket(
            time: interfaces[number].time(high << 32 | low), linkType: interfaces[number].linkType,
            bytes: start..<start + byteCount, originalByteCount: Int(order.uint32(bytes, at: body.lowerBound + 16)))
    }
}

extension PCAPNG.Interface {
    /// Reads the option `if_tsresol`. It states the time unit as a negative power of ten, or of two if its highest bit
    /// is set.
    fileprivate mutating func setResolution(_ octet: UInt8) {
        let exponent = Int(octet & 0x7F)
        let base: UInt64 = octet & 0x80 == 0 ? 10 : 2
        // Ignores a resolution finer than 10^-19 s or 2^-63 s. It does not fit into 64 bits, and no clock is so fine.
        guard exponent <= (base == 10 ? 19 : 63) else { return }
        unitsInSecond = (0..<exponent).reduce(1) { units, _ in units * base }
    }

    /// Returns the time of a packet, limited to ± 146 years so that the difference of two times does not overflow.
    fileprivate func time(_ units: UInt64) -> Instant {
        let nanoseconds = Int128(units) * 1_000_000_000 / Int128(unitsInSecond) + Int128(offset) * 1_000_000_000
        let limit = Int128(Int64.max / 2)
        return Instant(nanoseconds: Int64(min(max(nanoseconds, -limit), limit)))
    }
}
