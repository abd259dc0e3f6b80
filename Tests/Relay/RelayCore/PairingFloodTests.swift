import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Twenty honest pairs among a thousand strangers who keep others from pairing. Each pair must succeed, while the initiator
/// asks the relay again and again for at most two minutes.
struct PairingFloodTests {
    private static let strangerCount = 1_000
    private static let pairCount = 20
    private static let tick = Duration.milliseconds(50)

    /// The networks of the strangers: one, thirty, or one for each.
    enum Networks: Int, CaseIterable, CustomStringConvertible {
        case one = 1
        case thirty = 30
        case thousand = 1_000

        var description: String { "\(rawValue) networks" }

        /// Returns the address of a stranger; each host of a site has an IPv6 /64.
        func host(_ number: Int) -> Endpoint {
            guard self != .thousand else { return Endpoint(.v4(0x0B00_0001 + UInt32(number) << 8), port: 9) }
            let site = 0x2001_0DB8_0000_0000 + UInt64(number % rawValue) << 16
            return Endpoint(.v6(high: site + UInt64(number / rawValue), low: 1, scope: 0), port: 9)
        }
    }

    /// One honest pair, and the times at which it got on.
    private final class Pair {
        let start: Instant
        let waiting: WaitingStation
        let meeting: MeetingStation
        var numberTime: Duration?
        var linkTime: Duration?
        /// The time from the link until both stations have joined its channel.
        var joinTime: Duration?
        var isDone: Bool { joinTime != nil }
        private var members: [SimulatedMember] = []
        /// The time from the number until it is typed: people speak.
        private let speakingTime: Duration
        private var typed: (number: RendezvousNumber, at: Instant)?
        /// Whether the station still waited under the number that was typed when the link came.
        var keptNumber = false

        init(_ number: Int, in network: UInt32?) {
            start = .start + Duration.seconds(1 + 2 * number)
            let hosts = [2 * number, 2 * number + 1].map { host in
                network.map { Endpoint(.v4($0 + UInt32(host) + 150), port: 5004) } ?? .host(host)
            }
            waiting = WaitingStation(at: hosts[0], from: start, seed: UInt64(number) + 1)
            meeting = MeetingStation(at: hosts[1], seed: UInt64(number) + 100)
            var randomness = SeededRandom(seed: UInt64(number) + 300)
            speakingTime = .milliseconds(Int.random(in: 10_000...60_000, using: &randomness))
        }

        func step(_ room: RelayHarness) throws {
            guard room.now >= start else { return }
            try waiting.step(room)
            meeting.step(room)
            if typed == nil, let number = waiting.number {
                numberTime = room.now - start
                let time = room.now + speakingTime
                typed = (number, time)
                meeting.type(number, waiting.words, at: time)
            }
            if linkTime == nil, let typed, let link = meeting.link {
                linkTime = room.now - typed.at
                keptNumber = waiting.number == typed.number
                let keys = try ChannelKeys(link)
                members = [waiting, meeting].map { SimulatedMember(keys, .talk, at: $0.endpoint) }
                nextJoin = room.now
            }
            guard joinTime == nil, !members.isEmpty, room.now >= nextJoin else { return }
            nextJoin = room.now + .seconds(4)
            for member in members where member.number == nil { member.join(room) }
            guard let typed, let linkTime, members.allSatisfy({ $0.number != nil }) else { return }
            joinTime = room.now - typed.at - linkTime
        }

        private var nextJoin = Instant.start
    }

    /// Runs the pairs among the strangers. All strangers begin together, and the first pair in the same second. Who acts
    /// first is left to chance.
    private func flood(
        _ title: String, _ strangers: [PairingStranger], within longest: Duration = .seconds(120),
        homeNetwork: UInt32? = nil, in room: RelayHarness = RelayHarness(.pairing())
    ) throws {
        var randomness = SeededRandom(seed: 77)
        let pairs = (0..<Self.pairCount).map { Pair($0, in: homeNetwork) }
        while room.now < .start + Duration.seconds(225), pairs.contains(where: { !$0.isDone }) {
            // Each stranger acts in one of five ticks, a part of them before the honest stations.
            let acting = strangers.filter { _ in Int.random(in: 0..<5, using: &randomness) == 0 }
                .shuffled(using: &randomness)
            let before = Int.random(in: 0...acting.count, using: &randomness)
            for stranger in acting[..<before] { stranger.act(room) }
            for pair in pairs { try pair.step(room) }
            for stranger in acting[before...] { stranger.act(room) }
            room.run(Self.tick)
            room.events = []
            #expect(room.bytesOut <= room.bytesIn)
        }
        let numberTimes = pairs.compactMap(\.numberTime).sorted()
        let linkTimes = pairs.compactMap(\.linkTime).sorted()
        let joinTimes = pairs.compactMap(\.joinTime).sorted()
        #expect(linkTimes.count == Self.pairCount && joinTimes.count == Self.pairCount, "\(title)")
        for pair in pairs {
            #expect(pair.waiting.link == pair.meeting.link && pair.meeting.failures.isEmpty, "\(title)")
            #expect(pair.keptNumber, "\(title)")
            let time = (pair.numberTime ?? .zero) + (pair.linkTime ?? .zero) + (pair.joinTime ?? .zero)
            #expect(time <= longest, "\(title)")
        }
        checkStrangers(strangers, room)
        print(
            "\(title): \(joinTimes.count) of \(Self.pairCount) pairs; number after",
            "\(numberTimes.last ?? .zero), link after \(linkTimes.first ?? .zero)…\(linkTimes.last ?? .zero),",
            "joined after \(joinTimes.last ?? .zero)")
    }

