import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// A lease is renewed only for a member that still receives at the address that the relay sends to.
struct LeaseTests {
    private let family = ChannelKeys.drawn("family")
    private let room: RelayHarness
    private let listener: SimulatedMember

    init() {
        room = RelayHarness([family])
        listener = SimulatedMember(family, .listen, at: .host(2))
        listener.join(room)
        _ = room.takeEvents()
        room.inbox = [:]
    }

    private var isGone: Bool { room.takeEvents() == [.left(member: 0, channel: 0)] }

    @Test func aMemberThatReturnsTheReceiptStays() {
        for _ in 0..<60 {
            room.run(.seconds(10))
            #expect(listener.renew(room) == .handled)
        }
        #expect(room.takeEvents().isEmpty)
        room.run(.seconds(30))
        #expect(isGone)
    }

    @Test func renewalsFromElsewhereKeepNobody() {
        for _ in 0..<2 {
            room.run(.seconds(10))
            let renewal = Record.renewal(token: 1, receipt: listener.receipt)
            #expect(listener.say(renewal, room, from: .host(7)) == .handled)
            listener.takeReceipt(room)
        }
        room.run(.seconds(10))
        #expect(isGone)
    }

    /// For example, a member has gone, and somebody keeps sending its renewals from its old address.
    @Test func aMemberThatDoesNotReceiveIsRemoved() {
        let last = Record.renewal(token: 1, receipt: listener.receipt)
        for _ in 0..<15 {
            room.run(.seconds(10))
            listener.say(last, room)
        }
        #expect(isGone)
        #expect(listener.say(last, room) == .discarded(.unknownSession))
    }

    @Test func aReceiptOfNobodyOrOfAnotherIsNone() {
        let other = SimulatedMember(family, .listen, at: .host(3))
        other.join(room)
        _ = room.takeEvents()
        for receipt in [0, other.receipt] {
            room.run(.seconds(10))
            #expect(listener.say(.renewal(token: 1, receipt: receipt), room) == .handled)
            #expect(other.renew(room) == .handled)
        }
        room.run(.seconds(10))
        #expect(isGone)
    }

    @Test func reportsKeepNobody() {
        for _ in 0..<30 {
            room.run(.seconds(1))
            listener.report(room) { ReceiverReport(ssrc: SSRC(1)).write(into: &$0) }
        }
        #expect(isGone)
    }

    @Test func aWrongPathAnswerKeepsNobodyAndARightOneDoes() throws {
        room.run(.seconds(29))
        listener.say(.renewal(token: 9), room, from: .host(7))
        guard case .pathChallenge(let number) = try listener.opened(try #require(room.take(.host(7)).first)) else {
            Issue.record("no path challenge was sent")
            return
        }
        #expect(listener.say(.pathAnswer(number ^ 1), room, from: .host(7)) == .discarded(.strayPathAnswer))
        #expect(room.relay.nextDeadline == .start + .seconds(30))
        #expect(listener.say(.pathAnswer(number), room, from: .host(7)) == .handled)
        #expect(room.relay.nextDeadline == .start + .seconds(59))
        // From the new address, the lease is renewed as usual.
        listener.endpoint = .host(7)
        for _ in 0..<6 {
            room.run(.seconds(10))
            listener.renew(room)
        }
        #expect(room.takeEvents() == [.moved(member: 0, channel: 0, .host(7))])
    }
}
