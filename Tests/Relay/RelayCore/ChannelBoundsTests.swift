import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// The limits on all talkers of a channel together.
struct ChannelBoundsTests {
    private let family = ChannelKeys.drawn("family")
    private let room: RelayHarness

    init() { room = RelayHarness([family], limits: .wide) }

    private func talkers(_ count: Int, from first: Int = 1) -> [SimulatedMember] {
        (first..<first + count).map { number in
            let talker = SimulatedMember(family, .talk, at: .host(number))
            #expect(talker.join(room))
            return talker
        }
    }

    private func isForwarded(_ reception: Relay.Reception) -> Bool {
        if case .forward = reception { true } else { false }
    }

    @Test func theOneSilentLongestGivesItsSSRCUp() {
        let crowd = talkers(32)
        for talker in crowd {
            #expect(isForwarded(talker.announce(room)))
            room.run(.milliseconds(10))
        }
        let newcomer = talkers(1, from: 100)[0]
        #expect(newcomer.announce(room) == .discarded(.tooManyTalkers))
        room.run(.seconds(3))
        // The talker that was announced first sends now, so it is no longer the one silent for longest.
        #expect(isForwarded(crowd[0].talk(room)))
        room.run(.milliseconds(1_600))
        #expect(newcomer.announce(room) == .discarded(.tooManyTalkers))
        room.run(.milliseconds(200))
        for member in crowd { _ = room.take(member.endpoint) }
        #expect(isForwarded(newcomer.announce(room)))
        #expect(crowd[0].goodbyes(room) == [crowd[1].ssrc])
        #expect(crowd[1].talk(room) == .discarded(.unannounced))
        #expect(isForwarded(crowd[0].talk(room)))
        // A talker that lost its slot announces itself again, and takes the slot of another silent talker.
        #expect(isForwarded(crowd[1].announce(room)) && isForwarded(crowd[1].talk(room)))
        #expect(crowd[2].talk(room) == .discarded(.unannounced))
        #expect(room.relay.status.discards[.tooManyTalkers] == 2)
    }

    @Test func aLimitThatWasLoweredHoldsWhenTheNextOneSpeaks() {
        let crowd = talkers(6)
        for talker in crowd { #expect(isForwarded(talker.announce(room))) }
        var configuration = RelayConfiguration([family], limits: .wide)
        configuration.limits.channelTalkers = 4
        room.reload(configuration)
        room.run(.seconds(6))
        for talker in crowd[3...] { #expect(isForwarded(talker.talk(room))) }
        #expect(isForwarded(talkers(1, from: 100)[0].announce(room)))
        for talker in crowd[..<3] { #expect(talker.talk(room) == .discarded(.unannounced)) }
        #expect(talkers(1, from: 101)[0].announce(room) == .discarded(.tooManyTalkers))
    }

    @Test func aTalkerThatChangesItsSSRCEvictsNobody() {
        let crowd = talkers(32)
        for talker in crowd { talker.announce(room) }
        room.run(.seconds(6))
        for number in 0..<5 { #expect(isForwarded(crowd[0].announce(room, SSRC(1_000 + UInt32(number))))) }
        for talker in crowd.dropFirst() { #expect(talker.talk(room) != .discarded(.unannounced)) }
        #expect(room.relay.status.discards[.tooManyTalkers] == 0)
    }

    @Test func eightAreHeardAtTheSameTime() {
        let crowd = talkers(10)
        for talker in crowd { talker.announce(room) }
        for round in 0..<100 {
            for (index, talker) in crowd.enumerated() {
                let reception = talker.talk(room)
                #expect(index < 8 ? isForwarded(reception) : reception == .discarded(.tooManyVoices), "\(round)")
            }
            room.run(.milliseconds(20))
        }
        #expect(room.relay.status.discards[.tooManyVoices] == 200)
        #expect(room.relay.status.channels[0].talkerCount == 8)
        // Talkers 0 and 1 pause. Talker 8 takes one of the two free slots, so only one of them can resume.
        for _ in 0..<60 {
            for talker in crowd[2..<8] { talker.talk(room) }
            room.run(.milliseconds(20))
        }
        #expect(isForwarded(crowd[8].talk(room)) && isForwarded(crowd[0].talk(room)))
        #expect(crowd[1].talk(room) == .discarded(.tooManyVoices))
    }

    @Test func anUnannouncedSSRCDoesNotReplaceATalker() {
        let crowd = talkers(9)
        for talker in crowd.dropFirst() { talker.announce(room) }
        for _ in 0..<10 { #expect(crowd[0].talk(room) == .discarded(.unannounced)) }
        for talker in crowd.dropFirst() { #expect(isForwarded(talker.talk(room))) }
    }

    @Test func theBitsOfAllTogetherAreBounded() {
        var configuration = RelayConfiguration([family])
        configuration.limits.channelBitsPerSecond = 80_000
        let room = RelayHarness(configuration)
        let talkers = (1...4).map { SimulatedMember(family, .talk, at: .host($0)) }
        for talker in talkers {
            #expect(talker.join(room))
            talker.announce(room)
        }
        // Each talker sends 50 packets of 100 bytes a second, which together is twice the channel's limit.
        var count = 0
        for _ in 0..<500 {
            for talker in talkers where isForwarded(talker.talk(room)) { count += 1 }
            room.run(.milliseconds(20))
        }
        // The credit of ten seconds and a saved burst of two seconds.
        #expect((1_150...1_200).contains(count), "\(count)")
        #expect(room.relay.status.discards[.tooManyChannelBits] == 2_000 - count)
        // Announcements count against the same limit.
        room.run(.seconds(10))
        for _ in 0..<400 { talkers[0].announce(room) }
        #expect(room.relay.status.discards[.tooManyChannelBits] > 2_010 - count)
    }

    @Test func aChannelMayHaveBoundsOfItsOwn() {
        var configuration = RelayConfiguration([family, .drawn("small", seed: 10)])
        configuration.channels[1].limits.talkers = 2
        configuration.channels[1].limits.voices = 1
        let room = RelayHarness(configuration)
        let small = ChannelKeys.drawn("small", seed: 10)
        let talkers = (1...3).map { SimulatedMember(small, .talk, at: .host($0)) }
        for talker in talkers { #expect(talker.join(room)) }
        #expect(isForwarded(talkers[0].announce(room)) && isForwarded(talkers[1].announce(room)))
        #expect(talkers[2].announce(room) == .discarded(.tooManyTalkers))
        #expect(isForwarded(talkers[0].talk(room)))
        #expect(talkers[1].talk(room) == .discarded(.tooManyVoices))
        configuration.channels[1].limits.voices = 2
        room.reload(configuration)
        #expect(isForwarded(talkers[1].talk(room)))
    }
}
