import TenfourChannelKeys
import TenfourSeededRandom
import Testing

@testable import TenfourManagedChannel

/// Group secrets and prekeys as values: the vectors, and what does not open.
struct GroupSecretTests {
    private let vectors = ManagedVectors.written
    private let id = GroupSecretID(rosterVersion: 5, generation: 3, signer: 7)
    private var channel: UInt128 { vectors.channel }
    private var bob: MemberIdentity { vectors.identity("bob") }
    private var delegate: MemberIdentity { vectors.identity("delegate") }
    private var secret: GroupSecret { GroupSecret(id, LockedBytes(copying: hex(vectors.groupSecret).span)) }
    private var pair: PrekeyPair {
        PrekeyPair(id: 1_795_000_321, secret: LockedBytes(copying: hex(vectors.prekeySecret).span), drawn: 0)
    }
    private var blob: SealedGroupSecret { SealedGroupSecret(parsing: ManagedVectors.bytes("blob").span, at: 0) }

    @Test func thePrekeyOfTheVectorIsReadAndSigned() throws {
        let bytes = ManagedVectors.bytes("prekey")
        let parsed = Prekey(parsing: bytes.span, at: 0)
        let prekey = try #require(parsed)
        #expect(pair.signed(by: bob, index: 9, channelID: channel) == prekey)
        #expect([UInt8](capacity: 100) { prekey.write(into: &$0) } == bytes)
        #expect(prekey.isSigned(by: bob.key, index: 9, channelID: channel))
        #expect(!prekey.isSigned(by: bob.key, index: 8, channelID: channel))
        #expect(!prekey.isSigned(by: bob.key, index: 9, channelID: channel + 1))
        #expect(!prekey.isSigned(by: delegate.key, index: 9, channelID: channel))
        let none = Prekey(parsing: [UInt8](repeating: 0, count: 100).span, at: 0)
        #expect(none == nil)
    }

    @Test func theVectorIsSealedAndOpened() throws {
        let parsed = Prekey(parsing: ManagedVectors.bytes("prekey").span, at: 0)
        let prekey = try #require(parsed)
        let sealer = GroupSecretSealer(secret, pair: LockedBytes(copying: hex(vectors.ephemeralSecret).span))
        #expect(sealer.sealed(for: 9, bob.key, prekey, by: delegate, channelID: channel) == blob)
        #expect([UInt8](capacity: 84) { blob.write(into: &$0) } == ManagedVectors.bytes("blob"))
        let opened = blob.opened(id, with: pair, of: bob, index: 9, signer: delegate.key, channelID: channel)
        #expect(opened == secret)
    }

