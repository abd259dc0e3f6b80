public import TenfourSession

/// A UDP datagram in a captured packet, found by reading the link-layer header, VLAN tags, and IPv4 or IPv6 with its
/// options.
public struct CapturedDatagram: Hashable, Sendable {
    public var source: Endpoint
    public var destination: Endpoint
    /// The range of the payload in the bytes that contain the packet.
    public var payload: Range<Int>

    /// Parses a packet. Total: for any bytes it returns a datagram, or throws the reason why there is none.
    public init(_ packet: CapturedPacket, in bytes: Span<UInt8>) throws(SkipReason) {
        precondition(packet.bytes.lowerBound >= 0 && packet.bytes.upperBound <= bytes.count, "a packet of these bytes")
        var cursor = Cursor(range: packet.bytes)
        switch try Self.network(packet.linkType, bytes, &cursor) {
        case .ipv4: try self.init(ipv4: bytes, &cursor)
        case .ipv6: try self.init(ipv6: bytes, &cursor)
        }
    }

    /// The reason why a packet contains no usable datagram.
    public enum SkipReason: Error, Hashable, Sendable, CaseIterable {
        /// The link type is not supported.
        case unknownLink
        /// The packet is not IP: for example ARP, spanning tree or wireless management.
        case notIP
        /// The packet is not UDP: for example TCP or ICMP.
        case notUDP
        /// The packet is a fragment of a datagram that was too long for the network. Voice packets are never
        /// fragmented.
        case fragment
        /// The capture contains fewer bytes than the header states (`tcpdump -s`).
        case cutOff
        /// The headers contradict each other.
        case malformed
    }

    private enum Network { case ipv4, ipv6 }

    /// The read position in a packet.
    private struct Cursor {
        var range: Range<Int>

        /// Returns the offset of the next `byteCount` bytes and advances past them. Throws if they are missing.
        mutating func take(_ byteCount: Int) throws(SkipReason) -> Int {
            guard byteCount <= range.count else { throw .cutOff }
            defer { range = range.lowerBound + byteCount..<range.upperBound }
            return range.lowerBound
        }
    }

    private static let order = ByteOrder.bigEndian

    // MARK: - Link

    private static func network(
        _ linkType: LinkType, _ bytes: Span<UInt8>, _ cursor: inout Cursor
    ) throws(SkipReason) -> Network {
        switch linkType {
        case .ethernet:
            return try network(etherTypeAt: cursor.take(14) + 12, bytes, &cursor)
        case .linuxCooked:
            return try network(etherTypeAt: cursor.take(16) + 14, bytes, &cursor)
        case .linuxCooked2:
            return try network(etherTypeAt: cursor.take(20), bytes, &cursor)
        case .null, .loop:
            return try network(family: bytes, at: cursor.take(4))
        case .ipv4:
            return .ipv4
        case .ipv6:
            return .ipv6
        case _ where LinkType.rawIP.contains(linkType):
            guard let first = cursor.range.first else { throw .cutOff }
            switch bytes[first] >> 4 {
            case 4: return .ipv4
            case 6: return .ipv6
            default: throw .notIP
            }
        default:
            throw .unknownLink
        }
    }

    /// Reads the network protocol behind any number of VLAN tags (IEEE 802.1Q and 802.1ad).
    private static func network(
        etherTypeAt offset: Int, _ bytes: Span<UInt8>, _ cursor: inout Cursor
    ) throws(SkipReason) -> Network {
        var offset = offset
        while true {
            switch order.uint16(bytes, at: offset) {
            case 0x0800: return .ipv4
            case 0x86DD: return .ipv6
            case 0x8100, 0x88A8, 0x9100: offset = try cursor.take(4) + 2
            default: throw .notIP
            }
        }
    }

    /// Reads a BSD address family. AF_INET is 2 everywhere; AF_INET6 differs between systems; the byte order is the
    /// capturing machine's.
    private static func network(family bytes: Span<UInt8>, at offset: Int) throws(SkipReason) -> Network {
        let number = order.uint32(bytes, at: offset)
        switch number > 0xFFFF ? number.byteSwapped : number {
        case 2: return .ipv4
        case 10, 24, 28, 30: return .ipv6
        default: throw .notIP
        }
    }

    // MARK: - IP

    /// Parses an IPv4 header (RFC 791 section 3.1).
    private init(ipv4 bytes: Span<UInt8>, _ cursor: inout Cursor) throws(SkipReason) {
        guard let start = cursor.range.first else { throw .cutOff }
        guard bytes[start] >> 4 == 4 else { throw .malformed }
        let headerByteCount = 4 * Int(bytes[start] & 0x0F)
        guard headerByteCount >= 20 else { throw .malformed }
        _ = try cursor.take(headerByteCount)
        let order = Self.order
        // Refuses a fragment. It has the flag for more fragments, or an offset above zero.
        guard order.uint16(bytes, at: start + 6) & 0x3FFF == 0 else { throw .fragment }
        guard bytes[start + 9] == Self.udp else { throw .notUDP }
        try self.init(
            udp: bytes, &cursor, from: .v4(order.uint32(bytes, at: start + 12)),
            to: .v4(order.uint32(bytes, at: start + 16)))
    }

    /// Parses an IPv6 header (RFC 8200 section 3), with the extension headers of section 4 before the payload.
    private init(ipv6 bytes: Span<UInt8>, _ cursor: inout Cursor) throws(SkipReason) {
        let start = try cursor.take(40)
        guard bytes[start] >> 4 == 6 else { throw .malformed }
        var next = bytes[start + 6]
        while next != Self.udp {
            switch next {
            case 0, 43, 60, 135, 139, 140:
                // Skips a hop-by-hop, routing, destination options, mobility, HIP or shim header: type, length,
                // content.
                let header = try cursor.take(8)
                next = bytes[header]
                _ = try cursor.take(8 * Int(bytes[header + 1]))
            case 51:
                // Skips an authentication header. Its length is in units of four bytes, less two (RFC 4302 section 2).
                let header = try cursor.take(8)
                next = bytes[header]
                _ = try cursor.take(max(4 * (Int(bytes[header + 1]) + 2) - 8, 0))
            case 44:
                let header = try cursor.take(8)
                // Refuses a fragment, but not an atomic fragment (RFC 6946), which contains the whole packet.
                guard Self.order.uint16(bytes, at: header + 2) & 0xFFF9 == 0 else { throw .fragment }
                next = bytes[header]
            default:
                throw .notUDP
            }
        }
        try self.init(
            udp: bytes, &cursor, from: Self.address(bytes, at: start + 8), to: Self.address(bytes, at: start + 24))
    }

    private static func address(_ bytes: Span<UInt8>, at offset: Int) -> IPAddress {
        .v6(high: order.uint64(bytes, at: offset), low: order.uint64(bytes, at: offset + 8), scope: 0)
    }

    // MARK: - UDP

    private static let udp: UInt8 = 17

    /// Parses a UDP header (RFC 768). Bytes beyond the UDP length are padding of the link.
    private init(
        udp bytes: Span<UInt8>, _ cursor: inout Cursor, from source: IPAddress, to destination: IPAddress
    ) throws(SkipReason) {
        let start = try cursor.take(8)
        let order = Self.order
        let byteCount = Int(order.uint16(bytes, at: start + 4))
        guard byteCount >= 8 else { throw .malformed }
        let payload = try cursor.take(byteCount - 8)
        self.source = Endpoint(source, port: order.uint16(bytes, at: start))
        self.destination = Endpoint(destination, port: order.uint16(bytes, at: start + 2))
        self.payload = payload..<payload + byteCount - 8
    }
}
