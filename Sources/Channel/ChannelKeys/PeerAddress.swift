/// An IP address and port in a control packet: 19 bytes. An IPv4 address is never written as a mapped IPv6 address.
public struct PeerAddress: Hashable, Sendable {
    /// 4 for IPv4, 6 for IPv6.
    let family: UInt8
    let address: UInt128
    public let port: UInt16

    package static let byteCount = 19

    public init(v4 address: UInt32, port: UInt16) {
        self.init(family: 4, address: UInt128(address) << 96, port: port)
    }

    private init(family: UInt8, address: UInt128, port: UInt16) {
        self.family = family
        self.address = address
        self.port = port
    }

    /// Makes the address from an IPv6 address. A mapped IPv4 address (`::ffff:a.b.c.d`) becomes an IPv4 address.
    public init(v6 address: UInt128, port: UInt16) {
        if address >> 32 == 0xFFFF {
            self.init(v4: UInt32(truncatingIfNeeded: address), port: port)
        } else {
            self.init(family: 6, address: address, port: port)
        }
    }

    /// The IPv4 address; nil for an IPv6 address.
    public var v4: UInt32? { family == 4 ? UInt32(address >> 96) : nil }
    /// The IPv6 address; nil for an IPv4 address.
    public var v6: UInt128? { family == 6 ? address : nil }

    /// Reads an address from the 19 bytes at `offset`; `bytes` must contain them. Throws if the address is not valid.
    init(parsing bytes: Span<UInt8>, at offset: Int) throws(ControlParseError) {
        let address: UInt128 = bytes.number(at: offset + 1)
        let port: UInt16 = bytes.number(at: offset + 17)
        switch bytes[offset] {
        case 4 where address & (1 << 96 - 1) == 0: self.init(v4: UInt32(address >> 96), port: port)
        case 6 where address >> 32 != 0xFFFF: self.init(v6: address, port: port)
        default: throw .value
        }
    }

    package func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(family)
        bytes.append(number: address)
        bytes.append(number: port)
    }
}
