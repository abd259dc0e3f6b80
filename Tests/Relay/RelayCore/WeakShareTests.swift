import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

@testable import TenfourChannelKeys

/// A member that has proved its key sends an X25519 public key of low order, from which no secret can be agreed.
struct WeakShareTests {
    private let family = ChannelKeys.drawn("family")

    @Test func aWeakShareIsDiscardedAndAWaitingSessionAtTheSameAddressGoesOn() throws {
        let room = RelayHarness([family])
        let member = SimulatedMember(family, .talk, at: .host(1))
        guard case .welcome = member.knock(room) else {
            Issue.record("did not join")
            return
        }
        let nonce: UInt128 = 5
        room.receive(
            [UInt8](capacity: 128) { ControlPacket.writeHello(nonce: nonce, into: &$0) }, from: member.endpoint)
        let answer = try #require(room.take(member.endpoint).first)
        guard case .cookie(let cookie, _) = try ControlPacket(parsing: answer.span) else {
            Issue.record("no cookie was sent")
            return
        }
        let zero = [UInt8](repeating: 0, count: 32)
        let join = Join(
            nonce: nonce, cookie: cookie, key: try #require(family.talkJoin), relay: RelayHarness.name,
            share: SharePoint(parsing: zero.span, at: 0))
        let datagram = [UInt8](capacity: 128) { join.write(into: &$0) }
        #expect(room.receive(datagram, from: member.endpoint) == .discarded(.weakShare))
        #expect(room.take(member.endpoint).isEmpty)
        // The first session still waits for its first record, which arrives now.
        #expect(member.renew(room) == .handled)
        #expect(room.relay.status.channels[0].memberCount == 1)
    }
}
