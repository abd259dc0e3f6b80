internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The state that a relay keeps of one member of a managed channel. It is small, because there may be thousands.
struct RelayMember: Sendable {
    let index: UInt16
    var role: UInt8
    var keyHash: (UInt64, UInt64)
    /// The newest roster and secret that the member has fetched.
    var rosterVersion: UInt32 = 0
    var secret = GroupSecretID.none
    /// The order in which the prekey came; 0 without one.
    var prekeyNumber: UInt64 = 0
    /// The moment of the next NEWS; nil if none is due.
    var nextNews: Instant?
    var attempts: UInt8 = 0
    var isHere = false
    var hasBlob = false
    private var blob = InlineArray<84, UInt8>(repeating: 0)
    private var prekeyBytes = InlineArray<100, UInt8>(repeating: 0)

    init(_ entry: AdmissionList.Entry) {
        index = entry.index
        role = entry.roleByte
        keyHash = Self.halves(of: entry.keyHash)
    }

    static func halves(of hash: UInt128) -> (UInt64, UInt64) {
        (UInt64(truncatingIfNeeded: hash >> 64), UInt64(truncatingIfNeeded: hash))
    }

    /// The member as the admission list has it. The list is kept in the members, and nowhere else.
    var entry: AdmissionList.Entry {
        AdmissionList.Entry(
            index: index, roleByte: role, keyHash: UInt128(keyHash.0) << 64 | UInt128(keyHash.1))
    }

    var sealed: SealedGroupSecret? {
        get { hasBlob ? SealedGroupSecret(parsing: blob.span, at: 0) : nil }
        set {
            hasBlob = newValue != nil
            let bytes = [UInt8](capacity: 84) { bytes in
                if let newValue { newValue.write(into: &bytes) } else { bytes.append(zeros: 84) }
            }
            for place in bytes.indices { blob[place] = bytes[place] }
        }
    }

    var prekey: Prekey? {
        get { Prekey(parsing: prekeyBytes.span, at: 0) }
        set {
            let bytes = [UInt8](capacity: 100) { bytes in
                if let newValue { newValue.write(into: &bytes) } else { bytes.append(zeros: 100) }
            }
            for place in bytes.indices { prekeyBytes[place] = bytes[place] }
        }
    }

    /// Takes over what a former version of the list has known of the member, unless its key has changed.
    mutating func inherit(from old: RelayMember) {
        guard keyHash == old.keyHash else { return }
        let (role, hash) = (role, keyHash)
        self = old
        self.role = role
        keyHash = hash
    }
}

extension [RelayMember] {
    /// Returns the place of a member by binary search.
    func place(of index: UInt16) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].index == index ? low : nil
    }
}

/// The places of members, ordered by the hashes of their keys.
struct MemberPlaces: Sendable {
    private var places: [UInt16] = []

    init() {}

    init(_ members: [RelayMember]) {
        places = (0..<UInt16(members.count)).sorted { members[Int($0)].keyHash < members[Int($1)].keyHash }
    }

    /// Returns the place of the member whose key has this hash, by binary search. `members` must be those of `init`.
    func place(of keyHash: UInt128, in members: [RelayMember]) -> Int? {
        let wanted = RelayMember.halves(of: keyHash)
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if members[Int(places[middle])].keyHash < wanted { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, members[Int(places[low])].keyHash == wanted else { return nil }
        return Int(places[low])
    }

    var byteCount: Int { places.capacity * MemoryLayout<UInt16>.stride }
}

/// A roster that the relay keeps: its head, and what only members can read.
struct RelayRoster: Sendable {
    var head: RosterHead
    var hash: Bytes32
    var pages: [[UInt8]]
    var follows: UInt32
    var sealedChange: [UInt8]
}

/// Parts of a roster and of a group secret that have come so far. There is one of each for a channel.
struct UnfinishedDeposit: Sendable {
    let signer: UInt16
    let began: Instant
    var roster: Roster?
    var secret: Secret?

    struct Roster: Sendable {
        let head: RosterDeposit.Head
        let key: UInt32
        var entries: [AdmissionList.Entry?]
        var pages: [[UInt8]]
        var missingCount: Int

        init(_ head: RosterDeposit.Head, key: UInt32) {
            self.head = head
            self.key = key
            entries = Array(repeating: nil, count: Int(head.admissionCount))
            pages = Array(repeating: [], count: Int(head.pageCount))
            missingCount = entries.count + pages.count
        }

        mutating func insert(_ new: [AdmissionList.Entry], at place: UInt16) {
            for (offset, entry) in new.enumerated() where Int(place) + offset < entries.count {
                if entries[Int(place) + offset] == nil { missingCount -= 1 }
                entries[Int(place) + offset] = entry
            }
        }

        mutating func insert(_ page: [UInt8], at place: UInt16) {
            guard Int(place) < pages.count else { return }
            if pages[Int(place)].isEmpty { missingCount -= 1 }
            pages[Int(place)] = page
        }
    }

    struct Secret: Sendable {
        let id: GroupSecretID
        let total: UInt16
        /// By rising index.
        private(set) var indexes: [UInt16] = []
        private(set) var blobs: [UInt8] = []

        init(id: GroupSecretID, total: UInt16) {
            self.id = id
            self.total = total
            indexes.reserveCapacity(Int(total))
            blobs.reserveCapacity(Int(total) * SealedGroupSecret.byteCount)
        }

        var isComplete: Bool { indexes.count == Int(total) }

        /// Keeps a blob unless there is one for this index, or there are as many as were announced.
        mutating func insert(_ entry: GroupSecretDeposit.Entry) {
            var place = indexes.count
            while place > 0, indexes[place - 1] > entry.index { place -= 1 }
            guard place == 0 || indexes[place - 1] != entry.index, !isComplete else { return }
            indexes.insert(entry.index, at: place)
            let bytes = [UInt8](capacity: SealedGroupSecret.byteCount) { entry.sealed.write(into: &$0) }
            blobs.insert(contentsOf: bytes, at: place * SealedGroupSecret.byteCount)
        }

        func sealed(at place: Int) -> SealedGroupSecret {
            SealedGroupSecret(parsing: blobs.span, at: place * SealedGroupSecret.byteCount)
        }
    }
}

extension ManagedChannelStore {
    /// The bytes of memory that the channel takes, an unfinished deposit included.
    public var memoryByteCount: Int {
        let pages = (roster?.pages ?? []).reduce(0) { $0 + $1.capacity + 48 }
        let listed = unfinished?.roster.map { deposit in
            deposit.entries.capacity * MemoryLayout<AdmissionList.Entry?>.stride
                + deposit.pages.reduce(0) { $0 + $1.capacity + 48 }
        }
        let blobs = unfinished?.secret.map { $0.blobs.capacity + 2 * $0.indexes.capacity }
        return MemoryLayout<Self>.size + members.capacity * MemoryLayout<RelayMember>.stride + places.byteCount + pages
            + (listed ?? 0) + (blobs ?? 0)
    }
}
