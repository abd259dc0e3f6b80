public import TenfourChannelKeys

/// LIMITED MEDIA: a member tells the relay whether it allows a direct way, and which members hear it directly.
public struct LimitedMedia: Hashable, Sendable {
    public static let type: UInt8 = 24
    /// Increases with each change in a session; the relay ignores a lower one.
    public var revision: UInt32
    public var allowsDirect: Bool
    /// The members to which the relay need not forward this member's media, by rising index; at most three.
    public var indexes: [UInt16]

    public static let maximumCount = 3

    package init(revision: UInt32, allowsDirect: Bool, indexes: [UInt16]) {
        self.revision = revision
        self.allowsDirect = allowsDirect
        self.indexes = indexes
    }

    /// Parses a record's content, of which the first byte is the type. Accepts any bytes.
    public init(parsing content: Span<UInt8>) throws(ControlParseError) {
        guard content.count >= 7, content.count == 7 + 2 * Int(content[6]) else { throw .length(content.count) }
        guard content[0] == Self.type else { throw .kind(content[0]) }
        guard content[5] <= 1, Int(content[6]) <= Self.maximumCount else { throw .value }
        revision = content.number(at: 1)
        allowsDirect = content[5] == 1
        indexes = (0..<Int(content[6])).map { content.number(at: 7 + 2 * $0) }
        guard zip(indexes, indexes.dropFirst()).allSatisfy({ $0 < $1 }), allowsDirect || indexes.isEmpty else {
            throw .value
        }
    }

    public var bytes: [UInt8] {
        [UInt8](capacity: 7 + 2 * Self.maximumCount) { bytes in
            bytes.append(Self.type)
            bytes.append(number: revision)
            bytes.append(allowsDirect ? 1 : 0)
            bytes.append(UInt8(indexes.count))
            for index in indexes { bytes.append(number: index) }
        }
    }
}

/// DIRECT MEMBERS: the relay tells which members are present and allow a direct way. It has the type of LIMITED MEDIA, which it
/// answers.
public struct DirectMembers: Hashable, Sendable {
    public static let type: UInt8 = 24

    public struct Member: Hashable, Sendable {
        public var index: UInt16
        /// Two members have the same number if the relay sees them at one IPv4 address, or in one /64.
        public var network: UInt8

        package init(index: UInt16, network: UInt8) {
            self.index = index
            self.network = network
        }
    }

    /// The number of all members that are present, whether they allow a direct way or not.
    public var presentCount: UInt32
    /// The members that allow a direct way, by rising index; none if more than four members are present.
    public var members: [Member]

    public static let maximumCount = 4
    private static let headByteCount = 6
    private static let memberByteCount = 3

    package init(presentCount: UInt32, members: [Member]) {
        self.presentCount = presentCount
        self.members = members
    }

    /// Parses a record's content, of which the first byte is the type. Accepts any bytes.
    public init(parsing content: Span<UInt8>) throws(ControlParseError) {
        guard content.count >= Self.headByteCount,
            content.count == Self.headByteCount + Self.memberByteCount * Int(content[5])
        else { throw .length(content.count) }
        guard content[0] == Self.type else { throw .kind(content[0]) }
        guard Int(content[5]) <= Self.maximumCount else { throw .value }
        presentCount = content.number(at: 1)
        members = (0..<Int(content[5])).map { place in
            let offset = Self.headByteCount + Self.memberByteCount * place
            return Member(index: content.number(at: offset), network: content[offset + 2])
        }
        guard zip(members, members.dropFirst()).allSatisfy({ $0.index < $1.index }), members.count <= presentCount
        else { throw .value }
    }

    public var bytes: [UInt8] {
        [UInt8](capacity: Self.headByteCount + Self.memberByteCount * Self.maximumCount) { bytes in
            bytes.append(Self.type)
            bytes.append(number: presentCount)
            bytes.append(UInt8(members.count))
            for member in members {
                bytes.append(number: member.index)
                bytes.append(member.network)
            }
        }
    }

    /// Whether all members that are present allow a direct way, and there are at most four of them.
    var isPermission: Bool { presentCount <= Self.maximumCount && members.count == presentCount }
}