    /// The seal holds for one channel, secret, signer, member and prekey.
    @Test func nothingElseOpensASecret() {
        func opened(
            _ id: GroupSecretID? = nil, with other: PrekeyPair? = nil, of identity: MemberIdentity? = nil,
            index: UInt16 = 9,
            signer: MemberIdentity? = nil, channel: UInt128? = nil, blob: SealedGroupSecret? = nil
        ) -> GroupSecret? {
            (blob ?? self.blob).opened(
                id ?? self.id, with: other ?? pair, of: identity ?? bob, index: index, signer: (signer ?? delegate).key,
                channelID: channel ?? self.channel)
        }
        #expect(opened() != nil)
        #expect(opened(GroupSecretID(rosterVersion: 6, generation: 3, signer: 7)) == nil)
        #expect(opened(GroupSecretID(rosterVersion: 5, generation: 4, signer: 7)) == nil)
        #expect(opened(GroupSecretID(rosterVersion: 5, generation: 3, signer: 0)) == nil)
        #expect(opened(index: 8) == nil && opened(channel: 1) == nil)
        #expect(opened(of: vectors.identity("anna")) == nil && opened(signer: vectors.identity("owner")) == nil)
        let other = LockedBytes(copying: [UInt8](repeating: 7, count: 32).span)
        #expect(opened(with: PrekeyPair(id: pair.id, secret: other, drawn: 0)) == nil)
        #expect(opened(with: PrekeyPair(id: pair.id + 1, secret: pair.secret, drawn: 0)) == nil)
        let bytes = ManagedVectors.bytes("blob")
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            #expect(opened(blob: SealedGroupSecret(parsing: changed.span, at: 0)) == nil, "byte \(place)")
        }
    }

    /// Everybody could compute the agreement with these points.
    @Test func aPrekeyOfLowOrderIsNotSealedTo() throws {
        let sealer = GroupSecretSealer(secret, pair: LockedBytes(copying: hex(vectors.ephemeralSecret).span))
        let points = [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
            hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
            [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        ]
        for point in points {
            var bytes = ManagedVectors.bytes("prekey")
            bytes.replaceSubrange(4..<36, with: point)
            let parsed = Prekey(parsing: bytes.span, at: 0)
            let prekey = try #require(parsed)
            #expect(sealer.sealed(for: 9, bob.key, prekey, by: delegate, channelID: channel) == nil)
            var blob = ManagedVectors.bytes("blob")
            blob.replaceSubrange(4..<36, with: point)
            let opened = SealedGroupSecret(parsing: blob.span, at: 0).opened(
                id, with: pair, of: bob, index: 9, signer: delegate.key, channelID: channel)
            #expect(opened == nil)
        }
    }

    @Test func theMediaRootNeedsLinkAndGroupSecret() {
        let root = secret.mediaRoot(from: MediaRootVector.root, channelID: channel)
        let key = hex(vectors.announcementKey)
        #expect(root.announcementTag(of: key.span) != MediaRootVector.root.announcementTag(of: key.span))
        #expect(root != secret.mediaRoot(from: MediaRootVector.root, channelID: channel + 1))
        let other = MediaRoot(copying: [UInt8](repeating: 1, count: 32).span)
        #expect(root != secret.mediaRoot(from: other, channelID: channel))
    }

    @Test func secretsAreOrderedByVersionThenGenerationThenSigner() {
        let ids = [(1, 9, 9), (2, 1, 9), (2, 2, 0), (2, 2, 1)].map {
            GroupSecretID(rosterVersion: UInt32($0.0), generation: UInt32($0.1), signer: UInt16($0.2))
        }
        #expect(ids.shuffled().sorted() == ids && .none < ids[0])
    }

    @Test func prekeysAreAtMostTwoAndSevenDaysOld() {
        var randomness = SeededRandom(seed: 8)
        var store = PrekeyStore()
        store.draw(clock: 1_000, using: &randomness)
        store.draw(clock: 1_000, using: &randomness)
        #expect(store.pairs.map(\.id) == [1_000, 1_001])
        store.draw(clock: 5_000, using: &randomness)
        #expect(store.pairs.map(\.id) == [1_001, 5_000])
        // The clock has gone back.
        store.draw(clock: 10, using: &randomness)
        #expect(store.pairs.map(\.id) == [5_000, 5_001])
        #expect(!store.eraseExpired(clock: 10 + 604_799) && store.pairs.count == 2)
        #expect(store.eraseExpired(clock: 10 + 604_800) && store.pairs.map(\.id) == [5_000])
        #expect(store.eraseOld() == false)
        #expect(store.eraseExpired(clock: 5_000 + 604_800) && store.newest == nil)
        // A clock that was years ahead neither stops the ids nor keeps a prekey.
        store.draw(clock: .max, using: &randomness)
        store.draw(clock: 9_000_000_000, using: &randomness)
        #expect(store.pairs.map(\.id) == [UInt32.max / 2, UInt32.max / 2 + 1])
        #expect(store.eraseExpired(clock: 2_000_000_000) && store.pairs.isEmpty)
    }

    @Test func theFileHoldsWhatTheNextRunNeeds() throws {
        var randomness = SeededRandom(seed: 9)
        var store = PrekeyStore()
        let hash = Bytes32(hashing: [1].span)
        for count in 0...2 {
            if count > 0 { store.draw(clock: 77, using: &randomness) }
            let file = GroupSecretFile(
                channelID: channel, prekeys: store, secret: count == 0 ? nil : secret, received: 99,
                roster: RosterMark(version: 5, hash: hash))
            let bytes = file.bytes.array
            let parsed = GroupSecretFile(parsing: bytes.span, channelID: channel)
            let read = try #require(parsed)
            #expect(read.bytes.array == bytes && read.prekeys.pairs.count == count && read.received == 99)
            #expect(read.secret == file.secret && read.roster == file.roster)
            #expect(GroupSecretFile(parsing: bytes.span, channelID: channel + 1) == nil)
            for place in bytes.indices {
                var changed = bytes
                changed[place] ^= 1
                #expect(GroupSecretFile(parsing: changed.span, channelID: channel) == nil, "byte \(place)")
            }
            #expect(GroupSecretFile(parsing: bytes.span.extracting(0..<225), channelID: channel) == nil)
        }
    }
}
