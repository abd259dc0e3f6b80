public import TenfourChannelKeys

/// A record of a managed channel from a member to the relay: the body behind the type (Protocol/14-group-secrets.md).
public enum MemberRecord: Hashable, Sendable {
    case fetched(Fetched)
    case rosterFetch(RosterFetch)
    /// From a signer only.
    case deposit(GroupSecretDeposit)
    /// From the owner only.
    case rosterDeposit(RosterDeposit)
    /// Asks for the prekeys that came after this number; from a signer only.
    case prekeyRequest(since: UInt64)

    public static let fetchedType: UInt8 = 16
    public static let rosterFetchType: UInt8 = 17
    public static let depositType: UInt8 = 19
    public static let rosterDepositType: UInt8 = 21
    public static let prekeyRequestType: UInt8 = 22

    /// Parses a record's content, of which the first byte is the type. Accepts any bytes.
    public init(parsing content: Span<UInt8>) throws(ControlParseError) {
        guard content.count >= 1, content.count <= 1 + RelayRecord.maximumByteCount else {
            throw .length(content.count)
        }
        let body = content.extracting(1..<content.count)
        switch content[0] {
        case Self.fetchedType: self = .fetched(try Fetched(parsing: body))
        case Self.rosterFetchType: self = .rosterFetch(try RosterFetch(parsing: body))
        case Self.depositType: self = .deposit(try GroupSecretDeposit(parsing: body))
        case Self.rosterDepositType: self = .rosterDeposit(try RosterDeposit(parsing: body))
        case Self.prekeyRequestType:
            guard body.count == 8 else { throw .length(body.count) }
            self = .prekeyRequest(since: body.number(at: 0))
        default: throw .kind(content[0])
        }
    }

    /// The content of the record: the type, then the body.
    public var bytes: [UInt8] {
        [UInt8](capacity: 1 + RelayRecord.maximumByteCount) { bytes in
            switch self {
            case .fetched(let fetched):
                bytes.append(Self.fetchedType)
                fetched.write(into: &bytes)
            case .rosterFetch(let fetch):
                bytes.append(Self.rosterFetchType)
                fetch.write(into: &bytes)
            case .deposit(let deposit):
                bytes.append(Self.depositType)
                deposit.write(into: &bytes)
            case .rosterDeposit(let deposit):
                bytes.append(Self.rosterDepositType)
                deposit.write(into: &bytes)
            case .prekeyRequest(let since):
                bytes.append(Self.prekeyRequestType)
                bytes.append(number: since)
            }
        }
    }
}

/// FETCHED: the roster and the group secret that a member holds, and its newest prekey.
public struct Fetched: Hashable, Sendable {
    public var rosterVersion: UInt32
    public var secret: GroupSecretID
    public var prekey: Prekey?

    static let byteCount = 4 + GroupSecretID.byteCount + Prekey.byteCount

    init(rosterVersion: UInt32, secret: GroupSecretID, prekey: Prekey?) {
        self.rosterVersion = rosterVersion
        self.secret = secret
        self.prekey = prekey
    }

    init(parsing body: Span<UInt8>) throws(ControlParseError) {
        guard body.count == Self.byteCount else { throw .length(body.count) }
        rosterVersion = body.number(at: 0)
        secret = GroupSecretID(parsing: body, at: 4)
        prekey = Prekey(parsing: body, at: 14)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: rosterVersion)
        secret.write(into: &bytes)
        if let prekey { prekey.write(into: &bytes) } else { bytes.append(zeros: Prekey.byteCount) }
    }
}

/// ROSTER FETCH: asks for pages of the newest roster.
public struct RosterFetch: Hashable, Sendable {
    public var firstPage: UInt16
    /// The receipt that proves that the member receives at its address, as in a ROSTER REQUEST (Protocol/06-control.md).
    public var receipt: UInt64

    static let byteCount = 10

    init(firstPage: UInt16, receipt: UInt64) {
        self.firstPage = firstPage
        self.receipt = receipt
    }

    init(parsing body: Span<UInt8>) throws(ControlParseError) {
        guard body.count == Self.byteCount else { throw .length(body.count) }
        firstPage = body.number(at: 0)
        receipt = body.number(at: 2)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: firstPage)
        bytes.append(number: receipt)
    }
}

/// DEPOSIT: a group secret, sealed for up to 14 members.
public struct GroupSecretDeposit: Hashable, Sendable {
    public var id: GroupSecretID
    /// Whether the secret is held already, and is now sealed to newer prekeys of some members.
    public var isAddition: Bool
    /// The number of members for whom the secret is deposited, in all records of the deposit.
    public var total: UInt16
    public var entries: [Entry]

    public struct Entry: Hashable, Sendable {
        public var index: UInt16
        public var sealed: SealedGroupSecret
    }

    static let maximumCount = 14
    private static let headByteCount = GroupSecretID.byteCount + 4
    private static let entryByteCount = 2 + SealedGroupSecret.byteCount

    init(id: GroupSecretID, isAddition: Bool, total: UInt16, entries: [Entry]) {
        self.id = id
        self.isAddition = isAddition
        self.total = total
        self.entries = entries
    }

    init(parsing body: Span<UInt8>) throws(ControlParseError) {
        guard body.count >= Self.headByteCount else { throw .length(body.count) }
        let count = (body.count - Self.headByteCount) / Self.entryByteCount
        guard body.count == Self.headByteCount + count * Self.entryByteCount, count <= Self.maximumCount else {
            throw .length(body.count)
        }
        id = GroupSecretID(parsing: body, at: 0)
        guard body[10] <= 1, body[11] == 0 else { throw .value }
        isAddition = body[10] == 1
        total = body.number(at: 12)
        guard total <= RosterContents.maximumEntryCount, count <= total else { throw .value }
        entries = (0..<count).map { place in
            let offset = Self.headByteCount + place * Self.entryByteCount
            return Entry(
                index: body.number(at: offset), sealed: SealedGroupSecret(parsing: body, at: offset + 2))
        }
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.index < $1.index }) else { throw .value }
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        id.write(into: &bytes)
        bytes.append(isAddition ? 1 : 0)
        bytes.append(0)
        bytes.append(number: total)
        for entry in entries {
            bytes.append(number: entry.index)
            entry.sealed.write(into: &bytes)
        }
    }
}
