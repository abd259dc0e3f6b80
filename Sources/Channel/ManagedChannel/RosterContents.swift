public import TenfourChannelKeys

/// The part of a roster that the owner signs: the members of a channel, in their canonical bytes (Protocol/13-members.md). Nothing in it is
/// authenticated; a `SignedRoster` is.
public struct RosterContents: Hashable, Sendable {
    /// 1…2³² − 1; increases by one with each change.
    public let version: UInt32
    /// The time of the change in seconds since 1970, by the owner's clock. It is shown to people, and decides nothing.
    public let time: UInt32
    /// Whether talkers send signed lists of packet tags.
    public let hasTagLists: Bool
    /// The entries by rising index; the owner's is the first.
    public let entries: [RosterEntry]

    public static let maximumEntryCount = 4096
    static let headByteCount = 12
    static let maximumByteCount = headByteCount + maximumEntryCount * RosterEntry.maximumByteCount
    private static let tagListFlag: UInt8 = 1

    /// Throws unless the entries are those of a roster: sorted by index, the owner's first, no index, key or name twice.
    package init(version: UInt32, time: UInt32, hasTagLists: Bool, entries: [RosterEntry]) throws(RosterError) {
        guard version > 0 else { throw .value }
        guard entries.count <= Self.maximumEntryCount else { throw .tooManyEntries }
        guard let owner = entries.first, owner.index == RosterEntry.ownerIndex, owner.role == .talk,
            !owner.isDelegate
        else { throw .value }
        var keys: Set<Bytes32> = []
        var names: Set<MemberName> = []
        for (place, entry) in entries.enumerated() {
            if place > 0 {
                guard entry.index >= entries[place - 1].index else { throw .order }
                guard entry.index > entries[place - 1].index else { throw .duplicate }
            }
            guard keys.insert(entry.key).inserted else { throw .duplicate }
            if let name = entry.name { guard names.insert(name).inserted else { throw .duplicate } }
        }
        self.version = version
        self.time = time
        self.hasTagLists = hasTagLists
        self.entries = entries
    }

    /// Parses canonical bytes. Accepts any bytes; stores nothing before the number of entries was checked.
    public init(parsing bytes: Span<UInt8>) throws(RosterError) {
        guard bytes.count >= Self.headByteCount else { throw .length }
        let entryCount = Int(bytes.number(at: 10, as: UInt16.self))
        guard entryCount <= Self.maximumEntryCount else { throw .tooManyEntries }
        guard bytes[8] & ~Self.tagListFlag == 0, bytes[9] == 0 else { throw .value }
        guard bytes.count >= Self.headByteCount + entryCount * RosterEntry.minimumByteCount else { throw .length }
        var offset = Self.headByteCount
        var entries: [RosterEntry] = []
        entries.reserveCapacity(entryCount)
        for _ in 0..<entryCount { entries.append(try RosterEntry(parsing: bytes, at: &offset)) }
        guard offset == bytes.count else { throw .length }
        try self.init(
            version: bytes.number(at: 0), time: bytes.number(at: 4), hasTagLists: bytes[8] != 0, entries: entries)
    }

    /// The canonical bytes.
    public var bytes: [UInt8] {
        [UInt8](capacity: entries.reduce(Self.headByteCount) { $0 + $1.byteCount }) { bytes in
            bytes.append(number: version)
            bytes.append(number: time)
            bytes.append(hasTagLists ? Self.tagListFlag : 0)
            bytes.append(0)
            bytes.append(number: UInt16(entries.count))
            for entry in entries { entry.write(into: &bytes) }
        }
    }

    /// The SHA-256 of the canonical bytes.
    public var hash: Bytes32 { Bytes32(hashing: bytes.span) }

    public func entry(_ index: UInt16) -> RosterEntry? {
        place(of: index).map { entries[$0] }
    }

    /// Returns the place of an entry by binary search.
    func place(of index: UInt16) -> Int? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].index == index ? low : nil
    }
}
