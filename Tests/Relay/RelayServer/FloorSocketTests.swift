import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourFloor
import TenfourPackets
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TestSupport
import Testing

/// A channel that requires the floor, on real sockets.
@Suite(.onItsOwnThread, .inRealTime)
struct FloorSocketTests {
    private let turns: SocketChannel
    /// The duration of the talk.
    private static let packetCount = 400

    init() throws { turns = try SocketChannel(floor: .init(isRequired: true, longestTalk: .seconds(10))) }

    /// A member with a talk link sends garbage each 400 ms under an SSRC that it has not announced, one that another member
    /// has, and none.
    @Test(arguments: [SSRC(77), SSRC(9), SSRC(10)]) func garbageDoesNotTakeTheFloor(ssrc: SSRC) throws {
        let talker = SocketMember(.talk, of: turns.keys, at: turns.relay.port, ssrc: 9, usesFloor: true)
        let other = SocketMember(.talk, of: turns.keys, at: turns.relay.port, ssrc: 10, usesFloor: true)
        let listener = SocketMember(.listen, of: turns.keys, at: turns.relay.port, ssrc: 5)
        try turns.join([talker, other, listener])
        var attacker = try TestMember(.talk, of: turns.keys, at: turns.relay.port)
        let start = Clocks.now
        var spokenCount = 0
        talker.pressFloor()
        for number in 0..<Self.packetCount {
            while Clocks.now < start + .milliseconds(20 * number) {
                for member in [talker, other, listener] { member.pump() }
                usleep(500)
            }
            if number % 20 == 0 {
                let header = RTPHeader(
                    marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: UInt16(number)),
                    timestamp: RTPTimestamp(rawValue: 0), ssrc: ssrc)
                attacker.speak(
                    [UInt8](capacity: 40) {
                        header.write(into: &$0)
                        $0.append(repeating: 0x5A, count: 28)
                    })
            }
            if talker.maySend {
                talker.speak()
                spokenCount += 1
            }
        }
        for _ in 0..<100 {
            listener.pump()
            usleep(1_000)
        }
        #expect(spokenCount >= Self.packetCount * 97 / 100)
        #expect(Set(listener.packets.filter { $0.ssrc == 9 }.map(\.number)).count >= Self.packetCount * 95 / 100)
        let takers = other.floorEvents.compactMap { if case .taken(let ssrc, _) = $0 { ssrc } else { nil } }
        #expect(Set(takers) == [SSRC(9)])
    }
}
