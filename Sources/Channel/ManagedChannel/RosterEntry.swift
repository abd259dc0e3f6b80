public import TenfourChannelKeys

/// A member as the owner has written it into the roster (Protocol/13-members.md).
public struct RosterEntry: Hashable, Sendable {
    /// The member's number, which no other member of the channel ever gets. The owner's is 0.
    public var index: UInt16
    public var role: Role
    /// Whether the member may draw group secrets.
    public var isDelegate: Bool
    /// The member's priority for the floor (Protocol/10-floor.md).
    public var priority: UInt8
    /// The time at which the owner added the member, in seconds since 1970 by the owner's clock.
    public var added: UInt32
    /// The member's Ed25519 public key. A key in a roster that is verified is an `IdentityKey`.
    public var key: Bytes32
    /// The name that the owner has given to the member; nil if it has none.
    public var name: MemberName?

    /// The index of the owner's entry.
    public static let ownerIndex: UInt16 = 0
    static let minimumByteCount = 41
    static let maximumByteCount = minimumByteCount + MemberName.maximumByteCount
    private static let delegateBit: UInt8 = 128

    public init(
        index: UInt16, role: Role, isDelegate: Bool = false, priority: UInt8 = 0, added: UInt32, key: IdentityKey,
        name: MemberName?
    ) {
        self.index = index
        self.role = role
        self.isDelegate = isDelegate
        self.priority = priority
        self.added = added
        self.key = key.bytes
        self.name = name
    }

    /// Parses the entry at `offset` and moves `offset` behind it.
    init(parsing bytes: Span<UInt8>, at offset: inout Int) throws(RosterError) {
        guard bytes.count - offset >= Self.minimumByteCount else { throw .length }
        index = bytes.number(at: offset)
        guard let role = Role(rawValue: bytes[offset + 2] & ~Self.delegateBit) else { throw .value }
        self.role = role
        isDelegate = bytes[offset + 2] & Self.delegateBit != 0
        guard index != Self.ownerIndex || role == .talk && !isDelegate else { throw .value }
        priority = bytes[offset + 3]
        added = bytes.number(at: offset + 4)
        key = Bytes32(bytes, at: offset + 8)
        let nameCount = Int(bytes[offset + 40])
        let start = offset + Self.minimumByteCount
        guard nameCount <= MemberName.maximumByteCount else { throw .value }
        guard bytes.count - start >= nameCount else { throw .length }
        if nameCount > 0 {
            guard let name = MemberName(bytes.extracting(start..<start + nameCount)) else { throw .value }
            self.name = name
        }
        offset = start + nameCount
    }

    var byteCount: Int { Self.minimumByteCount + (name?.text.utf8.count ?? 0) }

    var roleByte: UInt8 { role.rawValue | (isDelegate ? Self.delegateBit : 0) }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: index)
        bytes.append(roleByte)
        bytes.append(priority)
        bytes.append(number: added)
        key.write(into: &bytes)
        bytes.append(UInt8(name?.text.utf8.count ?? 0))
        for byte in (name?.text ?? "").utf8 { bytes.append(byte) }
    }
}

/// The reason why a roster, a change of a roster or an admission list is refused. Each is counted.
public enum RosterError: Error, Hashable, Sendable, CaseIterable {
    /// The bytes end too early or too late.
    case length
    /// A field has a value that is not allowed, or the owner's entry is not the first one.
    case value
    /// The entries are not sorted by index.
    case order
    /// There are more than 4096 entries.
    case tooManyEntries
    /// An index, a key or a name occurs twice.
    case duplicate
    /// A key is not a point of the main subgroup.
    case weakKey
    /// The signature is not the owner's, for this channel.
    case signature
    /// The first entry is not the owner whom the link names.
    case owner
    /// The version is not higher than the version that is held.
    case older
    /// The owner has signed two lists of one version.
    case twoListsOfOneVersion
    /// An index that was held with another key has a new one.
    case reused
    /// A change does not follow from the roster that is held: it removes an index that is not there, or adds one that is.
    case doesNotFollow
}
