internal import TenfourChannelKeys

/// The state that a member keeps of a managed channel from one run to the next: its prekeys, and the newest group secret. The file
/// must be of mode 0600, and its old content must be overwritten when it is replaced.
struct GroupSecretFile: Sendable {
    var channelID: UInt128
    var prekeys: PrekeyStore
    var secret: GroupSecret?
    /// The time at which the secret came, in seconds since 1970.
    var received: UInt64
    /// The newest roster that the member has held.
    var roster: RosterMark

    /// All files have this length.
    static let byteCount = 226
    private static let checkOffset = 210
    private static let firstLine = Array("tenfour group 1\n".utf8)
    private static let pairByteCount = 44

    init(
        channelID: UInt128, prekeys: PrekeyStore, secret: GroupSecret?, received: UInt64, roster: RosterMark
    ) {
        self.channelID = channelID
        self.prekeys = prekeys
        self.secret = secret
        self.received = received
        self.roster = roster
    }

    /// Parses a file; nil if it is damaged, or belongs to another channel.
    init?(parsing bytes: Span<UInt8>, channelID: UInt128) {
        guard bytes.count == Self.byteCount,
            Self.firstLine.indices.allSatisfy({ bytes[$0] == Self.firstLine[$0] }),
            sha256(bytes.extracting(0..<Self.checkOffset)).span.number(at: 0, as: UInt128.self)
                == bytes.number(at: Self.checkOffset),
            bytes.number(at: 16, as: UInt128.self) == channelID
        else { return nil }
        self.channelID = channelID
        var pairs: [PrekeyPair] = []
        for place in 0..<PrekeyStore.maximumCount {
            let offset = 36 + place * Self.pairByteCount
            let id: UInt32 = bytes.number(at: offset)
            guard id > 0 else { continue }
            guard id > pairs.last?.id ?? 0 else { return nil }
            pairs.append(
                PrekeyPair(
                    id: id, secret: LockedBytes(copying: bytes.extracting(offset + 12..<offset + 44)),
                    drawn: bytes.number(at: offset + 4)))
        }
        prekeys = PrekeyStore(pairs: pairs, lastID: bytes.number(at: 32))
        let id = GroupSecretID(parsing: bytes, at: 124)
        received = bytes.number(at: 134)
        roster = RosterMark(version: bytes.number(at: 174), hash: Bytes32(bytes, at: 178))
        if id != .none { secret = GroupSecret(id, LockedBytes(copying: bytes.extracting(142..<174))) }
    }

    /// The content of the file.
    var bytes: LockedBytes {
        LockedBytes(count: Self.byteCount) { bytes in
            var offset = 0
            func put(_ byte: UInt8, _ bytes: inout MutableSpan<UInt8>) {
                bytes[offset] = byte
                offset += 1
            }
            func put(number: some FixedWidthInteger & UnsignedInteger, _ bytes: inout MutableSpan<UInt8>) {
                for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
                    put(UInt8(truncatingIfNeeded: number >> shift), &bytes)
                }
            }
            func put(_ secret: LockedBytes?, _ bytes: inout MutableSpan<UInt8>) {
                guard let secret else {
                    offset += 32
                    return
                }
                secret.withBytes { for index in $0.indices { put($0[index], &bytes) } }
            }
            for byte in Self.firstLine { put(byte, &bytes) }
            put(number: channelID, &bytes)
            put(number: prekeys.lastID, &bytes)
            for place in 0..<PrekeyStore.maximumCount {
                let pair = place < prekeys.pairs.count ? prekeys.pairs[place] : nil
                put(number: pair?.id ?? 0, &bytes)
                put(number: pair?.drawn ?? 0, &bytes)
                put(pair?.secret, &bytes)
            }
            let id = secret?.id ?? .none
            put(number: id.rosterVersion, &bytes)
            put(number: id.generation, &bytes)
            put(number: id.signer, &bytes)
            put(number: received, &bytes)
            put(secret?.bytes, &bytes)
            put(number: roster.version, &bytes)
            put(number: roster.hash.firstHalf, &bytes)
            put(number: roster.hash.secondHalf, &bytes)
            let check = sha256(bytes.span.extracting(0..<Self.checkOffset))
            for index in 0..<16 { put(check[index], &bytes) }
        }
    }
}
