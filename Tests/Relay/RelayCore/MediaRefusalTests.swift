import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// The relay tells a talker which datagrams it has refused.
struct MediaRefusalTests {
    private let family = ChannelKeys.drawn("family")

    private func room(_ change: (inout RelayConfiguration) -> Void = { _ in }) -> RelayHarness {
        var configuration = RelayConfiguration([family], limits: .wide)
        change(&configuration)
        return RelayHarness(configuration)
    }

    private func talkers(_ count: Int, in room: RelayHarness, announced: Bool = true) -> [SimulatedMember] {
        (1...count).map { number in
            let talker = SimulatedMember(family, .talk, at: .host(number))
            #expect(talker.join(room))
            if announced { talker.announce(room) }
            return talker
        }
    }

    /// The counts that a member has received since the last time, one for each record.
    private func counts(_ member: SimulatedMember, _ room: RelayHarness) -> [[MediaRefusal: Int]] {
        member.records(room).records.compactMap { record in
            guard case .refused(let counts) = record else { return nil }
            let known = MediaRefusal.allCases.filter { counts[$0] > 0 }.map { ($0, Int(counts[$0])) }
            return Dictionary(uniqueKeysWithValues: known)
        }
    }

    @Test func aRateAboveTheLimitIsToldMoreAndMoreSeldom() {
        let room = room { $0.limits.talkerPacketsPerSecond = 50 }
        let talker = talkers(1, in: room)[0]
        // 100 packets a second for ten seconds, of which half are refused when the burst is over.
        for _ in 0..<1_000 {
            talker.talk(room)
            room.run(.milliseconds(10))
        }
        room.run(.seconds(8))
        let told = counts(talker, room)
        let refused = room.relay.status.discards[.tooManyPackets]
        #expect(told.last == [.talkerRate: refused] && refused > 300)
        #expect(told.count == 4, "after 1, 3, 7 and 15 s: \(told)")
        #expect(zip(told, told.dropFirst()).allSatisfy { $0[.talkerRate] ?? 0 < $1[.talkerRate] ?? 0 })
        room.run(.seconds(20))
        #expect(counts(talker, room).isEmpty, "nothing more was refused")
    }

    @Test func theChannelsRateHasItsOwnReason() {
        let room = room { $0.limits.channelBitsPerSecond = 20_000 }
        let crowd = talkers(2, in: room)
        for _ in 0..<200 {
            for talker in crowd { talker.talk(room) }
            room.run(.milliseconds(20))
        }
        room.run(.seconds(8))
        let told = crowd.map { counts($0, room).last?[.channelRate] ?? 0 }
        #expect(told.reduce(0, +) == room.relay.status.discards[.tooManyChannelBits] && told.allSatisfy { $0 > 10 })
    }

    @Test func mediaWithoutTheFloorIsTold() {
        let room = room { $0.channels[0].floor = .init(isRequired: true) }
        let crowd = talkers(2, in: room)
        for (number, talker) in crowd.enumerated() {
            talker.say(.floor(.request(number: 1, talker.ssrc, .normal, waits: false, sends: false)), room)
            for _ in 0..<(number == 0 ? 1 : 30) { talker.talk(room) }
        }
        room.run(.seconds(1))
        #expect(counts(crowd[0], room).isEmpty)
        #expect(counts(crowd[1], room) == [[.floor: 30]])
    }

    /// Media of an SSRC that was refused has the reason of that refusal.
    @Test func aTakenSSRCIsTold() {
        let room = room()
        let crowd = talkers(2, in: room, announced: false)
        crowd[0].announce(room)
        #expect(crowd[1].announce(room, crowd[0].ssrc) == .discarded(.takenSSRC))
        for _ in 0..<10 { #expect(crowd[1].talk(room) == .discarded(.unannounced)) }
        room.run(.seconds(1))
        #expect(counts(crowd[1], room) == [[.takenSSRC: 11]])
        // Another SSRC is free, and its packets are forwarded.
        crowd[1].announce(room)
        crowd[1].talk(room)
        #expect(
            room.receive(crowd[1].tagged(crowd[1].packet(SSRC(77))), from: crowd[1].endpoint)
                == .discarded(.unannounced))
        room.run(.seconds(2))
        #expect(counts(crowd[1], room) == [[.takenSSRC: 11, .unannounced: 1]])
    }

    @Test func mediaBeforeItsAnnouncementIsTold() {
        let room = room()
        let talker = talkers(1, in: room, announced: false)[0]
        for _ in 0..<5 { #expect(talker.talk(room) == .discarded(.unannounced)) }
        room.run(.milliseconds(999))
        #expect(counts(talker, room).isEmpty)
        room.run(.milliseconds(1))
        #expect(counts(talker, room) == [[.unannounced: 5]])
    }

    @Test func tooManyTalkersAreTold() {
        let room = room {
            $0.limits.channelTalkers = 3
            $0.limits.channelVoices = 2
        }
        let crowd = talkers(4, in: room)
        for talker in crowd { for _ in 0..<3 { talker.talk(room) } }
        room.run(.seconds(1))
        #expect(crowd.map { counts($0, room) } == [[], [], [[.tooManyTalkers: 3]], [[.tooManyTalkers: 4]]])
    }

    @Test func tooManySSRCsAreTold() {
        let room = room()
        let talker = talkers(1, in: room, announced: false)[0]
        for number in 0..<20 { talker.announce(room, SSRC(1_000 + UInt32(number))) }
        room.run(.seconds(1))
        #expect(counts(talker, room) == [[.tooManySSRCs: 12]])
    }

    /// Everybody could have sent what has no right hop tag.
    @Test func forgedMediaAndThatOfAListenerIsNotTold() {
        let room = room()
        let talker = talkers(1, in: room)[0]
        let listener = SimulatedMember(family, .listen, at: .host(9))
        #expect(listener.join(room))
        var forged = talker.tagged(talker.packet())
        forged[forged.count - 1] ^= 1
        #expect(room.receive(forged, from: talker.endpoint) == .discarded(.forgedMedia))
        #expect(listener.talk(room) == .discarded(.listenerMedia))
        room.run(.seconds(5))
        #expect(counts(talker, room).isEmpty && counts(listener, room).isEmpty)
    }

    /// The counts are those of a session: a new one of the same member begins at zero.
    @Test func aNewSessionBeginsAtZero() {
        let room = room { $0.limits.talkerPacketsPerSecond = 10 }
        let talker = talkers(1, in: room)[0]
        for _ in 0..<50 { talker.talk(room) }
        room.run(.seconds(1))
        #expect(counts(talker, room).count == 1)
        #expect(talker.join(room))
        for _ in 0..<40 { talker.talk(room) }
        let before = room.relay.status.discards[.tooManyPackets]
        for _ in 0..<7 { talker.talk(room) }
        #expect(room.relay.status.discards[.tooManyPackets] == before + 7)
        room.run(.seconds(2))
        #expect(counts(talker, room).last?[.talkerRate] ?? 0 <= 47)
    }

    @Test func aTalkerThatHasLeftIsToldNothing() {
        let room = room()
        let talker = talkers(1, in: room, announced: false)[0]
        talker.talk(room)
        talker.say(.leave, room)
        room.inbox = [:]
        room.run(.seconds(2))
        #expect(room.take(talker.endpoint).isEmpty)
    }
}
