public import TenfourChannelKeys

/// The addresses at which a member may be reached.
package struct CandidateList: Hashable, Sendable {
    /// The member's address as the relay sees it.
    package var view: PeerAddress
    /// One to eight addresses of the member.
    package var addresses: [PeerAddress]

    static let maximumCount = 8
    package static let byteCount = 1 + PeerAddress.byteCount * (1 + maximumCount)

    /// Returns nil unless there are one to eight addresses.
    init?(view: PeerAddress, _ addresses: [PeerAddress]) {
        guard (1...Self.maximumCount).contains(addresses.count) else { return nil }
        self.view = view
        self.addresses = addresses
    }
}

/// The content of a CANDIDATES record: addresses, or the end of the permission to use a direct way.
package enum CandidateOffer: Hashable, Sendable {
    case withdrawn
    case offered(CandidateList)

    /// Parses the decrypted bytes. Accepts any bytes.
    package init(parsing bytes: Span<UInt8>) throws(ControlParseError) {
        guard bytes.count == CandidateList.byteCount else { throw .length(bytes.count) }
        let count = Int(bytes[0])
        guard count > 0 else {
            guard bytes.isZero(in: 1..<bytes.count) else { throw .value }
            self = .withdrawn
            return
        }
        let end = 1 + (1 + count) * PeerAddress.byteCount
        guard count <= CandidateList.maximumCount, bytes.isZero(in: end..<bytes.count) else { throw .value }
        let view = try PeerAddress(candidate: bytes, at: 1)
        var addresses: [PeerAddress] = []
        for place in 1...count {
            addresses.append(try PeerAddress(candidate: bytes, at: 1 + place * PeerAddress.byteCount))
        }
        guard let list = CandidateList(view: view, addresses) else { throw .value }
        self = .offered(list)
    }

    package var bytes: [UInt8] {
        [UInt8](capacity: CandidateList.byteCount) { bytes in
            if case .offered(let list) = self {
                bytes.append(UInt8(list.addresses.count))
                list.view.write(into: &bytes)
                for address in list.addresses { address.write(into: &bytes) }
            }
            bytes.append(zeros: bytes.freeCapacity)
        }
    }
}

/// CANDIDATES: a member's addresses, which the other member of the pair can open. The index is the receiver's on the way to the
/// relay, and the sender's on the way from it.
public struct SealedCandidates: Hashable, Sendable {
    public static let type: UInt8 = 23
    public var index: UInt16
    /// The random number that the sender has drawn for its run.
    package let salt: UInt128
    /// 1 for the first record of the run to this member, and one more for each further one.
    let counter: UInt64
    private let sealed: [UInt8]

    private static let headByteCount = 27
    private static let sealedByteCount = CandidateList.byteCount + AEAD.tagByteCount
    /// The length of the record's content, with its type.
    public static let byteCount = headByteCount + sealedByteCount

    /// Parses a record's content, of which the first byte is the type. Accepts any bytes, and authenticates nothing.
    public init(parsing content: Span<UInt8>) throws(ControlParseError) {
        guard content.count == Self.byteCount else { throw .length(content.count) }
        guard content[0] == Self.type else { throw .kind(content[0]) }
        index = content.number(at: 1)
        salt = content.number(at: 3)
        counter = content.number(at: 19)
        guard counter > 0 else { throw .value }
        sealed = (Self.headByteCount..<content.count).map { content[$0] }
    }

    /// Seals an offer of this member for the other one of the pair. The caller must never use a counter twice with a salt.
    init(_ offer: CandidateOffer, counter: UInt64, salt: UInt128, with keys: PairKeys) {
        self.init(sealing: offer.bytes, counter: counter, salt: salt, with: keys)
    }

    /// Seals any bytes; those of an offer, outside tests.
    package init(sealing bytes: [UInt8], counter: UInt64, salt: UInt128, with keys: PairKeys) {
        precondition(bytes.count == CandidateList.byteCount)
        index = keys.other
        self.salt = salt
        self.counter = counter
        let key = keys.candidateKey(of: keys.own, salt: salt)
        let none: [UInt8] = []
        sealed = [UInt8](capacity: Self.sealedByteCount) { output in
            key.withBytes { AEAD.seal(bytes.span, counter: counter, data: none.span, key: $0, into: &output) }
        }
    }

    /// The record's content: the type, then the body.
    public var bytes: [UInt8] {
        [UInt8](capacity: Self.byteCount) { bytes in
            bytes.append(Self.type)
            bytes.append(number: index)
            bytes.append(number: salt)
            bytes.append(number: counter)
            bytes.append(sealed.span)
        }
    }

    /// Opens the offer of the other member of the pair; nil if that member has not sealed it for this one.
    func opened(with keys: PairKeys) throws(ControlParseError) -> CandidateOffer? {
        let key = keys.candidateKey(of: keys.other, salt: salt)
        var bytes = sealed
        var span = bytes.mutableSpan
        let none: [UInt8] = []
        guard key.withBytes({ AEAD.open(&span, counter: counter, data: none.span, key: $0) }) else { return nil }
        return try CandidateOffer(parsing: bytes.span.extracting(0..<CandidateList.byteCount))
    }
}

extension PeerAddress {
    /// Reads a candidate. Unlike in other packets, an IPv4 address mapped into IPv6 is allowed, and becomes an IPv4 address.
    fileprivate init(candidate bytes: Span<UInt8>, at offset: Int) throws(ControlParseError) {
        let (address, port): (UInt128, UInt16) = (bytes.number(at: offset + 1), bytes.number(at: offset + 17))
        switch bytes[offset] {
        case 4 where address & (1 << 96 - 1) == 0: self.init(v4: UInt32(address >> 96), port: port)
        case 6: self.init(v6: address, port: port)
        default: throw .value
        }
    }
}
