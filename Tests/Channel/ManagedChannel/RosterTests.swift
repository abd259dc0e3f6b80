import TenfourChannelKeys
import TenfourSeededRandom
import Testing

@testable import TenfourManagedChannel

/// The signed roster, its changes and the admission list: the vectors, and each reason of refusal.
struct RosterTests {
    private let vectors = ManagedVectors.written
    private var channel: UInt128 { vectors.channel }
    private var owner: MemberIdentity { vectors.identity("owner") }
    private var ownerHash: Bytes32 { owner.key.ownerHash }
    private let bytes = ManagedVectors.bytes("roster")

    private func signature(_ name: String) -> Signature {
        Signature(parsing: ManagedVectors.bytes("\(name)-signature").span, at: 0)
    }

    private func first() throws -> SignedRoster {
        try SignedRoster(
            verifying: RosterContents(parsing: bytes.span), signature("roster"), ownerHash: ownerHash,
            channelID: channel)
    }

    @Test func theVectorIsReadVerifiedAndSigned() throws {
        let roster = try first()
        #expect(roster.version == 4 && roster.contents.time == vectors.added + 100 && roster.contents.hasTagLists)
        #expect(roster.contents.entries.map(\.index) == [0, 1, 7, 9])
        #expect(roster.contents.entries.map { $0.name?.text } == ["Grandmother", "Anna", nil, "Bøb"])
        #expect(roster.contents.entries.map(\.role) == [.talk, .talk, .listen, .listen])
        #expect(roster.contents.entries.map(\.priority) == [0, 0, 0, 1])
        #expect([0, 1, 7, 9, 2].map { roster.isSigner($0) } == [true, false, true, false, false])
        #expect(roster.contents.entry(9)?.added == vectors.added + 9)
        #expect(roster.contents.bytes == bytes)
        #expect(roster.admissionList.bytes == ManagedVectors.bytes("admission"))
        #expect(try AdmissionList(parsing: ManagedVectors.bytes("admission").span) == roster.admissionList)
        #expect(roster.ownerKey == owner.key && roster.key(of: 9) == vectors.identity("bob").key)
        #expect(hex(vectors.ownerHash) == ownerHash.array)
        #expect(try SignedRoster(signing: roster.contents, by: owner, channelID: channel) == roster)
    }

    @Test func aChangeLeadsToTheNextVersion() throws {
        let (old, change) = (try first(), try RosterChange(parsing: ManagedVectors.bytes("change").span))
        #expect(change.bytes == ManagedVectors.bytes("change"))
        let contents = try change.applied(to: old.contents, version: 5, time: vectors.added + 200)
        #expect(contents.bytes == ManagedVectors.bytes("next-roster"))
        let new = try SignedRoster(
            verifying: contents, signature("next-roster"), ownerHash: ownerHash, channelID: channel, known: old)
        #expect(throws: Never.self) { try new.checkSuccession(of: old) }
        #expect(RosterChange(from: old.contents, to: new.contents) == change)
        let root = MediaRootVector.root
        let cipher = RosterCipher(root, RosterHead(new))
        #expect(cipher.sealedChange(change.bytes.span, follows: 4) == ManagedVectors.bytes("sealed-change"))
        #expect(cipher.pages(of: contents) == [ManagedVectors.bytes("sealed-page")])
        #expect(cipher.openChange(ManagedVectors.bytes("sealed-change"), follows: 4) == change.bytes)
        #expect(cipher.openChange(ManagedVectors.bytes("sealed-change"), follows: 3) == nil)
        #expect(cipher.openPage(ManagedVectors.bytes("sealed-page"), 0) == contents.bytes)
        #expect(cipher.openPage(ManagedVectors.bytes("sealed-page"), 1) == nil)
    }

