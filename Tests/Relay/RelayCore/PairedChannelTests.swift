import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// The channels of stations that have paired through the relay.
struct PairedChannelTests {
    private let family = ChannelKeys.drawn("family")
    private let relayKey = drawnKey(seed: 3)

    private static func drawnKey(seed: UInt64) -> RelayKey {
        var randomness = SeededRandom(seed: seed)
        return RelayKey(using: &randomness)
    }

    private func configuration(
        members: Int = 2_048, bitsPerSecond: Int = 400_000, key: RelayKey? = nil
    ) -> RelayConfiguration {
        var configuration = RelayConfiguration([family])
        configuration.key = key ?? relayKey
        var pairing = PairingConfiguration()
        (pairing.members, pairing.bitsPerSecond) = (members, bitsPerSecond)
        configuration.pairing = pairing
        return configuration
    }

    /// The keys of two stations that have a pass of the relay.
    private func pair(_ seed: UInt64, of key: RelayKey? = nil) -> ChannelKeys {
        var randomness = SeededRandom(seed: seed)
        let pass = PassMaker(key ?? relayKey).drawPass(using: &randomness)
        return ChannelKeys(name: "pair", secret: Secret(.talk, using: &randomness), pass: pass)
    }

    private func member(_ keys: ChannelKeys, _ host: Int, _ role: Role = .talk, network: Int? = nil) -> SimulatedMember
    {
        let endpoint = network.map { Endpoint(.v4(0x0A00_0000 + UInt32($0) << 8 + UInt32(host)), port: 40_000) }
        return SimulatedMember(keys, role, at: endpoint ?? .host(host))
    }

    private func refusal(_ answer: JoinAttempt.Answer) -> Refusal.Reason? {
        if case .refusal(let reason) = answer { reason } else { nil }
    }

    @Test func twoStationsWithAPassHearEachOther() {
        let room = RelayHarness(configuration())
        let keys = pair(1)
        let (one, other) = (member(keys, 1), member(keys, 2))
        #expect(one.join(room) && other.join(room))
        #expect(one.announce(room) == .forward(.announced, byteCount: 56, channel: 1, talker: 0))
        #expect(one.talk(room) == .forward(.media, byteCount: 100, channel: 1, talker: 0))
        #expect(other.announce(room) == .forward(.announced, byteCount: 56, channel: 1, talker: 1))
        let status = room.relay.status
        #expect(status.channels.map(\.name) == ["family"] && status.channels[0].memberCount == 0)
        #expect(status.paired?.channelCount == 1 && status.paired?.memberCount == 2)
        _ = room.takeEvents()
        one.say(.leave, room)
        #expect(room.relay.status.paired?.channelCount == 1)
        other.say(.leave, room)
        #expect(room.takeEvents().suffix(2) == [.left(member: 1, channel: 1), .ended(channel: 1)])
        let after = room.relay.status.paired
        #expect(after?.channelCount == 0 && after?.memberCount == 0)
        // The counters do not fall when a channel ends.
        #expect(after?.joinedCount == 2 && after?.forwardedCount == 3 && after?.forwardedByteCount == 212)
    }

    @Test func aPassIsGoodAfterARestartAndAtNoRelayWithAnotherKey() {
        let keys = pair(1)
        let restarted = RelayHarness(configuration(), seed: 77)
        #expect(member(keys, 1).join(restarted) && member(keys, 2, .listen).join(restarted))
        let other = RelayHarness(configuration(key: Self.drawnKey(seed: 4)))
        #expect(refusal(member(keys, 1).knock(other)) == .unproved)
        var without = configuration()
        without.pairing = nil
        #expect(refusal(member(keys, 1).knock(RelayHarness(without))) == .unproved)
        #expect(other.relay.status.paired?.channelCount == 0 && RelayHarness(without).relay.status.paired == nil)
    }

    /// Who tries channel ids cannot tell one that the relay has from any other.
    @Test func anUnknownIDIsRefusedLikeAWrongProof() {
        let room = RelayHarness(configuration())
        func answers(_ keys: ChannelKeys) -> [[UInt8]] {
            let member = member(keys, 7)
            member.helloAndCookie(room)
            // The last bytes of a JOIN are its proof.
            member.joinDatagram[127] ^= 1
            return member.refusals(room)
        }
        let (known, unknown, stranger) = (
            answers(family), answers(pair(1)), answers(pair(1, of: Self.drawnKey(seed: 4)))
        )
        #expect(known.count == 1 && unknown.count == 1 && stranger.count == 1)
        #expect(known[0].count == unknown[0].count && known[0].count == stranger[0].count)
        #expect(known[0].prefix(4) == unknown[0].prefix(4))
        #expect(room.relay.status.discards[.unproved] == 3 && room.relay.status.paired?.channelCount == 0)
    }

