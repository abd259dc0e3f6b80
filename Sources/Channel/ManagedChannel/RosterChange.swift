internal import TenfourChannelKeys

/// The difference between two versions of a roster, which is shorter to send than the roster.
public struct RosterChange: Hashable, Sendable {
    /// Whether talkers send signed lists of packet tags in the new version.
    public var hasTagLists: Bool
    /// The indexes of the entries that are taken out, rising. An entry that is changed is taken out, and added.
    public let removed: [UInt16]
    /// The entries that are added, by rising index.
    public let added: [RosterEntry]

    /// A change of more entries is not sent; members fetch the roster instead.
    public static let maximumEntryCount = 255

    /// Returns nil if the change has more entries than can be sent.
    public init?(from old: RosterContents, to new: RosterContents) {
        hasTagLists = new.hasTagLists
        removed = old.entries.filter { new.entry($0.index) != $0 }.map(\.index)
        added = new.entries.filter { old.entry($0.index) != $0 }
        guard removed.count <= Self.maximumEntryCount, added.count <= Self.maximumEntryCount else { return nil }
    }

    /// Parses a change. Accepts any bytes.
    public init(parsing bytes: Span<UInt8>) throws(RosterError) {
        guard bytes.count >= 3 else { throw .length }
        guard bytes[0] <= 1 else { throw .value }
        hasTagLists = bytes[0] == 1
        let (removedCount, addedCount) = (Int(bytes[1]), Int(bytes[2]))
        var offset = 3 + 2 * removedCount
        guard bytes.count >= offset + addedCount * RosterEntry.minimumByteCount else { throw .length }
        removed = (0..<removedCount).map { bytes.number(at: 3 + 2 * $0) }
        var added: [RosterEntry] = []
        for _ in 0..<addedCount { added.append(try RosterEntry(parsing: bytes, at: &offset)) }
        self.added = added
        guard offset == bytes.count else { throw .length }
        guard zip(removed, removed.dropFirst()).allSatisfy({ $0 < $1 }),
            zip(added, added.dropFirst()).allSatisfy({ $0.index < $1.index })
        else { throw .order }
    }

    public var bytes: [UInt8] {
        [UInt8](capacity: added.reduce(3 + 2 * removed.count) { $0 + $1.byteCount }) { bytes in
            bytes.append(hasTagLists ? 1 : 0)
            bytes.append(UInt8(removed.count))
            bytes.append(UInt8(added.count))
            for index in removed { bytes.append(number: index) }
            for entry in added { entry.write(into: &bytes) }
        }
    }

    /// Returns the roster that follows from `old` by this change.
    public func applied(
        to old: RosterContents, version: UInt32, time: UInt32
    ) throws(RosterError) -> RosterContents {
        let gone = Set(removed)
        guard removed.allSatisfy({ old.place(of: $0) != nil }) else { throw .doesNotFollow }
        guard added.allSatisfy({ old.place(of: $0.index) == nil || gone.contains($0.index) }) else {
            throw .doesNotFollow
        }
        let kept = old.entries.filter { !gone.contains($0.index) }
        guard kept.count + added.count <= RosterContents.maximumEntryCount else { throw .tooManyEntries }
        return try RosterContents(
            version: version, time: time, hasTagLists: hasTagLists,
            entries: (kept + added).sorted { $0.index < $1.index })
    }
}
