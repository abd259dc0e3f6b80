internal import TenfourPackets

/// A packet of the handshake before and after the media. Each packet has 32 bytes, so that a reply is never longer than
/// the packet that it answers. Described in Protocol/07-link-test.md.
struct LinkTestPacket: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        /// The client requests a test and sends its number.
        case hello = 1
        /// The server replies with its own number.
        case challenge = 2
        /// The client returns both numbers, which shows that it receives datagrams at its address.
        case confirmation = 3
        /// The server returns every datagram from now on.
        case acceptance = 4
        /// The server is serving another client.
        case refusal = 5
        /// The client has finished the test.
        case farewell = 6
    }

    var kind: Kind
    var clientNumber: UInt64
    var serverNumber: UInt64 = 0

    static let byteCount = 32
    /// `tfrc`, the first four bytes of each packet. No packet of RTP, RTCP, STUN or DTLS begins with these bytes.
    private static let magic: UInt32 = 0x7466_7263
    private static let version: UInt8 = 1

    init(_ kind: Kind, clientNumber: UInt64, serverNumber: UInt64 = 0) {
        self.kind = kind
        self.clientNumber = clientNumber
        self.serverNumber = serverNumber
    }

    /// Parses a packet. Returns nil for any other datagram, and for a packet with a reserved field that is not zero.
    init?(parsing datagram: Span<UInt8>) {
        guard datagram.count == Self.byteCount, datagram.uint32(at: 0) == Self.magic, datagram[4] == Self.version,
            let kind = Kind(rawValue: datagram[5])
        else { return nil }
        func number(at offset: Int) -> UInt64 {
            UInt64(datagram.uint32(at: offset)) << 32 | UInt64(datagram.uint32(at: offset + 4))
        }
        guard datagram[6] == 0, datagram[7] == 0, number(at: 24) == 0, kind != .hello || number(at: 16) == 0 else {
            return nil
        }
        self.init(kind, clientNumber: number(at: 8), serverNumber: number(at: 16))
    }

    /// Appends the packet of 32 bytes; `datagram` must have space for them.
    func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(bigEndian: Self.magic)
        datagram.append(Self.version)
        datagram.append(kind.rawValue)
        datagram.append(bigEndian: UInt16(0))
        for number in [clientNumber, serverNumber, 0] {
            datagram.append(bigEndian: UInt32(truncatingIfNeeded: number >> 32))
            datagram.append(bigEndian: UInt32(truncatingIfNeeded: number))
        }
    }
}
