public import TenfourChannelKeys

/// A record of a managed channel from the relay to a member: the body behind the type (Protocol/14-group-secrets.md).
public enum RelayRecord: Hashable, Sendable {
    case news(RosterNews)
    case rosterPage(RosterPage)
    case deposited(Deposited)
    case prekeys(PrekeyList)

    public static let newsType: UInt8 = 15
    public static let rosterPageType: UInt8 = 18
    public static let depositedType: UInt8 = 20
    public static let prekeysType: UInt8 = 22
    /// The longest body, without the type.
    static let maximumByteCount = 1232

    /// Parses a record's content, of which the first byte is the type. Accepts any bytes.
    public init(parsing content: Span<UInt8>) throws(ControlParseError) {
        guard content.count >= 1, content.count <= 1 + Self.maximumByteCount else { throw .length(content.count) }
        let body = content.extracting(1..<content.count)
        switch content[0] {
        case Self.newsType: self = .news(try RosterNews(parsing: body))
        case Self.rosterPageType: self = .rosterPage(try RosterPage(parsing: body))
        case Self.depositedType: self = .deposited(try Deposited(parsing: body))
        case Self.prekeysType: self = .prekeys(try PrekeyList(parsing: body))
        default: throw .kind(content[0])
        }
    }

    /// The content of the record: the type, then the body.
    public var bytes: [UInt8] {
        [UInt8](capacity: 1 + Self.maximumByteCount) { bytes in
            switch self {
            case .news(let news):
                bytes.append(Self.newsType)
                news.write(into: &bytes)
            case .rosterPage(let page):
                bytes.append(Self.rosterPageType)
                page.write(into: &bytes)
            case .deposited(let deposited):
                bytes.append(Self.depositedType)
                deposited.write(into: &bytes)
            case .prekeys(let list):
                bytes.append(Self.prekeysType)
                list.write(into: &bytes)
            }
        }
    }
}

/// NEWS: the newest roster, as a change if the member can follow it, and the newest group secret for this member.
public struct RosterNews: Hashable, Sendable {
    public var head: RosterHead
    /// The version that the change follows from; 0 without a change.
    public var follows: UInt32
    /// The encrypted `RosterChange`; empty without a change.
    public var sealedChange: [UInt8]
    public var secret: Secret?

    public struct Secret: Hashable, Sendable {
        public var id: GroupSecretID
        public var sealed: SealedGroupSecret
    }

    private static let headByteCount = RosterHead.byteCount + 6

    package init(head: RosterHead, follows: UInt32, sealedChange: [UInt8], secret: Secret?) {
        self.head = head
        self.follows = follows
        self.sealedChange = sealedChange
        self.secret = secret
    }

    init(parsing body: Span<UInt8>) throws(ControlParseError) {
        guard body.count >= Self.headByteCount else { throw .length(body.count) }
        head = RosterHead(parsing: body, at: 0)
        follows = body.number(at: 72)
        let end = Self.headByteCount + Int(body.number(at: 76, as: UInt16.self))
        let secretByteCount = GroupSecretID.byteCount + SealedGroupSecret.byteCount
        guard body.count == end || body.count == end + secretByteCount else { throw .length(body.count) }
        guard (follows == 0) == (end == Self.headByteCount) else { throw .value }
        sealedChange = (Self.headByteCount..<end).map { body[$0] }
        guard sealedChange.count <= RosterCipher.maximumChangeByteCount else { throw .length(body.count) }
        if body.count > end {
            secret = Secret(
                id: GroupSecretID(parsing: body, at: end),
                sealed: SealedGroupSecret(parsing: body, at: end + GroupSecretID.byteCount))
        }
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        head.write(into: &bytes)
        bytes.append(number: follows)
        bytes.append(number: UInt16(sealedChange.count))
        bytes.append(sealedChange.span)
        guard let secret else { return }
        secret.id.write(into: &bytes)
        secret.sealed.write(into: &bytes)
    }
}

/// ROSTER PAGE 2: a part of the newest roster, encrypted.
public struct RosterPage: Hashable, Sendable {
    public var head: RosterHead
    public var pageCount: UInt16
    public var page: UInt16
    public var sealed: [UInt8]

    private static let headByteCount = RosterHead.byteCount + 4

    package init(head: RosterHead, pageCount: UInt16, page: UInt16, sealed: [UInt8]) {
        self.head = head
        self.pageCount = pageCount
        self.page = page
        self.sealed = sealed
    }

    init(parsing body: Span<UInt8>) throws(ControlParseError) {
        let lengths = Self.headByteCount + 17...Self.headByteCount + 16 + RosterCipher.pageByteCount
        guard lengths.contains(body.count) else { throw .length(body.count) }
        head = RosterHead(parsing: body, at: 0)
        pageCount = body.number(at: 72)
        page = body.number(at: 74)
        guard page < pageCount, pageCount <= RosterCipher.maximumPageCount else { throw .value }
        sealed = (Self.headByteCount..<body.count).map { body[$0] }
        // Each page but the last is full.
        guard page == pageCount - 1 || body.count == lengths.upperBound else { throw .value }
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        head.write(into: &bytes)
        bytes.append(number: pageCount)
        bytes.append(number: page)
        bytes.append(sealed.span)
    }
}

/// DEPOSITED: what the relay has stored, on disk.
public struct Deposited: Hashable, Sendable {
    /// The secret; for a roster without a secret, its version and zeros.
    public var id: GroupSecretID
    /// The number of members for whom the secret is stored.
    public var count: UInt32

    static let byteCount = GroupSecretID.byteCount + 4

    init(id: GroupSecretID, count: UInt32) {
        self.id = id
        self.count = count
    }

    init(parsing body: Span<UInt8>) throws(ControlParseError) {
        guard body.count == Self.byteCount else { throw .length(body.count) }
        id = GroupSecretID(parsing: body, at: 0)
        count = body.number(at: 10)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        id.write(into: &bytes)
        bytes.append(number: count)
    }
}

/// The relay's PREKEYS: prekeys that members have given, in the order in which they came.
public struct PrekeyList: Hashable, Sendable {
    /// The number to ask with next.
    public var next: UInt64
    public var prekeys: [Entry]

    public struct Entry: Hashable, Sendable {
        public var index: UInt16
        /// Whether the member has fetched the newest secret.
        public var hasNewest: Bool
        public var prekey: Prekey

        package init(index: UInt16, hasNewest: Bool, prekey: Prekey) {
            self.index = index
            self.hasNewest = hasNewest
            self.prekey = prekey
        }
    }

    static let maximumCount = 11
    private static let entryByteCount = 3 + Prekey.byteCount

    package init(next: UInt64, prekeys: [Entry]) {
        self.next = next
        self.prekeys = prekeys
    }

    init(parsing body: Span<UInt8>) throws(ControlParseError) {
        guard body.count >= 8 else { throw .length(body.count) }
        let count = (body.count - 8) / Self.entryByteCount
        guard body.count == 8 + count * Self.entryByteCount, count <= Self.maximumCount else {
            throw .length(body.count)
        }
        next = body.number(at: 0)
        prekeys = []
        for place in 0..<count {
            let offset = 8 + place * Self.entryByteCount
            guard body[offset + 2] <= 1, let prekey = Prekey(parsing: body, at: offset + 3) else { throw .value }
            prekeys.append(
                Entry(index: body.number(at: offset), hasNewest: body[offset + 2] == 1, prekey: prekey))
        }
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: next)
        for entry in prekeys {
            bytes.append(number: entry.index)
            bytes.append(entry.hasNewest ? 1 : 0)
            entry.prekey.write(into: &bytes)
        }
    }
}