    /// Checks that the strangers have taken all that they can.
    private func checkStrangers(_ strangers: [PairingStranger], _ room: RelayHarness) {
        let holders = strangers.compactMap { $0 as? PlaceHolder }
        #expect(holders.isEmpty || holders.contains { $0.fullCount > 0 }, "all places were taken")
        let initiators = strangers.compactMap { $0 as? StallingInitiator }
        #expect(initiators.isEmpty || initiators.contains { $0.metCount > 0 })
        #expect(initiators.isEmpty || room.relay.status.discards[.rendezvousFull] > 0, "all rendezvous were taken")
    }

    private func stallingPairs(_ networks: Networks, count: Int = strangerCount) -> [PairingStranger] {
        (0..<count / 2).flatMap { number -> [PairingStranger] in
            let responder = StallingResponder(at: networks.host(2 * number), seed: UInt64(number) + 1_000)
            let initiator = StallingInitiator(
                responder, at: networks.host(2 * number + 1), seed: UInt64(number) + 2_000)
            return [responder, initiator]
        }
    }

    @Test func pairsSucceedWithoutStrangers() throws { try flood("nobody else", [], within: .seconds(2)) }

    @Test(arguments: [Networks.one, .thousand]) func strangersHoldPlaces(networks: Networks) throws {
        let strangers = (0..<Self.strangerCount).map { PlaceHolder(at: networks.host($0), seed: UInt64($0)) }
        try flood("places held from \(networks)", strangers, within: .seconds(3))
    }

    @Test(arguments: [Networks.one, .thousand]) func strangersSweepNumbers(networks: Networks) throws {
        let strangers = (0..<Self.strangerCount).map { NumberSweeper(at: networks.host($0), seed: UInt64($0)) }
        try flood("numbers swept from \(networks)", strangers, within: .seconds(3))
    }

    @Test(arguments: Networks.allCases) func strangersPairWithEachOtherAndStall(networks: Networks) throws {
        try flood("stalling pairs from \(networks)", stallingPairs(networks))
    }

    @Test(arguments: [Networks.one, .thousand]) func strangersForgeCookies(networks: Networks) throws {
        let strangers = (0..<Self.strangerCount).map { CookieForger(at: networks.host($0), seed: UInt64($0)) }
        try flood("cookies forged from \(networks)", strangers, within: .seconds(3))
    }

    /// The strangers have passes, fill `pair-members`, and join again when they are displaced.
    @Test(arguments: [Networks.one, .thousand]) func strangersJoinPairedChannels(networks: Networks) throws {
        let room = RelayHarness(.pairing(members: 1_200))
        let strangers = (0..<Self.strangerCount).map { number in
            PassHolder(at: networks.host(number), seed: UInt64(number), group: number / 2)
        }
        try flood("paired channels joined from \(networks)", strangers, within: .seconds(20), in: room)
        #expect(room.relay.status.paired?.memberCount == 1_200)
    }

    @Test(arguments: [Networks.one, .thousand]) func strangersDoAllOfIt(networks: Networks) throws {
        try flood("all at once from \(networks)", mixture { networks.host($0) })
    }

    /// A hundred of the strangers are in the network of the honest stations.
    @Test func strangersInTheSameNetwork() throws {
        let home: UInt32 = 0x0A00_6400
        let strangers = mixture { number in
            (number / 10 + number) % 10 == 0
                ? Endpoint(.v4(home + UInt32(number / 10) + 1), port: 9) : Networks.thousand.host(number)
        }
        try flood("all at once, a hundred of them nearby", strangers, homeNetwork: home)
    }

    /// Five hundred strangers that hold places, and a hundred of each other kind. Together they take all places and all
    /// rendezvous.
    private func mixture(_ host: (Int) -> Endpoint) -> [PairingStranger] {
        var strangers: [PairingStranger] = []
        for number in stride(from: 0, to: Self.strangerCount, by: 10) {
            let seed = UInt64(number)
            let responder = StallingResponder(at: host(number), seed: seed)
            strangers.append(responder)
            strangers.append(StallingInitiator(responder, at: host(number + 1), seed: seed + 1))
            strangers.append(NumberSweeper(at: host(number + 2), seed: seed + 2))
            strangers.append(CookieForger(at: host(number + 3), seed: seed + 3))
            strangers.append(PassHolder(at: host(number + 4), seed: seed + 4, group: number / 20))
            strangers += (5..<10).map { PlaceHolder(at: host(number + $0), seed: seed + UInt64($0)) }
        }
        return strangers
    }
}
