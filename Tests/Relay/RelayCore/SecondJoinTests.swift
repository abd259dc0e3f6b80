import CMACs
import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Joins of members that demand the relay's static key.
struct SecondJoinTests {
    private let family = ChannelKeys.drawn("family")
    private let key: RelayKey

    init() {
        var randomness = SeededRandom(seed: 3)
        key = RelayKey(using: &randomness)
    }

    private func room(_ channels: [ChannelKeys]? = nil, key: RelayKey? = nil) -> RelayHarness {
        var configuration = RelayConfiguration(channels ?? [family])
        configuration.key = key ?? self.key
        return RelayHarness(configuration)
    }

    private func member(_ keys: ChannelKeys, _ role: Role = .talk, host: Int = 1) -> SimulatedMember {
        let member = SimulatedMember(keys, role, at: .host(host))
        member.expected = ExpectedRelay(RelayFingerprint(relay: key.publicKey, ownerless: keys), of: keys)
        return member
    }

    private func multiplications(_ body: () -> Void) -> UInt {
        let before = macs_of_this_thread().multiplications
        body()
        return macs_of_this_thread().multiplications - before
    }

    @Test(arguments: [Role.talk, .listen]) func aMemberJoinsTheRelayThatItExpects(role: Role) {
        let (room, member) = (room(), member(family, role))
        #expect(member.join(room))
        #expect(member.joinDatagram.count == 192)
        if role == .talk {
            #expect(member.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: member.number!))
        }
    }

    @Test func anAnswerCostsFiveMultiplications() {
        let (room, member) = (room(), member(family))
        #expect(multiplications { member.helloAndCookie(room) } == 4)
        #expect(multiplications { room.receive(member.joinDatagram, from: member.endpoint) } == 5)
        // The same JOIN again is answered from memory.
        #expect(multiplications { room.receive(member.joinDatagram, from: member.endpoint) } == 0)
        let welcomes = room.take(member.endpoint)
        #expect(welcomes.count == 2 && welcomes[0] == welcomes[1] && welcomes[0].count == 105)
    }

    @Test func joinsWithRightCookiesAndWrongProofsCauseNoMultiplication() {
        let room = room()
        let count = 100_000
        let members = (0..<1_000).map { member(family, host: $0) }
        // Each host sends a JOIN a second, so that most proofs are checked. The count is the one that the protocol promises.
        for number in 0..<count {
            let member = members[number % members.count]
            if number % (count / 2) < members.count {
                member.helloAndCookie(room)
                member.joinDatagram[180] ^= 1
            }
            member.joinDatagram[120] &+= 1
            let spent = multiplications { room.receive(member.joinDatagram, from: member.endpoint) }
            if spent > 0 { return #expect(Bool(false), "JOIN \(number) caused \(spent) multiplications") }
            if number % 100 == 99 { room.run(.milliseconds(100)) }
            room.inbox.removeAll(keepingCapacity: true)
        }
        let discards = room.relay.status.discards
        #expect(discards[.unproved] + discards[.tooManyFailures] == count && discards[.unproved] > count / 2)
    }

    @Test func whatFailsBeforeTheProofLooksAlike() {
        let room = room()
        var answers: [[UInt8]] = []
        let before = macs_of_this_thread()
        var hmacs: [UInt] = []
        for (host, change) in [(1, 191), (2, 176), (3, 40), (4, 100), (5, 160)] {
            let member = member(family, host: host)
            member.helloAndCookie(room)
            member.joinDatagram[change] ^= 1
            let start = macs_of_this_thread()
            #expect(room.receive(member.joinDatagram, from: member.endpoint) == .discarded(.unproved))
            let end = macs_of_this_thread()
            #expect(end.multiplications == start.multiplications)
            hmacs.append(end.hmacs - start.hmacs)
            answers += room.take(member.endpoint)
        }
        #expect(Set(hmacs).count == 1 && macs_of_this_thread().hmacs > before.hmacs)
        #expect(answers.allSatisfy { $0.count == 40 && $0[20] == 0 } && answers.count == 5)
    }

    @Test func aProvedJoinForAnotherRelayKeyIsCountedAndBounded() {
        var randomness = SeededRandom(seed: 4)
        let other = RelayKey(using: &randomness)
        let room = room(key: other)
        // The members have an earlier COOKIE2 of the relay, from before its key changed.
        var configuration = RelayConfiguration([family])
        configuration.key = key
        room.reload(configuration)
        let members = (0..<30).map { _ in member(family) }
        for member in members { member.helloAndCookie(room) }
        configuration.key = other
        room.reload(configuration)
        let spent = multiplications {
            for member in members { room.receive(member.joinDatagram, from: member.endpoint) }
        }
        #expect(room.relay.status.discards[.otherRelayKey] == 20 && room.relay.status.discards[.tooManyFailures] == 10)
        #expect(spent <= 40 && room.take(members[0].endpoint).isEmpty)
    }

    @Test func anUnknownChannelCannotBeToldFromAKnownOne() throws {
        let room = room()
        var owners: [OwnerHash] = []
        for keys in [family, .drawn("elsewhere", seed: 10), .drawn("elsewhere", seed: 10)] {
            let hello = [UInt8](capacity: 128) {
                ControlPacket.writeHello2(nonce: 7, channelID: keys.listenJoin.channelID, into: &$0)
            }
            #expect(multiplications { room.receive(hello, from: .host(1)) } == 0)
            let answers = room.take(.host(1))
            #expect(answers.map(\.count) == [104])
            let answer = try #require(answers.first)
            guard case .cookie2(let cookie, 7) = try ControlPacket(parsing: answer.span) else {
                return #expect(Bool(false))
            }
            #expect(cookie.relay == key.publicKey)
            owners.append(cookie.owner)
        }
        #expect(owners[0] == OwnerHash(ownerless: family.listenJoin))
        #expect(owners[1] == owners[2] && owners[0] != owners[1])
        #expect(owners[1] != OwnerHash(ownerless: ChannelKeys.drawn("elsewhere", seed: 10).listenJoin))
    }

    @Test func aChannelWithANewSecretSaysSo() {
        let former = ChannelKeys.drawn("family", seed: 8)
        let room = room([former])
        var configuration = RelayConfiguration([family])
        configuration.key = key
        room.reload(configuration)
        guard case .refusal(.rekeyed) = member(former).knock(room) else { return #expect(Bool(false)) }
    }

    @Test func aRelayWithoutAKeyAnswersNeitherHello2NorJoin2() {
        let (keyed, member) = (room(), member(family))
        member.helloAndCookie(keyed)
        let room = RelayHarness(RelayConfiguration([family]))
        let hello = [UInt8](capacity: 128) { ControlPacket.writeHello2(nonce: 7, channelID: 1, into: &$0) }
        #expect(room.receive(hello, from: member.endpoint) == .discarded(.unexpectedControl))
        #expect(room.receive(member.joinDatagram, from: member.endpoint) == .discarded(.unexpectedControl))
        #expect(room.take(member.endpoint).isEmpty)
    }
}