    @Test func aChannelHasPlacesForTwoStationsAndTheirFormerSessions() {
        let room = RelayHarness(configuration())
        let keys = pair(1)
        let members = (1...5).map { member(keys, $0) }
        for member in members.prefix(4) { #expect(member.join(room)) }
        #expect(refusal(members[4].knock(room)) == .full)
        // Two voices at the same time.
        for member in members.prefix(3) { member.announce(room) }
        #expect(members[0].talk(room) == .forward(.media, byteCount: 100, channel: 1, talker: 0))
        #expect(members[1].talk(room) == .forward(.media, byteCount: 100, channel: 1, talker: 1))
        #expect(members[2].talk(room) == .discarded(.tooManyVoices))
        // The sessions of stations that are gone end with their leases.
        room.run(.seconds(31))
        #expect(room.relay.status.paired?.channelCount == 0)
        #expect(members[4].join(room))
    }

    @Test func theBitsOfAChannelAreLimited() {
        let room = RelayHarness(configuration(bitsPerSecond: 8_000))
        let talker = member(pair(1), 1)
        #expect(talker.join(room))
        talker.announce(room)
        var receptions: [Relay.Reception] = []
        for _ in 0..<40 { receptions.append(talker.talk(room)) }
        // A burst of two seconds is 2000 bytes.
        #expect(receptions.filter { $0 == .discarded(.tooManyChannelBits) }.count > 15)
        room.reload(configuration())
        #expect(talker.talk(room) == .forward(.media, byteCount: 100, channel: 1, talker: 0))
    }

    /// A packet for the next channel at an index must not reach those of the channel before.
    @Test func anIndexIsReusedOnlyWhenTheEndOfItsChannelIsKnown() {
        let room = RelayHarness(configuration())
        let (one, two, three) = (member(pair(1), 1), member(pair(2), 2), member(pair(3), 3))
        let four = member(pair(4), 4)
        #expect(one.join(room))
        two.helloAndCookie(room)
        room.isBlocked = true
        one.say(.leave, room)
        room.receive(two.joinDatagram, from: two.endpoint)
        room.isBlocked = false
        _ = room.takeEvents()
        room.flush()
        #expect(room.takeEvents() == [.left(member: 0, channel: 1), .ended(channel: 1)])
        #expect(room.relay.status.paired?.channelCount == 1)
        // Sending threads may still have packets of the former channel in their queues.
        room.run(.milliseconds(999))
        #expect(three.join(room))
        #expect(room.takeEvents().contains(.joined(member: three.number!, channel: 3, three.endpoint)))
        room.run(.milliseconds(1))
        #expect(four.join(room))
        #expect(room.takeEvents().contains(.joined(member: four.number!, channel: 1, four.endpoint)))
    }

    @Test func whoIsRefusedOrNeverCompletesTheJoinLeavesNoChannel() {
        let room = RelayHarness(configuration(members: 2))
        #expect(refusal(member(pair(1), 1).knock(room, relay: RelayID(host: "other", port: 5_004))) == .refused)
        #expect(room.relay.status.paired?.channelCount == 0)
        _ = member(pair(2), 2).knock(room)
        #expect(room.relay.status.paired?.channelCount == 1)
        room.run(.seconds(4))
        #expect(room.relay.status.paired?.channelCount == 0 && room.takeEvents().isEmpty)
        room.stop()
        #expect(refusal(member(pair(3), 3).knock(room)) == .stopping)
        #expect(room.relay.status.paired?.channelCount == 0)
    }

    @Test func aReloadKeepsTheMembersWhileThePassesAreTheSame() {
        let room = RelayHarness(configuration())
        let (one, other) = (member(pair(1), 1), member(pair(2), 2))
        #expect(one.join(room) && other.join(room))
        room.inbox = [:]
        _ = room.takeEvents()
        var more = configuration(members: 100)
        more.channels.append(contentsOf: RelayConfiguration([.drawn("friends", seed: 9)]).channels)
        room.reload(more)
        #expect(room.inbox.isEmpty && room.takeEvents().isEmpty)
        #expect(room.relay.status.channels.map(\.name) == ["family", "friends"])
        #expect(one.renew(room) == .handled && other.renew(room) == .handled)
        room.inbox = [:]
        var off = configuration()
        off.pairing = nil
        for (host, ending) in [(5, configuration(key: Self.drawnKey(seed: 4))), (6, off)] {
            room.reload(configuration())
            let member = member(pair(5), host)
            #expect(member.join(room))
            _ = member.records(room)
            room.reload(ending)
            #expect(member.records(room).records == [.goodbye(.refused)])
            #expect(refusal(member.knock(room)) == .unproved)
        }
        #expect(room.relay.status.paired == nil)
    }

    @Test func aLoweredLimitLetsTheNewestOfTheLargestHostLeave() {
        let room = RelayHarness(configuration())
        let crowd = (1...3).map { SimulatedMember(pair(UInt64($0)), .talk, at: .host(1, port: UInt16($0))) }
        let single = member(pair(9), 2)
        for member in crowd + [single] { #expect(member.join(room)) }
        room.inbox = [:]
        room.reload(configuration(members: 2))
        for member in crowd.dropFirst() { #expect(member.records(room).records.first == .goodbye(.displaced)) }
        #expect(crowd[0].renew(room) == .handled && single.renew(room) == .handled)
        #expect(room.relay.status.paired?.memberCount == 2 && room.relay.status.paired?.channelCount == 2)
    }

    @Test func ifAllPlacesAreTakenHostsAndThenNetworksShareThem() {
        let room = RelayHarness(configuration(members: 4))
        // One host has two places, two others of the same network one each.
        let first = member(pair(1), 1, network: 1)
        let second = SimulatedMember(pair(2), .talk, at: Endpoint(first.endpoint.address, port: 9))
        let (third, fourth) = (member(pair(3), 2, network: 1), member(pair(4), 3, network: 1))
        for member in [first, second, third, fourth] { #expect(member.join(room)) }
        room.inbox = [:]
        // Even a host of this network gets the newest place of the host with two.
        let neighbour = member(pair(5), 4, network: 1)
        #expect(neighbour.join(room))
        #expect(second.records(room).records.suffix(2) == [.goodbye(.displaced), .goodbye(.full)])
        // Now each host has one. Another of the same network gets none, but one of another network does.
        #expect(refusal(member(pair(6), 5, network: 1).knock(room)) == .full)
        let distant = member(pair(7), 1, network: 2)
        #expect(distant.join(room))
        #expect(neighbour.records(room).records.contains(.goodbye(.displaced)))
        // 3 : 1 becomes 2 : 2 only if the larger one has more than twice as many.
        #expect(member(pair(8), 2, network: 2).join(room))
        #expect(refusal(member(pair(9), 3, network: 2).knock(room)) == .full)
        #expect(room.relay.status.paired?.memberCount == 4 && room.relay.status.paired?.channelCount == 4)
        #expect(first.renew(room) == .handled)
    }

    /// A member keeps its place, and counts at its new network, when it moves.
    @Test func aMemberThatMovesCountsWhereItIs() {
        let room = RelayHarness(configuration(members: 2))
        let (one, two) = (member(pair(1), 1), member(pair(2), 2))
        #expect(one.join(room) && two.join(room))
        let new = Endpoint.host(2, port: 7)
        one.say(.renewal(token: 1, receipt: one.receipt), room, from: new)
        for datagram in room.take(new) {
            if case .pathChallenge(let number)? = try? one.opened(datagram) {
                one.say(.pathAnswer(number), room, from: new)
            }
        }
        #expect(room.takeEvents().contains(.moved(member: 0, channel: 1, new)))
        // Host 2 has both places now, so a third host gets one of them.
        #expect(member(pair(3), 3).join(room))
    }

    @Test func joinsWithPassesDoNotUseUpThoseOfOtherChannels() {
        let room = RelayHarness(configuration())
        // Ten JOINs of one host at once, then one in two seconds.
        for number in 1...10 {
            #expect(SimulatedMember(pair(UInt64(number)), .talk, at: .host(1, port: UInt16(number))).join(room))
        }
        let late = SimulatedMember(pair(11), .talk, at: .host(1, port: 11))
        #expect(refusal(late.knock(room)) == .limited)
        #expect(SimulatedMember(family, .talk, at: .host(1)).join(room))
        room.run(.milliseconds(1_900))
        #expect(refusal(late.knock(room)) == .limited)
        room.run(.milliseconds(100))
        #expect(late.join(room))
    }

    /// A site has 65 536 hosts of IPv6. They use up the JOINs of all, but not those of other networks, nor those of
    /// configured channels.
    @Test func oneNetworkDoesNotUseUpTheJOINsOfOthers() {
        let room = RelayHarness(configuration())
        let keys = pair(7)
        var host: UInt64 = 0
        func welcomedCount(of attemptCount: Int) -> Int {
            var count = 0
            for _ in 0..<attemptCount {
                host += 1
                let address = IPAddress.v6(high: 0x2001_0DB8_0001_0000 + host, low: 1, scope: 0)
                let answer = SimulatedMember(keys, .talk, at: Endpoint(address, port: 9)).knock(room)
                if case .welcome = answer { count += 1 }
            }
            return count
        }
        // 10 of the network and 2000 of all at once.
        #expect(welcomedCount(of: 2_050) == 2_010)
        #expect(member(keys, 1).join(room) && member(family, 2).join(room))
        // Then one of the network and 1000 of all in a second.
        room.run(.seconds(1))
        #expect(welcomedCount(of: 1_050) == 1_001)
        // Each network has ten at once without the limit of all.
        let neighbours = (1...11).map { refusal(member(keys, $0, network: 5).knock(room)) }
        #expect(neighbours.prefix(10).allSatisfy { $0 != .limited } && neighbours[10] == .limited)
    }

    /// A JOIN with a right proof above the limit takes as long as one with a wrong proof, so it counts like one.
    @Test func joinsAboveTheLimitAreNotEvenChecked() {
        let room = RelayHarness(configuration())
        let answers = (1...40).map { number in
            SimulatedMember(pair(UInt64(number)), .talk, at: .host(1, port: UInt16(number))).knock(room)
        }
        #expect(answers.filter { refusal($0) == .limited }.count == 20)
        #expect(room.relay.status.discards[.tooManyJoins] == 20)
        #expect(room.relay.status.discards[.tooManyFailures] == 10)
        // Others do not wait for it.
        #expect(member(pair(50), 2).join(room))
    }

    @Test func aChannelHasFourTalkersWhateverTheLimitOfOtherChannels() {
        var configuration = configuration()
        configuration.limits.channelTalkers = 1
        let room = RelayHarness(configuration)
        let keys = pair(1)
        for number in 1...4 {
            let talker = member(keys, number)
            #expect(talker.join(room))
            #expect(
                talker.announce(room)
                    == .forward(.announced, byteCount: 56, channel: 1, talker: talker.number!))
        }
    }

    @Test func strangersWithPassesLeaveTheConfiguredChannelsTheirPlaces() {
        // The limit for channels of pairs is 2048 here, but half of the places are left to the others.
        var configuration = configuration()
        configuration.limits.members = 8
        #expect(configuration.pairedMemberLimit == 4)
        let room = RelayHarness(configuration)
        for number in 1...20 { _ = member(pair(UInt64(number)), number).join(room) }
        #expect(room.relay.status.paired?.memberCount == 4)
        for number in 50...53 { #expect(member(family, number).join(room)) }
        // A lowered limit of all lowers that of the pairs.
        configuration.limits.members = 6
        room.reload(configuration)
        #expect(room.relay.status.paired?.memberCount == 3)
    }

    @Test func membersAreCountedInAnyOrderOfJoiningAndLeaving() {
        var randomness = SeededRandom(seed: 8)
        let room = RelayHarness(configuration(members: 12))
        var members: [SimulatedMember] = []
        for number in 0..<300 {
            room.run(.seconds(1))
            members.removeAll { $0.renew(room) != .handled }
            #expect(room.relay.status.paired?.memberCount == members.count)
            if number % 3 == 2, let leaver = members.indices.randomElement(using: &randomness) {
                members.remove(at: leaver).say(.leave, room)
            }
            let newcomer = member(
                pair(UInt64(number) % 9), .random(in: 1...3, using: &randomness),
                network: .random(in: 1...5, using: &randomness))
            newcomer.endpoint = Endpoint(newcomer.endpoint.address, port: UInt16(1_000 + number))
            if newcomer.join(room) { members.append(newcomer) }
        }
        for member in members { member.say(.leave, room) }
        #expect(room.relay.status.paired?.memberCount == 0 && room.relay.status.paired?.channelCount == 0)
    }
}
