import TenfourAudioCore
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// The records of a channel with an owner at the relay.
struct ManagedRecordTests {
    private let family = ManagedFamily(memberCount: 3)
    private let room: RelayHarness
    private let owner: SimulatedMember
    private let bob: SimulatedMember

    init() {
        (room, owner, bob) = (RelayHarness(family.configuration), family.member(0), family.member(1))
        owner.join(room)
        for record in family.deposit(of: family.roster(1)) { owner.say(record, room) }
        room.run(.milliseconds(20))
        bob.join(room)
        room.run(.milliseconds(20))
        _ = (owner.managedRecords(room), bob.managedRecords(room))
    }

    private func count(_ reason: RelayDiscard) -> Int { room.relay.status.discards[reason] }

    private func fetched(_ version: UInt32) -> [UInt8] {
        [16]
            + [UInt8](capacity: 114) {
                $0.append(number: version)
                while $0.count < 114 { $0.append(0) }
            }
    }

    @Test func newsIsRepeatedUntilItIsFetched() {
        // It was sent at once, and comes again after 1, 3, 7 and 15 s.
        room.run(.seconds(8))
        #expect(bob.managedRecords(room).records.count == 3)
        bob.renew(room)
        #expect(bob.say(managed: fetched(1), room) == .handled)
        room.run(.seconds(20))
        #expect(bob.managedRecords(room).records.isEmpty)
        // A member that has lost its file says so, and is told again.
        bob.renew(room)
        bob.say(managed: fetched(0), room)
        bob.say(managed: fetched(0), room)
        room.run(.milliseconds(20))
        #expect(bob.managedRecords(room).records.count == 1)
        bob.say(managed: fetched(1), room)
        room.run(.seconds(2))
        // The state of the member is on disk within a second, so a relay that starts anew tells it nothing.
        let file = room.files["family"] ?? []
        let store = try? ManagedChannelStore(
            parsingFile: file.span, ownerKey: family.owner.key, channelID: family.channelID)
        let again = RelayHarness(family.configuration, stores: store.map { ["family": $0] } ?? [:], seed: 3)
        let anna = family.member(2)
        #expect(bob.join(again) && anna.join(again))
        again.run(.milliseconds(20))
        #expect(bob.managedRecords(again).records.isEmpty && anna.managedRecords(again).records.count == 1)
    }

    @Test func pagesGoOnlyToAMemberThatProvesItsAddress() {
        bob.renew(room)
        let fetch = [17, 0, 0] + [UInt8](capacity: 8) { $0.append(number: bob.receipt) }
        #expect(bob.say(managed: [17] + [UInt8](repeating: 0, count: 10), room) == .discarded(.staleReceipt))
        #expect(bob.say(managed: fetch, room, from: .host(77)) == .discarded(.staleReceipt))
        _ = bob.managedRecords(room)
        #expect(bob.say(managed: fetch, room) == .handled)
        room.run(.milliseconds(5))
        let records = bob.managedRecords(room).records
        #expect(records.contains { if case .rosterPage = $0 { true } else { false } })
        // Each counts as 26 records of 100.
        var receptions: [Relay.Reception] = []
        for _ in 0..<4 { receptions.append(bob.say(managed: fetch, room)) }
        #expect(receptions.last == .discarded(.tooManyRecords))
    }

    @Test func onlySignersDeposit() {
        #expect(bob.say(.prekeyRequest(since: 0), room) == .discarded(.notASigner))
        for record in family.deposit(of: family.roster(2)) { #expect(bob.say(record, room) == .discarded(.notASigner)) }
        var randomness = SeededRandom(seed: 8)
        let false2 = family.deposit(of: family.roster(2, by: MemberIdentity(using: &randomness)))
        #expect(false2.map { owner.say($0, room) }.last == .discarded(.falseRoster))
        #expect(owner.say(family.deposit(of: family.roster(1, without: [2]))[0], room) == .discarded(.olderDeposit))
        room.run(.milliseconds(20))
        #expect(count(.notASigner) >= 2 && count(.falseRoster) == 1 && count(.olderDeposit) == 1)
        #expect(family.member(2).join(room))
        #expect(owner.say(.prekeyRequest(since: 0), room) == .handled)
        room.run(.milliseconds(5))
        let answers = owner.managedRecords(room).records
        #expect(answers.contains { if case .prekeys = $0 { true } else { false } })
    }

    @Test func secretsForStrangersAreCountedOneByOne() {
        // DEPOSIT of generation 1 for the indexes 1, 9 and 77.
        var content: [UInt8] = [19, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 3]
        for index: UInt8 in [1, 9, 77] { content += [0, index] + [UInt8](repeating: 5, count: 84) }
        #expect(owner.say(managed: content, room) == .discarded(.depositForStranger))
        #expect(count(.depositForStranger) == 2)
        room.run(.milliseconds(20))
        let news = bob.managedRecords(room).records.compactMap { if case .news(let news) = $0 { news } else { nil } }
        #expect(news.last?.secret?.id == GroupSecretID(rosterVersion: 1, generation: 1, signer: 0))
    }

    @Test func nothingIsToldBeforeItIsOnDisk() {
        room.isDiskFull = true
        for record in family.deposit(of: family.roster(2, without: [1])) { owner.say(record, room) }
        room.run(.seconds(3))
        #expect(bob.managedRecords(room).goodbyes.isEmpty)
        #expect(!owner.managedRecords(room).records.contains { if case .deposited = $0 { true } else { false } })
        room.isDiskFull = false
        room.run(.seconds(2))
        #expect(bob.managedRecords(room).goodbyes == [.notAdmitted])
        // The owner repeats its deposit, and is answered.
        owner.say(family.deposit(of: family.roster(2, without: [1]))[0], room)
        room.run(.milliseconds(5))
        #expect(owner.managedRecords(room).records.contains { if case .deposited = $0 { true } else { false } })
    }

    @Test func aDepositThatRemovesNobodyWaitsForTheDiskToo() {
        room.isDiskFull = true
        for record in family.deposit(of: family.roster(2)) { owner.say(record, room) }
        room.run(.seconds(3))
        #expect(owner.managedRecords(room).records.isEmpty && bob.managedRecords(room).records.isEmpty)
    }

    @Test func badRecordsAreCounted() {
        for content: [UInt8] in [[15], [18, 1], [20], [16, 0], [21, 9], [22, 1, 2], [19]] {
            #expect(bob.say(managed: content, room) == .discarded(.malformedRecord))
        }
        // A channel without an owner has no such records.
        let open = ChannelKeys.drawn("open", seed: 70)
        let (room, member) = (RelayHarness([open]), SimulatedMember(open, .talk, at: .host(1)))
        #expect(member.join(room) && member.say(managed: fetched(1), room) == .discarded(.malformedRecord))
    }
}
