import TenfourAudioCore
import TenfourChannelKeys
import TenfourSeededRandom
import Testing

@testable import TenfourManagedChannel

/// What a relay's store, and a member, do not take.
struct StoreRefusalTests {
    private var channel: SimulatedManagedChannel
    private let blob = SealedGroupSecret(parsing: [UInt8](repeating: 1, count: 84).span, at: 0)

    init() throws {
        channel = try SimulatedManagedChannel(memberCount: 3, seed: 6)
        for index: UInt16 in 1...3 { channel.join(index) }
        channel.run(for: .seconds(15))
    }

    private func deposit(
        _ version: UInt32, _ generation: UInt32, signer: UInt16 = 0, isAddition: Bool = false, indexes: [UInt16]
    ) -> MemberRecord {
        .deposit(
            GroupSecretDeposit(
                id: GroupSecretID(rosterVersion: version, generation: generation, signer: signer),
                isAddition: isAddition, total: UInt16(indexes.count),
                entries: indexes.map { GroupSecretDeposit.Entry(index: $0, sealed: blob) }))
    }

    private func next(
        _ version: UInt32, by owner: MemberIdentity? = nil, without index: UInt16 = 2
    ) throws -> [RosterDeposit] {
        var entries = channel.roster.contents.entries.filter { $0.index != index }
        if let owner { entries[0].key = owner.key.bytes }
        let contents = try RosterContents(version: version, time: 0, hasTagLists: false, entries: entries)
        let signed = try SignedRoster(signing: contents, by: owner ?? channel.owner, channelID: channel.channelID)
        return RosterDeposit.parts(of: signed, after: nil, hasSecret: false, mediaRoot: channel.root)
    }

    @Test mutating func onlySignersDepositAndAskForPrekeys() throws {
        channel.relay.receive(.prekeyRequest(since: 0), from: 1, at: channel.now)
        channel.relay.receive(deposit(1, 9, signer: 1, indexes: [1]), from: 1, at: channel.now)
        // In the owner's name.
        channel.relay.receive(deposit(1, 9, indexes: [1]), from: 1, at: channel.now)
        channel.relay.receive(.rosterDeposit(try next(2)[0]), from: 1, at: channel.now)
        #expect(channel.relay.refusals == [.notASigner: 4])
        #expect(channel.relay.storeDue == nil && channel.relay.nextMessage(at: channel.now) == nil)
    }

    @Test mutating func anOlderSecretIsNotTaken() {
        let held = channel.relay.secretID
        #expect(held.generation == 1)
        channel.relay.receive(deposit(1, 0, indexes: [1]), from: 0, at: channel.now)
        channel.relay.receive(deposit(7, 1, indexes: [1]), from: 0, at: channel.now)
        channel.relay.receive(deposit(1, 3, isAddition: true, indexes: [1]), from: 0, at: channel.now)
        #expect(channel.relay.refusals == [.olderDeposit: 3] && channel.relay.secretID == held)
    }

    @Test mutating func aSecretForAStrangerIsNotKept() {
        channel.relay.receive(deposit(1, 2, indexes: [1, 9, 77]), from: 0, at: channel.now)
        #expect(channel.relay.refusals == [.depositForStranger: 2] && channel.relay.secretID.generation == 2)
        channel.relay.receive(deposit(1, 2, isAddition: true, indexes: [9]), from: 0, at: channel.now)
        #expect(channel.relay.refusals == [.depositForStranger: 3] && channel.relay.members.count == 4)
    }

    @Test mutating func aRosterThatTheOwnerHasNotSignedIsNotInForce() throws {
        var randomness = SeededRandom(seed: 1)
        let stranger = MemberIdentity(using: &randomness)
        for part in try next(2, by: stranger) { channel.relay.receive(.rosterDeposit(part), from: 0, at: channel.now) }
        #expect(channel.relay.refusals == [.falseRoster: 1] && channel.relay.rosterVersion == 1)
        // An older one, and parts of another, change nothing.
        channel.relay.receive(.rosterDeposit(try next(1)[0]), from: 0, at: channel.now)
        #expect(channel.relay.refusals[.olderDeposit] == 1)
        let (second, third) = (try next(2), try next(3))
        for part in [second[0], third[1], third[2]] {
            channel.relay.receive(.rosterDeposit(part), from: 0, at: channel.now)
        }
        #expect(channel.relay.rosterVersion == 1)
        for part in second.reversed() { channel.relay.receive(.rosterDeposit(part), from: 0, at: channel.now) }
        #expect(channel.relay.rosterVersion == 2, "the parts came in another order")
    }

    @Test mutating func anUnfinishedDepositIsForgottenAfterAMinute() throws {
        let parts = try next(2)
        channel.relay.receive(.rosterDeposit(parts[0]), from: 0, at: channel.now)
        _ = channel.relay.nextMessage(at: channel.now + .seconds(60))
        for part in parts.dropFirst() {
            channel.relay.receive(.rosterDeposit(part), from: 0, at: channel.now + .seconds(60))
        }
        #expect(channel.relay.rosterVersion == 1)
    }

