import Foundation
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Members with the production relay.
struct ThroughARelayTests {
    private let relay = RealRelay()

    @Test func twoTalkersAndAListenerHearEachOther() {
        let left = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let right = Member(1, Family.configuration(.talk, suite: .aesGCM), ssrc: 5, speech: Speech())
        let listener = Member(2, Family.configuration(.listen), ssrc: 6)
        let air = Airwaves([left, right, listener], relay)
        air.run(seconds: 30)
        for (member, ssrc) in [(left, 5), (right, 9), (listener, 5), (listener, 9)] as [(Member, UInt32)] {
            let numbers = member.heard(from: ssrc).map(\.number)
            let isWhole = numbers == Array(numbers[0]...1_498)
            #expect(isWhole && numbers[0] < 10)
        }
        #expect([left, right, listener].allSatisfy { $0.events.count == 1 && $0.discards[.unopened] == 0 })
    }

    /// All members receive WELCOME before the first of them sends a record; the channel has room for a third of them.
    @Test func aWelcomedMemberHasAPlace() {
        var limits = RelayLimits()
        limits.channelMembers = 13
        let relay = RealRelay(limits: limits)
        let members = (0..<30).map { Member($0, Family.configuration(.listen), ssrc: UInt32($0 + 1)) }
        let air = Airwaves(members, relay)
        air.run(seconds: 0.3)
        let inside = members.filter { $0.isJoined }
        #expect(inside.count == 10 && relay.status.channels[0].memberCount == 10)
        #expect(inside.allSatisfy { $0.eventsOnly == [.joined(.listen, seenAt: $0.endpoint)] })
        #expect(members.count { $0.eventsOnly == [.refused(.full)] } == 20)
        // Some members were welcomed and then turned away after their first record.
        #expect(relay.status.discards[.full] > 0)
        air.run(seconds: 60)
        #expect(members.count { $0.eventsOnly == [.refused(.full)] } == 20)
        for member in inside { member.leave(at: air.now) }
        for index in members.indices { air.flush(index) }
        air.run(seconds: 10)
        let others = members.filter { member in !inside.contains { $0 === member } }
        #expect(others.count(where: \.isJoined) == 10)
        #expect(members.allSatisfy { member in member.eventsOnly.count { $0 == .refused(.full) } <= 1 })
    }

