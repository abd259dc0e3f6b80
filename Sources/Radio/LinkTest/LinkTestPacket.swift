internal import TenfourPackets

/// What an asker and an answerer say to each other before and after the speech: 32 bytes each, so that nobody is sent more
/// than came from there. Protocol/07-link-test.md describes them.
struct LinkTestPacket: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        /// The asker wants to begin, and draws a number.
        case hello = 1
        /// The answerer sends it back, with a number of its own.
        case challenge = 2
        /// The asker sends both back: it has been seen to receive.
        case confirmation = 3
        /// From now on everything comes back.
        case acceptance = 4
        /// Somebody else is asking.
        case refusal = 5
        /// The asker has finished.
        case farewell = 6
    }

    var kind: Kind
    var question: UInt64
    var answer: UInt64 = 0

    static let byteCount = 32
    /// `tfrc` and the version: no first byte of RTP, RTCP, STUN or DTLS.
    private static let magic: UInt32 = 0x7466_7263
    private static let version: UInt8 = 1

    init(_ kind: Kind, question: UInt64, answer: UInt64 = 0) {
        self.kind = kind
        self.question = question
        self.answer = answer
    }

    /// Returns nil for anything else, which includes fields that are not zero as they must be.
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
        self.init(kind, question: number(at: 8), answer: number(at: 16))
    }

    /// Appends 32 bytes, for which `datagram` has room.
    func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(bigEndian: Self.magic)
        datagram.append(Self.version)
        datagram.append(kind.rawValue)
        datagram.append(bigEndian: UInt16(0))
        for number in [question, answer, 0] {
            datagram.append(bigEndian: UInt32(truncatingIfNeeded: number >> 32))
            datagram.append(bigEndian: UInt32(truncatingIfNeeded: number))
        }
    }
}