    /// Nothing of a deposit is told before it is on disk.
    @Test mutating func aFullDiskAcknowledgesNothing() throws {
        for part in try next(2) { channel.relay.receive(.rosterDeposit(part), from: 0, at: channel.now) }
        #expect(channel.relay.storeDue == channel.now && channel.relay.nextMessage(at: channel.now) == nil)
        channel.relay.stored(false, at: channel.now)
        #expect(channel.relay.storeDue == channel.now + .seconds(1))
        #expect(channel.relay.nextMessage(at: channel.now + .seconds(1)) == nil)
        channel.relay.stored(true, at: channel.now + .seconds(1))
        #expect(channel.relay.nextMessage(at: channel.now + .seconds(1)) == .goodbye(2))
    }

    @Test mutating func pagesOfTheRosterAreLimited() {
        for _ in 0..<401 {
            channel.relay.receive(.rosterFetch(RosterFetch(firstPage: 0, receipt: 0)), from: 1, at: channel.now)
        }
        #expect(channel.relay.refusals == [.tooManyFetches: 1])
        var count = 0
        while channel.relay.nextMessage(at: channel.now) != nil { count += 1 }
        #expect(count <= 256, "answers wait without a bound")
    }

    @Test func aDamagedFileIsTold() throws {
        let file = channel.relay.fileContent
        let (owner, id) = (channel.owner.key, channel.channelID)
        let again = try ManagedChannelStore(parsingFile: file.span, ownerKey: owner, channelID: id)
        #expect(again.fileContent == file && again.secretID == channel.relay.secretID)
        for place in stride(from: 0, to: file.count, by: 7) {
            var changed = file
            changed[place] ^= 1
            #expect(throws: ManagedChannelFileError.damaged) {
                try ManagedChannelStore(parsingFile: changed.span, ownerKey: owner, channelID: id)
            }
            #expect(throws: ManagedChannelFileError.damaged) {
                try ManagedChannelStore(parsingFile: file.span.extracting(0..<place), ownerKey: owner, channelID: id)
            }
        }
        let other = try #require(channel.stations[1]?.member.identity.key)
        for (owner, id) in [(other, id), (owner, id + 1)] {
            #expect(throws: ManagedChannelFileError.anotherChannel) {
                try ManagedChannelStore(parsingFile: file.span, ownerKey: owner, channelID: id)
            }
        }
    }

    @Test mutating func aMemberCountsWhatItDoesNotTake() throws {
        var randomness = SeededRandom(seed: 2)
        var member = try #require(channel.stations[1]?.member)
        let held = try #require(member.secret)
        func give(_ generation: UInt32, signer: UInt16 = 0, version: UInt32 = 1) {
            let id = GroupSecretID(rosterVersion: version, generation: generation, signer: signer)
            let news = RosterNews(
                head: RosterHead(channel.roster), follows: 0, sealedChange: [],
                secret: RosterNews.Secret(id: id, sealed: blob))
            member.receive(.news(news), at: channel.now, clock: channel.clock, using: &randomness)
        }
        give(0)
        give(9)
        give(9, signer: 1)
        give(9, signer: 99)
        // A secret of a roster that has not come yet is left for later.
        give(1, version: 2)
        #expect(member.refusals == [.lower: 1, .unopened: 1, .notASigner: 2])
        #expect(member.secret == held)
    }

    /// A relay that gives an old roster to a member that starts anew.
    @Test mutating func aMemberTakesNoOlderRosterAfterARestart() throws {
        try channel.remove(3)
        channel.run(for: .seconds(5))
        let station = try #require(channel.stations[1])
        #expect(station.member.roster?.version == 2)
        var randomness = SeededRandom(seed: 2)
        var member = ManagedMember(
            station.member.identity, channelID: channel.channelID, mediaRoot: channel.root,
            ownerHash: channel.owner.key.ownerHash, file: LockedBytes(copying: station.disk.span))
        member.joined(at: channel.now, clock: channel.clock, using: &randomness)
        while member.nextRecord(at: channel.now, receipt: 0) != nil {}
        let entries = channel.roster.contents.entries
        for (version, priority, reason) in [
            (1, 0, RosterError.older), (2, 1, .twoListsOfOneVersion),
        ] as [(UInt32, UInt8, RosterError)] {
            var other = entries
            other[1].priority = priority
            let contents = try RosterContents(version: version, time: 0, hasTagLists: false, entries: other)
            let signed = try SignedRoster(signing: contents, by: channel.owner, channelID: channel.channelID)
            let sealed = RosterCipher(channel.root, RosterHead(signed)).pages(of: contents)
            let page = RosterPage(head: RosterHead(signed), pageCount: 1, page: 0, sealed: sealed[0])
            member.receive(.rosterPage(page), at: channel.now, clock: channel.clock, using: &randomness)
            #expect(member.rosterRefusals[reason] == 1 && member.roster == nil)
        }
    }

    /// A member that was not there at all fetches the roster in pages, and then gets a secret.
    @Test mutating func aMemberWithoutARosterFetchesIt() throws {
        let old = try #require(channel.stations[2])
        channel.leave(2)
        channel.stations[2]?.member = ManagedMember(
            old.member.identity, channelID: channel.channelID, mediaRoot: channel.root,
            ownerHash: channel.owner.key.ownerHash)
        channel.run(for: .seconds(5))
        channel.join(2)
        channel.run(for: .seconds(25))
        #expect(channel.stations[2]?.member.roster == channel.roster)
        #expect(channel.stations[2]?.member.secret == channel.stations[0]?.member.secret)
    }
}
