import Engine
import Keys
import RTP
import Relaying
import Sound
import Testing

/// Who is let in, and who is not.
struct JoiningTests {
    private let family = ChannelKeys.drawn("family")
    private let room: RelayRoom

    init() { room = RelayRoom([family, .drawn("other", seed: 8)]) }

    @Test func whatATalkerSendsGoesToTheChannelWithoutItsTrailer() throws {
        let talker = SimulatedMember(family, .talk, at: .host(1))
        let listener = SimulatedMember(family, .listen, at: .host(2))
        #expect(talker.join(room) && listener.join(room))
        #expect(
            room.takeEvents() == [
                .joined(member: 0, channel: 0, .host(1)), .joined(member: 1, channel: 0, .host(2)),
            ])
        #expect(talker.announce(room) == .forward(byteCount: 56, channel: 0, talker: 0))
        #expect(talker.talk(room) == .forward(byteCount: 100, channel: 0, talker: 0))
        #expect(room.takeEvents() == [.talking(member: 0, .host(1))])
        let status = room.relay.status
        #expect(status.channels.map(\.name) == ["family", "other"])
        #expect(status.channels[0].memberCount == 2 && status.channels[0].listenerCount == 1)
        #expect(status.channels[0].talkerCount == 1 && status.channels[0].forwardedCount == 2)
    }

    @Test func aMemberIsToldItsLeaseTheTimeAndItsAddress() throws {
        room.now = .start + .seconds(3)
        let listener = SimulatedMember(family, .listen, at: .host(2))
        #expect(listener.join(room))
        let terms = try #require(listener.terms)
        #expect(terms.lease == 30 && terms.clock.sinceEpoch == RelayRoom.clock.sinceEpoch + 3_000)
        #expect(terms.address == PeerAddress(v4: 0x0A00_0201, port: 40_000))
        #expect(listener.records(room).records == [.renewed(token: 5, terms)])
    }
}
