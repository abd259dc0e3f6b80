import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourSession
import Testing

/// A member whose link names several relays, some of which fall silent.
struct ChangeoverTests {
    private static let second = Endpoint(.v4(0xC633_6402), port: 5_004)
    private static let third = Endpoint(.v4(0xC633_6403), port: 5_004)

    private let relays = [
        TinyRelay(Family.talk), TinyRelay(Family.talk, at: second, seed: 2), TinyRelay(Family.talk, at: third, seed: 3),
    ]
    private let member: Member
    private let air: Airwaves

    init() {
        member = Member(
            0, Family.configuration(.talk, endpoints: [Airwaves.relay, Self.second, Self.third]), ssrc: 9)
        air = Airwaves([member], relays[0], others: [relays[1], relays[2]])
        air.run(seconds: 1)
    }

    private func reached(_ endpoint: Endpoint, insteadOf former: Endpoint, because: Refusal.Reason? = nil)
        -> ChannelEvent
    {
        .relayReached(endpoint, insteadOf: former, because: because)
    }

    private var joinTime: Duration? {
        guard case (let at, .relayReached(_, .some, _))? = member.events.last else { return nil }
        return at - .start
    }

    @Test func theFirstRelayOfTheLinkIsJoined() {
        #expect(
            member.eventsOnly == [
                .relayReached(Airwaves.relay, insteadOf: nil, because: nil),
                .joined(.talk, seenAt: member.endpoint),
            ])
        #expect(relays[1].log.isEmpty && relays[2].log.isEmpty)
    }

    /// Nobody talks, and no ICMP message says that the relay has ended.
    @Test(arguments: 0..<20)
    func aSilentRelayIsLeftWithinTwoSeconds(phase: Int) throws {
        air.run(seconds: 3 + Double(phase) * 0.037)
        let end = air.now
        air.silent = [Airwaves.relay]
        air.run(seconds: 2)
        #expect(member.eventsOnly.last == reached(Self.second, insteadOf: Airwaves.relay))
        #expect(try #require(joinTime) - (end - .start) < .milliseconds(1_750))
        #expect(member.isJoined && member.channel.relay == Self.second)
    }

    @Test func twoSilentRelaysAreLeftWithinTwoSeconds() {
        air.silent = [Airwaves.relay, Self.second]
        air.run(seconds: 2)
        #expect(member.eventsOnly.last == reached(Self.third, insteadOf: Airwaves.relay))
        #expect(!member.eventsOnly.contains(.lost))
    }

    @Test func aMemberThatHasChangedOverStaysThere() {
        air.silent = [Airwaves.relay]
        air.run(seconds: 2)
        air.silent = []
        air.run(seconds: 600)
        #expect(member.eventsOnly.last == reached(Self.second, insteadOf: Airwaves.relay))
        #expect(relays[0].joinCount == 1)
    }

    /// One packet of ten is lost each way, while nobody talks.
    @Test func lossMakesNobodyChangeOver() {
        let lossy = NetworkModel(loss: .random(0.1), delay: .milliseconds(30))
        air.change(0, out: lossy, back: lossy)
        air.run(seconds: 600)
        let changes = member.eventsOnly.filter { if case .relayReached(_, .some, _) = $0 { true } else { false } }
        #expect(changes.count <= 1)
        #expect(!member.eventsOnly.contains(.lost))
    }

    @Test func theLossOfAllRelaysIsReportedAndTheFirstToComeBackIsJoined() {
        air.silent = [Airwaves.relay, Self.second, Self.third]
        air.run(seconds: 10)
        #expect(member.eventsOnly.last == .lost)
        air.silent = [Airwaves.relay, Self.second]
        air.run(seconds: 8)
        #expect(
            member.eventsOnly.suffix(3) == [
                .lost, reached(Self.third, insteadOf: Airwaves.relay), .joined(.talk, seenAt: member.endpoint),
            ])
    }

    @Test func aRelayThatStopsIsLeftAtOnceAndTheReasonIsTold() {
        relays[0].say(.goodbye(.stopping))
        air.settleRelay()
        air.run(seconds: 0.5)
        #expect(member.eventsOnly.last == reached(Self.second, insteadOf: Airwaves.relay, because: .stopping))
        #expect(relays[1].sessions.count == 1)
    }

    @Test func aFullRelayIsPassedOver() {
        relays[1].refusal = .full
        air.silent = [Airwaves.relay]
        air.run(seconds: 2)
        #expect(member.eventsOnly.last == reached(Self.third, insteadOf: Airwaves.relay))
        #expect(!member.eventsOnly.contains(.refused(.full)))
    }

    @Test func theRefusalOfAllRelaysIsReportedOnce() {
        let relays = [TinyRelay(Family.talk), TinyRelay(Family.talk, at: Self.second, seed: 2)]
        for relay in relays { relay.refusal = .full }
        let member = Member(
            0, Family.configuration(.talk, endpoints: [Airwaves.relay, Self.second]), ssrc: 9)
        let air = Airwaves([member], relays[0], others: [relays[1]])
        air.run(seconds: 20)
        #expect(member.eventsOnly == [.refused(.full)])
        #expect((3...20).contains(relays[0].joinCount))
    }

    /// LEAVE follows when the cluster has learnt that the stream comes from the new relay.
    @Test func theFormerRelayIsToldASecondLater() throws {
        // The relay is only slow: it has heard all, and answers nothing.
        air.loses = { datagram, _ in datagram[0] == 99 && datagram[2] == 6 && air.now < .start + .seconds(3) }
        func hasLeft() -> Bool { relays[0].records.contains { if case .leave = $0 { true } else { false } } }
        while relays[1].sessions.isEmpty { air.run(seconds: 0.01) }
        air.loses = nil
        air.run(seconds: 0.9)
        #expect(!hasLeft())
        air.run(seconds: 0.2)
        #expect(hasLeft())
    }

    @Test func aMemberOfOneRelayProbesOnlyWhileItExpectsMedia() {
        let relay = TinyRelay(Family.talk)
        let lone = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([lone], relay)
        air.run(seconds: 9)
        #expect(relay.renewalCount == 1)
    }
}
