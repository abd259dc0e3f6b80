import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TestSupport
import Testing

/// The member lists of stations, over real sockets and a relay on its own thread.
@Suite(.onItsOwnThread)
struct MembersTests {
    private let family: ChannelKeys
    private let listen: ChannelKeys

    init() {
        var generator = CSPRNG()
        family = ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
        listen = ChannelKeys(name: "family", secret: family.listenSecret)
    }

    private func configuration(port: UInt16 = 0) throws -> RelayServerConfiguration {
        var relay = RelayConfiguration()
        relay.channels = [.init(name: "family", talkJoin: try #require(family.talkJoin), listenJoin: family.listenJoin)]
        return RelayServerConfiguration(bind: .loopback(port), relay: relay, workers: 1)
    }

    /// Runs the members until `isSo` is true, for at most 60 s. On a busy machine, a member that rejoins may leave
    /// its old session behind, which the others list until its lease ends.
    private func wait(_ members: [SocketMember], _ what: Comment, until isSo: () -> Bool) {
        let end = Clocks.now + .seconds(60)
        while Clocks.now < end {
            for member in members { member.pump() }
            if isSo() { return }
            usleep(2_000)
        }
        Issue.record(what)
    }

    private func names(_ member: SocketMember) -> Set<String?> {
        Set(member.channel.members?.talkers.map(\.name) ?? ["?"])
    }

    private func isOpen(_ talker: SocketMember, for member: SocketMember) -> Bool {
        member.channel.members?.talkers.first(where: { $0.info.ssrc == talker.channel.ssrc })?.info.microphone == .open
    }

    private func left(_ member: SocketMember) -> [String] {
        member.events.compactMap { if case .memberLeft(let other) = $0 { other.info.name } else { nil } }
    }

    @Test func allKnowWhoIsThereWhoTalksAndWhoLeaves() throws {
        let relay = try RunningRelay(configuration())
        let anna = SocketMember(.talk, of: family, at: relay.port, ssrc: 9, name: "Anna")
        let ben = SocketMember(.talk, of: family, at: relay.port, ssrc: 5, name: "Ben")
        let cleo = SocketMember(.listen, of: listen, at: relay.port, ssrc: 7, name: "Cleo")
        let all = [anna, ben, cleo]
        wait(all, "all are told") {
            names(cleo) == ["Anna", "Ben"] && names(anna) == ["Ben"] && names(ben) == ["Anna"]
        }
        wait(all, "the listener is counted") { anna.channel.members?.listenerCount == 1 }
        anna.microphone(isOpen: true)
        wait(all, "the open microphone is told") { isOpen(anna, for: cleo) }
        anna.requestListeners(from: 0)
        wait(all, "the listener is named") {
            if case .listeners(let page)? = anna.events.last { page.members.map(\.name) == ["Cleo"] } else { false }
        }
        ben.leave()
        wait([anna, cleo], "the leave is told") { left(cleo) == ["Ben"] && left(anna) == ["Ben"] }
    }

    @Test func membersThatStayThroughARestartAreNotReportedGone() throws {
        var relay: RunningRelay? = try RunningRelay(configuration())
        let port = try #require(relay?.port)
        let anna = SocketMember(.talk, of: family, at: port, ssrc: 9, name: "Anna")
        let cleo = SocketMember(.listen, of: listen, at: port, ssrc: 7, name: "Cleo")
        wait([anna, cleo], "both are told") { names(cleo) == ["Anna"] && anna.channel.members?.listenerCount == 1 }
        relay?.stop()
        relay = nil
        relay = try RunningRelay(configuration(port: port))
        // The listener rejoins first, while Anna has not noticed the restart yet.
        wait([cleo], "the listener is back") { cleo.channel.members != nil }
        #expect(names(cleo) == ["Anna"])
        wait([anna, cleo], "Anna is back") { anna.channel.members?.listenerCount == 1 && names(cleo) == ["Anna"] }
        #expect(left(cleo).isEmpty)
        withExtendedLifetime(relay) {}
    }
}
