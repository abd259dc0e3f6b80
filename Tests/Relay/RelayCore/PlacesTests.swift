import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// How the places of a full channel are shared among networks.
struct PlacesTests {
    private let family = ChannelKeys.drawn("family")

    private func room(_ places: Int, members: Int = 10_000) -> RelayHarness {
        var limits = RelayLimits()
        limits.channelMembers = places
        limits.members = members
        return RelayHarness([family], limits: limits)
    }

    /// Returns members of one network, with ports from 1 to `count`.
    private func members(_ count: Int, _ role: Role = .listen, network: Int = 1) -> [SimulatedMember] {
        (1...count).map { SimulatedMember(family, role, at: .host(network, port: UInt16($0)), seed: 3) }
    }

    private func isFull(_ answer: JoinAttempt.Answer) -> Bool {
        if case .refusal(.full) = answer { true } else { false }
    }

    @Test(arguments: [(4, 2), (8, 6), (16, 12), (1_024, 768), (3, 1), (2, 1), (1, 1)])
    func aQuarterOfThePlacesAndAtLeastTwoAreForTalkers(places: Int, forListeners: Int) {
        let room = room(places)
        let listeners = members(places)
        #expect(listeners.count { $0.join(room) } == forListeners)
        #expect(isFull(members(places + 1)[places].knock(room)))
        let talkers = members(places, .talk, network: 2).prefix(places - forListeners)
        for talker in talkers { #expect(talker.join(room)) }
        #expect(room.relay.status.channels[0].memberCount == places)
    }

    @Test func listenersOfOtherChannelsLeaveTheRelaysPlacesToTalkers() {
        var limits = RelayLimits()
        limits.members = 8
        let other = ChannelKeys.drawn("other", seed: 11)
        let room = RelayHarness([family, other], limits: limits)
        for number in 1...6 { #expect(SimulatedMember(other, .listen, at: .host(number)).join(room)) }
        #expect(isFull(SimulatedMember(family, .listen, at: .host(7)).knock(room)))
        #expect(SimulatedMember(family, .talk, at: .host(8)).join(room))
    }

    @Test func aCrewBehindOneAddressIsNotRefusedWhileThereIsRoom() {
        let room = room(16)
        for member in members(12) + members(20, .talk).suffix(4) { #expect(member.join(room)) }
        #expect(room.relay.status.channels[0].memberCount == 16)
    }

    @Test func aNewcomerDisplacesTheNewestListenerOfTheLargestNetwork() {
        let room = room(8)
        let (crowd, others) = (members(4), members(2, network: 2))
        for member in crowd + others { #expect(member.join(room)) }
        let newcomer = SimulatedMember(family, .listen, at: .host(3))
        #expect(newcomer.join(room))
        #expect(crowd[3].records(room).records.suffix(2) == [.goodbye(.displaced), .goodbye(.full)])
        #expect(crowd[3].renew(room) == .discarded(.unknownSession))
        for member in crowd.dropLast() + others { #expect(member.renew(room) == .handled) }
        // The new network has one member, the largest three: a second one may join, after which both have two.
        #expect(SimulatedMember(family, .listen, at: .host(3, port: 9)).join(room))
        #expect(crowd[2].renew(room) == .discarded(.unknownSession))
        #expect(isFull(SimulatedMember(family, .listen, at: .host(3, port: 10)).knock(room)))
        #expect(isFull(crowd[3].knock(room)))
        #expect(room.relay.status.channels[0].memberCount == 6)
    }

    @Test func fromNetworksWithOneListenerEachNobodyIsDisplaced() {
        let room = room(8)
        for number in 1...6 { #expect(SimulatedMember(family, .listen, at: .host(number)).join(room)) }
        #expect(isFull(SimulatedMember(family, .listen, at: .host(9)).knock(room)))
    }

    @Test func aTalkerIsNeverDisplacedAndDisplacesAListenerOfACrowd() {
        let room = room(8)
        let (talkers, crowd) = (members(4, .talk), members(9).suffix(4))
        for member in talkers + crowd { #expect(member.join(room)) }
        // More than half of the members in the talkers' network are talkers, who cannot be displaced.
        #expect(isFull(members(20, .talk)[19].knock(room)))
        #expect(SimulatedMember(family, .talk, at: .host(2)).join(room))
        #expect(crowd.last?.records(room).records.last == .goodbye(.full))
        for number in 3...9 { _ = SimulatedMember(family, .listen, at: .host(number)).join(room) }
        for talker in talkers { #expect(talker.renew(room) == .handled) }
        #expect(room.relay.status.channels[0].memberCount == 8)
    }

    private func reload(_ room: RelayHarness, places: Int, members: Int = 10_000) {
        var limits = RelayLimits()
        limits.channelMembers = places
        limits.members = members
        room.reload(RelayConfiguration([family], limits: limits))
    }

    @Test func whereLimitsAreLoweredTheNewestListenersGo() {
        let room = room(16)
        let (crowd, talkers) = (members(10), members(4, .talk, network: 2))
        for member in crowd + talkers { #expect(member.join(room)) }
        reload(room, places: 8)
        let channel = room.relay.status.channels[0]
        #expect(channel.memberCount == 8 && channel.listenerCount == 4)
        for member in crowd.prefix(4) + talkers { #expect(member.renew(room) == .handled) }
        for member in crowd.suffix(6) {
            #expect(member.records(room).records.suffix(2) == [.goodbye(.displaced), .goodbye(.full)])
        }
        // A newcomer that displaces a session takes its place.
        #expect(SimulatedMember(family, .listen, at: .host(3)).join(room))
        #expect(crowd[3].renew(room) == .discarded(.unknownSession) && crowd[2].renew(room) == .handled)
        #expect(room.relay.status.channels[0].memberCount == 8)
        for talker in talkers { #expect(talker.renew(room) == .handled) }
    }

    @Test func whereTalkersAloneAreTooManyTheyStay() {
        let room = room(16)
        let (talkers, listeners) = (members(8, .talk, network: 2), members(4))
        for member in talkers + listeners { #expect(member.join(room)) }
        reload(room, places: 4)
        #expect(room.relay.status.channels[0].memberCount == 8)
        for talker in talkers { #expect(talker.renew(room) == .handled) }
        for number in 3...9 { #expect(isFull(SimulatedMember(family, .listen, at: .host(number)).knock(room))) }
        #expect(isFull(SimulatedMember(family, .talk, at: .host(10)).knock(room)))
        for talker in talkers.prefix(5) { talker.say(.leave, room) }
        #expect(SimulatedMember(family, .talk, at: .host(11)).join(room))
        #expect(isFull(SimulatedMember(family, .listen, at: .host(3)).knock(room)))
    }

    @Test func whereTheWholeRelayHasFewerPlacesTheFullestChannelGivesThem() {
        let other = ChannelKeys.drawn("other", seed: 11)
        let room = RelayHarness([family, other])
        let (crowd, talkers) = (members(9), members(2, .talk, network: 2))
        let few = (1...2).map { SimulatedMember(other, .listen, at: .host(3, port: UInt16($0)), seed: 4) }
        for member in crowd + talkers + few { #expect(member.join(room)) }
        var limits = RelayLimits()
        limits.members = 8
        room.reload(RelayConfiguration([family, other], limits: limits))
        #expect(room.relay.status.channels.map(\.memberCount) == [6, 2])
        for member in crowd.prefix(4) + talkers + few { #expect(member.renew(room) == .handled) }
    }

    @Test func anIPv6NetworkIsOf48Bits() {
        let room = room(8)
        func member(_ high: UInt64, _ port: UInt16) -> SimulatedMember {
            SimulatedMember(family, .listen, at: Endpoint(.v6(high: high, low: 1, scope: 0), port: port))
        }
        let site: UInt64 = 0x2001_0DB8_0001_0000
        for number: UInt16 in 1...6 { #expect(member(site + UInt64(number), number).join(room)) }
        #expect(isFull(member(site + 77, 1).knock(room)))
        #expect(member(site + 0x1_0000, 1).join(room))
    }

    /// A member that moves to another network counts there.
    @Test func aListenerThatMovesTakesItsShareWithIt() throws {
        let room = room(8)
        let crowd = members(4)
        for member in crowd + members(2, network: 2) { #expect(member.join(room)) }
        for (number, member) in crowd[1...].enumerated() {
            let there = Endpoint.host(10 + number)
            member.say(.renewal(token: 1), room, from: there)
            guard case .pathChallenge(let challenge) = try member.opened(room.take(there)[0]) else {
                Issue.record("no path challenge was sent")
                return
            }
            member.say(.pathAnswer(challenge), room, from: there)
        }
        #expect(SimulatedMember(family, .listen, at: .host(3)).join(room))
        // The displaced member belongs to the network with two members; the other networks have one each.
        #expect(room.relay.status.channels[0].memberCount == 6)
        for member in crowd.prefix(1) { #expect(member.renew(room) == .handled) }
        #expect(isFull(SimulatedMember(family, .listen, at: .host(4)).knock(room)))
    }
}
