/// Writes capture files byte by byte, without code of the tested module.
struct CaptureBytes {
    var isBigEndian = false
    var bytes: [UInt8] = []

    func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
        let little = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? little.reversed() : little
    }

    /// Returns a pcap file with its header only.
    static func pcap(linkType: Int = 1, isBigEndian: Bool = false, hasNanoseconds: Bool = false) -> Self {
        var capture = Self(isBigEndian: isBigEndian)
        capture.bytes += capture.number(hasNanoseconds ? 0xA1B2_3C4D : 0xA1B2_C3D4, 4)
        capture.bytes += capture.number(2, 2) + capture.number(4, 2) + capture.number(0, 8)
        capture.bytes += capture.number(262_144, 4) + capture.number(linkType, 4)
        return capture
    }

    mutating func append(_ packet: [UInt8], seconds: Int = 1, rest: Int = 0, originalByteCount: Int? = nil) {
        bytes += number(seconds, 4) + number(rest, 4) + number(packet.count, 4)
        bytes += number(originalByteCount ?? packet.count, 4) + packet
    }

    /// Appends a pcapng block of any type.
    mutating func appendBlock(_ type: Int, _ body: [UInt8]) {
        let padded = body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
        bytes += number(type, 4) + number(padded.count + 12, 4) + padded + number(padded.count + 12, 4)
    }

    static func pcapng(isBigEndian: Bool = false) -> Self {
        var capture = Self(isBigEndian: isBigEndian)
        capture.appendSection()
        return capture
    }

    mutating func appendSection() {
        appendBlock(0x0A0D_0D0A, number(0x1A2B_3C4D, 4) + number(1, 2) + number(0, 2) + number(-1, 8))
    }

    mutating func appendInterface(linkType: Int = 1, resolution: UInt8? = nil, offset: Int? = nil) {
        var body = number(linkType, 2) + number(0, 2) + number(65_535, 4)
        body += number(2, 2) + number(4, 2) + Array("eth0".utf8)
        if let resolution { body += number(9, 2) + number(1, 2) + [resolution, 0, 0, 0] }
        if let offset { body += number(14, 2) + number(8, 2) + number(offset, 8) }
        appendBlock(1, body + number(0, 4))
    }

    mutating func appendEnhanced(_ packet: [UInt8], interface: Int = 0, units: Int) {
        var body = number(interface, 4) + number(units >> 32, 4) + number(units & 0xFFFF_FFFF, 4)
        body += number(packet.count, 4) + number(packet.count, 4) + packet
        appendBlock(6, body)
    }
}

/// Packets as they appear on the wire.
enum Wire {
    static let payload = Array("hello".utf8)

    static func big(_ value: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func udp(_ payload: [UInt8] = payload, byteCount: Int? = nil) -> [UInt8] {
        big(40_000, 2) + big(5_004, 2) + big(byteCount ?? payload.count + 8, 2) + [0, 0] + payload
    }

    static func ipv4(_ content: [UInt8] = udp(), kind: UInt8 = 17, fragment: Int = 0x4000, options: [UInt8] = [])
        -> [UInt8]
    {
        [UInt8(0x45 + options.count / 4), 0] + big(20 + options.count + content.count, 2) + [0, 7] + big(fragment, 2)
            + [64, kind, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2] + options + content
    }

    /// Returns an IPv6 packet from 2001:db8::1 to 2001:db8::2.
    static func ipv6(_ content: [UInt8] = udp(), next: UInt8 = 17) -> [UInt8] {
        let network: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        return [0x60, 0, 0, 0] + big(content.count, 2) + [next, 64] + network + [1] + network + [2] + content
    }

    static func ethernet(_ content: [UInt8] = ipv4(), type: Int = 0x0800, tags: [Int] = []) -> [UInt8] {
        [UInt8](repeating: 2, count: 12) + tags.flatMap { big($0, 2) + [0, 5] } + big(type, 2) + content
    }
}