    /// Cuts the bytes at each place, and adds one.
    @Test func bytesOfAnotherLengthAreRefused() {
        for count in 0..<bytes.count {
            #expect(throws: RosterError.self) { try RosterContents(parsing: bytes.span.extracting(0..<count)) }
        }
        #expect(throws: RosterError.length) { try RosterContents(parsing: (bytes + [0]).span) }
        #expect(throws: RosterError.length) {
            try AdmissionList(parsing: (ManagedVectors.bytes("admission") + [0]).span)
        }
        #expect(throws: RosterError.length) { try RosterChange(parsing: (ManagedVectors.bytes("change") + [0]).span) }
    }

    /// Offsets: 12 is the owner's entry; 64 Anna's.
    @Test(arguments: [
        (8, 2, RosterError.value), (9, 1, .value), (14, 0, .value), (14, 3, .value), (14, 2, .value), (14, 129, .value),
        (13, 1, .value), (11, 0, .length), (52, 65, .value), (53, 7, .value), (53, 0x20, .value), (53, 0xFF, .value),
        (65, 0, .duplicate), (65, 8, .order), (11, 3, .length), (11, 5, .length),
    ])
    func aByteThatIsNotCanonicalIsRefused(offset: Int, value: UInt8, reason: RosterError) {
        var changed = bytes
        changed[offset] = value
        #expect(throws: reason) { try RosterContents(parsing: changed.span) }
    }

    @Test func versionZeroIsRefused() {
        let changed = [0, 0, 0, 0] + bytes.dropFirst(4)
        #expect(throws: RosterError.value) { try RosterContents(parsing: changed.span) }
        let list = [0, 0, 0, 0] + ManagedVectors.bytes("admission").dropFirst(4)
        #expect(throws: RosterError.value) { try AdmissionList(parsing: list.span) }
    }

    /// The number is refused before the entries are read: there are none here.
    @Test func tooManyEntriesAreRefusedBeforeTheyAreStored() {
        var head = Array(bytes.prefix(12))
        (head[10], head[11]) = (0x10, 0x01)
        #expect(throws: RosterError.tooManyEntries) { try RosterContents(parsing: head.span) }
        #expect(throws: RosterError.tooManyEntries) { try AdmissionList(parsing: [0, 0, 0, 1, 0x10, 0x01].span) }
        head[11] = 0
        #expect(throws: RosterError.length) { try RosterContents(parsing: head.span) }
    }

    @Test func aKeyOrNameThatOccursTwiceIsRefused() throws {
        let entries = try RosterContents(parsing: bytes.span).entries
        var (sameKey, sameName) = (entries, entries)
        sameKey[3].key = entries[1].key
        sameName[3].name = entries[1].name
        for entries in [sameKey, sameName] {
            #expect(throws: RosterError.duplicate) {
                try RosterContents(version: 4, time: 0, hasTagLists: false, entries: entries)
            }
        }
    }

    @Test func aWeakKeyIsRefused() throws {
        var entries = try RosterContents(parsing: bytes.span).entries
        entries[2].key = Bytes32(([1] + [UInt8](repeating: 0, count: 31)).span)
        let contents = try RosterContents(version: 4, time: 0, hasTagLists: false, entries: entries)
        #expect(throws: RosterError.weakKey) {
            try SignedRoster(verifying: contents, signature("roster"), ownerHash: ownerHash, channelID: channel)
        }
    }

    @Test func onlyTheOwnersSignatureForThisChannelCounts() throws {
        let contents = try RosterContents(parsing: bytes.span)
        let (other, right) = (signature("next-roster"), signature("roster"))
        #expect(throws: RosterError.signature) {
            try SignedRoster(verifying: contents, other, ownerHash: ownerHash, channelID: channel)
        }
        #expect(throws: RosterError.signature) {
            try SignedRoster(verifying: contents, right, ownerHash: ownerHash, channelID: channel + 1)
        }
        var entries = contents.entries
        entries[1].priority = 1
        let changed = try RosterContents(
            version: 4, time: contents.time, hasTagLists: contents.hasTagLists, entries: entries)
        #expect(throws: RosterError.signature) {
            try SignedRoster(verifying: changed, right, ownerHash: ownerHash, channelID: channel)
        }
    }

    @Test func aSecondOwnerIsNone() throws {
        let anna = vectors.identity("anna")
        var entries = try RosterContents(parsing: bytes.span).entries
        entries[0].key = anna.key.bytes
        entries.remove(at: 1)
        let contents = try RosterContents(version: 9, time: 0, hasTagLists: false, entries: entries)
        let usurped = try SignedRoster(signing: contents, by: anna, channelID: channel)
        #expect(throws: RosterError.owner) {
            try SignedRoster(verifying: contents, usurped.signature, ownerHash: ownerHash, channelID: channel)
        }
        #expect(throws: RosterError.owner) { try SignedRoster(signing: contents, by: owner, channelID: channel) }
    }

    private func signed(_ version: UInt32, _ change: (inout [RosterEntry]) -> Void = { _ in }) throws -> SignedRoster {
        var entries = try RosterContents(parsing: bytes.span).entries
        change(&entries)
        let contents = try RosterContents(version: version, time: 0, hasTagLists: false, entries: entries)
        return try SignedRoster(signing: contents, by: owner, channelID: channel)
    }

    @Test func onlyAHigherVersionTakesThePlaceOfARoster() throws {
        let held = try signed(4)
        #expect(throws: RosterError.older) { try signed(3).checkSuccession(of: held) }
        #expect(throws: RosterError.older) { try held.checkSuccession(of: held) }
        #expect(throws: RosterError.twoListsOfOneVersion) {
            try signed(4) { $0.removeLast() }.checkSuccession(of: held)
        }
        #expect(throws: Never.self) { try signed(.max) { $0.removeLast() }.checkSuccession(of: held) }
        #expect(throws: RosterError.older) { try held.checkSuccession(of: signed(.max)) }
    }

    @Test func anIndexIsNeverGivenToAnother() throws {
        var randomness = SeededRandom(seed: 3)
        let stranger = MemberIdentity(using: &randomness)
        #expect(throws: RosterError.reused) {
            try signed(5) { $0[1].key = stranger.key.bytes }.checkSuccession(of: signed(4))
        }
        #expect(throws: Never.self) { try signed(5) { $0[1].role = .listen }.checkSuccession(of: signed(4)) }
    }

    @Test func aChangeOfAnotherRosterIsRefused() throws {
        let old = try first().contents
        let entry = old.entries[1]
        #expect(throws: RosterError.doesNotFollow) {
            try RosterChange(parsing: [0, 1, 0, 0, 2].span).applied(to: old, version: 5, time: 0)
        }
        let added = [UInt8](capacity: 200) {
            for byte: UInt8 in [0, 0, 1] { $0.append(byte) }
            entry.write(into: &$0)
        }
        #expect(throws: RosterError.doesNotFollow) {
            try RosterChange(parsing: added.span).applied(to: old, version: 5, time: 0)
        }
        #expect(throws: RosterError.order) { try RosterChange(parsing: [0, 2, 0, 0, 9, 0, 7].span) }
        #expect(throws: RosterError.order) { try RosterChange(parsing: [0, 2, 0, 0, 9, 0, 9].span) }
        #expect(throws: RosterError.value) { try RosterChange(parsing: [2, 0, 0].span) }
        // Nobody can take the owner out.
        #expect(throws: RosterError.value) {
            try RosterChange(parsing: [0, 1, 0, 0, 0].span).applied(to: old, version: 5, time: 0)
        }
    }

    /// A change of 256 entries is not sent.
    @Test func aLongChangeIsFetchedAsPages() throws {
        var randomness = SeededRandom(seed: 4)
        let old = try RosterContents(version: 1, time: 0, hasTagLists: false, entries: [entry(0, owner.key)])
        let many = (1...256).map { entry(UInt16($0), MemberIdentity(using: &randomness).key) }
        func roster(_ count: Int) throws -> RosterContents {
            try RosterContents(version: 2, time: 0, hasTagLists: false, entries: old.entries + many.prefix(count))
        }
        #expect(RosterChange(from: old, to: try roster(256)) == nil)
        let change = try #require(RosterChange(from: old, to: try roster(255)))
        #expect(try RosterChange(parsing: change.bytes.span) == change)
        #expect(try change.applied(to: old, version: 2, time: 0) == roster(255))
        #expect(
            RosterCipher(MediaRootVector.root, RosterHead(try signed(4))).sealedChange(change.bytes.span, follows: 1)
                == nil)
    }

    private func entry(_ index: UInt16, _ key: IdentityKey) -> RosterEntry {
        RosterEntry(index: index, role: .talk, added: 0, key: key, name: nil)
    }
}

/// The media root of the vectors.
enum MediaRootVector {
    static let root = MediaRoot(copying: hex(ManagedVectors.written.mediaRoot).span)
}
