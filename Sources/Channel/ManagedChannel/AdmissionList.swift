public import TenfourChannelKeys

/// The members whom a relay admits to a managed channel: hashes of their keys, without names. It is covered by the
/// signature of the roster (Protocol/13-members.md).
public struct AdmissionList: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public var index: UInt16
        public var role: Role
        public var isDelegate: Bool
        /// The first half of a hash of the channel and the member's X25519 key.
        public var keyHash: UInt128
    }

    public let version: UInt32
    /// The entries by rising index; the owner's is the first.
    public let entries: [Entry]

    static let headByteCount = 6
    static let entryByteCount = 19

    init(version: UInt32, entries: [Entry]) {
        self.version = version
        self.entries = entries
    }

    /// Returns the hash by which an admission list knows the member with this X25519 key.
    public static func keyHash(of agreementKey: Bytes32, channelID: UInt128) -> UInt128 {
        let text = label("tenfour 1 member") {
            $0.append(number: channelID)
            agreementKey.write(into: &$0)
        }
        return sha256(text.span).span.number(at: 0)
    }

    /// Parses a list. Accepts any bytes; stores nothing before the number of entries was checked.
    public init(parsing bytes: Span<UInt8>) throws(RosterError) {
        guard bytes.count >= Self.headByteCount else { throw .length }
        version = bytes.number(at: 0)
        guard version > 0 else { throw .value }
        let entryCount = Int(bytes.number(at: 4, as: UInt16.self))
        guard entryCount <= RosterContents.maximumEntryCount else { throw .tooManyEntries }
        guard bytes.count == Self.headByteCount + entryCount * Self.entryByteCount else { throw .length }
        var entries: [Entry] = []
        entries.reserveCapacity(entryCount)
        for place in 0..<entryCount {
            let entry = try Entry(parsing: bytes, at: Self.headByteCount + place * Self.entryByteCount)
            if let last = entries.last {
                guard entry.index >= last.index else { throw .order }
                guard entry.index > last.index else { throw .duplicate }
            } else {
                guard entry.index == RosterEntry.ownerIndex else { throw .value }
            }
            entries.append(entry)
        }
        guard !entries.isEmpty else { throw .value }
        self.entries = entries
    }

    /// Throws unless the entries are sorted, and the owner's is the first.
    init(version: UInt32, checking entries: [Entry]) throws(RosterError) {
        guard entries.first?.index == RosterEntry.ownerIndex else { throw .value }
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.index < $1.index }) else { throw .order }
        self.init(version: version, entries: entries)
    }

    public var bytes: [UInt8] {
        [UInt8](capacity: Self.headByteCount + entries.count * Self.entryByteCount) { bytes in
            bytes.append(number: version)
            bytes.append(number: UInt16(entries.count))
            for entry in entries { entry.write(into: &bytes) }
        }
    }

    public var hash: Bytes32 { Bytes32(hashing: bytes.span) }
}

extension AdmissionList.Entry {
    private static let delegateBit: UInt8 = 128

    init(parsing bytes: Span<UInt8>, at offset: Int) throws(RosterError) {
        guard Role(rawValue: bytes[offset + 2] & ~Self.delegateBit) != nil else { throw .value }
        self.init(
            index: bytes.number(at: offset), roleByte: bytes[offset + 2], keyHash: bytes.number(at: offset + 3))
    }

    /// `roleByte` must be one that was checked.
    init(index: UInt16, roleByte: UInt8, keyHash: UInt128) {
        self.init(
            index: index, role: Role(rawValue: roleByte & ~Self.delegateBit) ?? .listen,
            isDelegate: roleByte & Self.delegateBit != 0, keyHash: keyHash)
    }

    /// The role as it is written: 128 is added for a delegate.
    var roleByte: UInt8 { role.rawValue | (isDelegate ? Self.delegateBit : 0) }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: index)
        bytes.append(roleByte)
        bytes.append(number: keyHash)
    }

    /// Whether the member may be in the channel in this role: one that may talk may also only listen.
    public func allows(_ role: Role) -> Bool { self.role == .talk || role == .listen }

    /// Whether the member may deposit group secrets.
    public var isSigner: Bool { index == RosterEntry.ownerIndex || isDelegate }
}
