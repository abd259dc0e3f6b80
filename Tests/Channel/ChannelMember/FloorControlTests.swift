import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourFloor
import TenfourNetworkEmulator
import TenfourPackets
import TestSupport
import Testing

/// Stations that request the floor through a relay.
struct FloorControlTests {
    private static func member(_ number: Int, usesFloor: Bool = true) -> Member {
        var configuration = Family.configuration(.talk)
        configuration.usesFloor = usesFloor
        return Member(number, configuration, ssrc: UInt32(number + 1))
    }

    private static func press(_ index: Int, _ air: Airwaves, _ priority: FloorPriority = .normal) {
        air.members[index].channel.pressFloor(priority, at: air.now)
        air.flush(index)
    }

    private static func release(_ index: Int, _ air: Airwaves) {
        air.members[index].channel.releaseFloor(at: air.now)
        air.flush(index)
    }

    private static func events(_ member: Member) -> [FloorEvent] {
        var events: [FloorEvent] = []
        while let event = member.channel.nextFloorEvent() { events.append(event) }
        return events
    }

    private static func sending(_ air: Airwaves) -> [Int] {
        air.members.indices.filter { air.members[$0].channel.floor?.maySend ?? false }
    }

    @Test func twoStationsTakeTurns() {
        let members = [Self.member(0), Self.member(1), Self.member(2)]
        let air = Airwaves(members, RealRelay(floor: .init(isRequired: true)))
        air.run(seconds: 1)
        #expect(members.allSatisfy { $0.channel.floor?.otherEnd == .arbitrates })
        #expect(members.allSatisfy { $0.channel.floor?.isRequired ?? false })
        Self.press(0, air)
        air.run(seconds: 0.021)
        #expect(Self.sending(air) == [0])
        Self.press(1, air)
        air.run(seconds: 0.1)
        #expect(Self.events(members[1]).last == .denied(.anotherTalks, talker: SSRC(1), retryAfter: .zero))
        #expect(Self.events(members[2]) == [.taken(by: SSRC(1), .normal)])
        Self.press(2, air, .emergency)
        air.run(seconds: 0.1)
        #expect(Self.sending(air) == [2])
        #expect(Self.events(members[0]).contains(.revoked(.preempted, retryAfter: .zero)))
        Self.release(2, air)
        air.run(seconds: 0.1)
        #expect(Self.sending(air) == [])
    }

    @Test func theFloorIsHeldThroughABadNetwork() {
        let members = [Self.member(0), Self.member(1)]
        let network = NetworkModel(loss: .random(0.2), delay: .milliseconds(60))
        let air = Airwaves(members, RealRelay(), network: network)
        air.run(seconds: 3)
        Self.press(0, air)
        air.run(seconds: 1)
        #expect(Self.sending(air) == [0])
        air.run(seconds: 10)
        #expect(Self.sending(air) == [0])
        Self.release(0, air)
        air.run(seconds: 1.2)
        Self.press(1, air)
        air.run(seconds: 1)
        #expect(Self.sending(air) == [1])
    }

    @Test func withoutTheRelayItStopsAndGoesOnWhenTheRelayIsBack() {
        let members = [Self.member(0), Self.member(1)]
        let air = Airwaves(members, RealRelay())
        air.run(seconds: 1)
        Self.press(0, air)
        air.run(seconds: 1)
        air.silent = [Airwaves.relay]
        air.run(seconds: 0.53)
        #expect(Self.sending(air) == [])
        #expect(Self.events(members[0]).last == .interrupted)
        air.run(seconds: 5)
        air.silent = []
        air.replace(relay: RealRelay(now: air.now, seed: 2))
        air.run(seconds: 15)
        #expect(Self.sending(air) == [0])
    }

    @Test func anOlderRelayLeavesTheFloorToThoseWhoListen() {
        let members = [Self.member(0), Self.member(1, usesFloor: false)]
        let relay = TinyRelay(Family.talk)
        let air = Airwaves(members, relay)
        air.run(seconds: 3)
        #expect(members[0].channel.floor?.otherEnd == .unaware)
        #expect(Self.events(members[0]).contains(.unaware))
        Self.press(0, air)
        #expect(Self.sending(air) == [0])
    }
}