    @Test func aTalkerWhoseFirstRecordIsLostIsHeardWithTheSecond() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 6)
        let air = Airwaves([talker, listener], relay)
        var lost: Instant?
        air.loses = { [unowned air] datagram, member in
            guard member == 0, lost == nil, datagram[0] == 99, datagram[2] == 6 else { return false }
            lost = air.now
            return true
        }
        air.run(seconds: 3)
        #expect(lost.map { listener.heard[0].at - $0 < .milliseconds(300) } ?? false)
    }

    @Test func aLateMemberLearnsWhoTalks() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, firstSequenceNumber: 65_300, speech: Speech())
        let air = Airwaves([talker], relay)
        air.run(seconds: 10.5)
        let late = Member(1, Family.configuration(.listen), ssrc: 5, at: air.now)
        let joined = air.now
        air.add(late)
        air.run(seconds: 1)
        // The relay sent the stored announcement at the join; the talker's next one would have come later.
        #expect(late.heard.first.map { $0.at - joined < .milliseconds(100) } ?? false)
        #expect(late.heard.count > 45)
    }

    /// With TENFOUR_LONG the test also runs with a tenth of packets lost on every link; then the limit is three
    /// seconds.
    @Test(arguments: ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? [0] : [0, 0.1])
    func aRelayThatIsKilledAndStartedAgainHasItsListenersBackWithinTwoSeconds(loss: Double) {
        let listenerCount = 500
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listeners = (1...listenerCount).map {
            Member($0, Family.configuration(.listen), ssrc: UInt32(1_000 + $0))
        }
        let network = NetworkModel(loss: loss > 0 ? .random(loss) : .none, delay: .milliseconds(20))
        let air = Airwaves([talker] + listeners, relay, network: network)
        // Until all listeners hear: after a lost announcement, the next one comes one second later.
        air.run(seconds: loss > 0 ? 2.5 : 0.8)
        let killed = air.now
        let again = RealRelay(now: killed, seed: 2)
        air.replace(relay: again)
        // Each lost answer on a bad line costs a quarter of a second.
        air.run(seconds: loss > 0 ? 3 : 2)
        let hellos = again.hellos
        let backCount = listeners.count { listener in
            listener.heard.contains { $0.at > killed + .milliseconds(50) }
        }
        #expect(backCount >= listenerCount * 99 / 100, "\(backCount)")
        // The listeners do not all rejoin at the same moment.
        let slots = Dictionary(grouping: hellos) { ($0 - killed) / Duration.milliseconds(20) }
        #expect(slots.values.allSatisfy { $0.count < listenerCount / 5 })
    }

    @Test func aRelayThatStopsSaysSoAndItsMembersComeBack() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 2)
        relay.stop(at: air.now)
        air.settleRelay()
        air.run(seconds: 0.1)
        #expect(talker.eventsOnly.last == .closed(.stopping) && listener.eventsOnly.last == .closed(.stopping))
        air.replace(relay: RealRelay(now: air.now, seed: 2))
        let count = listener.heard.count
        air.run(seconds: 2.5)
        #expect(listener.heard.count > count + 40)
        #expect(talker.isJoined && listener.isJoined)
    }

    /// One of fifty listeners loses a tenth of its packets in both directions, at random or in bursts. The others
    /// receive no extra packets because of it.
    @Test(arguments: [(Loss.random(0.1), 0.01), (.bursts(share: 0.1, meanLength: 3), 0.05)])
    func lossOnOneLinkIsRecoveredOnThatLink(loss: Loss, limit: Double) {
        var lossProtection = LossProtectionConfiguration()
        lossProtection.hasInBandFEC = false
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(), lossProtection: lossProtection)
        let listeners = (1...50).map {
            Member(
                $0, Family.configuration(.listen), ssrc: UInt32(1_000 + $0), lossProtection: lossProtection,
                endpoint: Endpoint(.v4(0x0A00_0001 + UInt32($0) << 8), port: 40_000 + UInt16($0)))
        }
        let network = NetworkModel(delay: .milliseconds(20))
        let air = Airwaves([talker] + listeners, relay, network: network)
        air.run(seconds: 1)
        let lossy = NetworkModel(loss: loss, delay: .milliseconds(20))
        air.change(7, out: lossy, back: lossy)
        var sentCounts = [Int](repeating: 0, count: 51)
        air.watch = { datagram, member in if (128...191).contains(datagram[0]) { sentCounts[member] += 1 } }
        let start = air.now
        air.run(seconds: 20)
        let numbers = Set(listeners[6].heard.filter { $0.at > start + .seconds(1) }.map(\.number))
        let all = Set(listeners[0].heard.filter { $0.at > start + .seconds(1) }.map(\.number))
        let missing = all.subtracting(numbers).count
        let retransmitted = sentCounts[7] - sentCounts[1]
        #expect(Double(missing) < limit * Double(all.count), "\(missing) of \(all.count)")
        #expect(retransmitted > all.count / 20 && retransmitted < all.count / 5, "\(retransmitted)")
        for index in 1...50 where index != 7 { #expect(sentCounts[index] == 1_000, "\(index)") }
        #expect(talker.rtpSession.lossProtection.isNone)
    }

    /// A listener on a bad link hears as much as on a direct link of the same quality with NACKs: its E-model score
    /// is at most 0.15 lower.
    @Test(arguments: [Loss.random(0.1), .bursts(share: 0.1, meanLength: 3)])
    func aListenerOnABadLinkHearsAsMuchAsWithoutARelay(loss: Loss) {
        let (seconds, seeds) = (60.0, 1...20 as ClosedRange<UInt64>)
        let bad = NetworkModel(loss: loss, delay: .milliseconds(20))
        var lossProtection = LossProtectionConfiguration()
        lossProtection.mode = .nack
        // Counts the packets that arrive at most 100 ms after the fastest possible time.
        func share(_ heard: [HeardPacket], delay: Duration) -> Double {
            func sentAt(_ number: Int) -> Instant { .start + .milliseconds(20 * (number + 1)) }
            let sent = 50..<Int(seconds * 50) - 50
            let inTime = heard.filter { $0.at - sentAt($0.number) <= delay + .milliseconds(100) }.map(\.number)
            return Double(Set(inTime).intersection(sent).count) / Double(sent.count)
        }
        var shares: (through: [Double], direct: [Double]) = ([], [])
        for seed in seeds {
            let members = (0..<3).map { number in
                Member(
                    number, Family.configuration(number == 0 ? .talk : .listen), ssrc: UInt32(9 + number),
                    speech: number == 0 ? Speech() : nil, lossProtection: lossProtection,
                    endpoint: Endpoint(.v4(0x0A00_0001 + UInt32(number) << 8), port: 40_000 + UInt16(number)))
            }
            let air = Airwaves(members, RealRelay(), network: NetworkModel(delay: .milliseconds(20)), seed: seed)
            air.run(seconds: 0.5)
            air.change(1, out: bad, back: bad, seed: 100 * seed)
            air.run(seconds: seconds - 0.5)
            shares.through.append(share(members[1].heard, delay: .milliseconds(40)))
            #expect(share(members[2].heard, delay: .milliseconds(40)) == 1)

            let stations = (0..<2).map { index in
                RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1 - index)], lossProtection: lossProtection)
            }
            let link = SimulatedLink(
                left: RTPSession(identity: Identity(ssrc: SSRC(9), seed: 9), configuration: stations[0], at: .start),
                right: RTPSession(identity: Identity(ssrc: SSRC(1), seed: 1), configuration: stations[1], at: .start),
                network: bad, seed: seed)
            link.left.speech = Speech()
            link.run(until: .start + .nanoseconds(Int64(seconds * 1e9)))
            shares.direct.append(share(link.right.heard, delay: .milliseconds(20)))
        }
        let scores = [shares.through, shares.direct].map { shares in
            EModel(lossShare: 1 - shares.reduce(0, +) / Double(shares.count)).score
        }
        #expect(scores[0] >= scores[1] - 0.15, "\(scores), \(shares)")
    }

    @Test func aMemberWhoseAddressChangesIsStillHeardAndHears() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.talk), ssrc: 5, speech: Speech())
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 2)
        // The NAT router has given the member another port.
        let moved = air.now
        air.move(0, to: 900)
        air.run(seconds: 2)
        let longest = zip(listener.heard, listener.heard.dropFirst()).map { $1.at - $0.at }.max()
        #expect(longest.map { $0 < .milliseconds(300) } ?? false)
        #expect(talker.heard.contains { $0.at > moved + .milliseconds(500) })
        #expect(talker.events.count <= 2)
    }
}
