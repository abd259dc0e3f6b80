import TenfourAudioCore
import TenfourLinkTest
import TenfourNetworkEmulator
import TenfourSeededRandom
import TenfourSession
import Testing

/// A link-test server, and the number of bytes that it receives from each address and sends to it.
private struct RTPSession {
    var server: LinkTestServer
    var now = Instant.start
    private(set) var bytesIn: [Endpoint: Int] = [:]
    private(set) var bytesOut: [Endpoint: Int] = [:]

    init(seed: UInt64 = 7) {
        var randomness = SeededRandom(seed: seed)
        server = LinkTestServer(using: &randomness)
    }

    mutating func send(_ datagram: [UInt8], from sender: Endpoint) -> [UInt8]? {
        bytesIn[sender, default: 0] += datagram.count
        var isResponsive = false
        let answer = [UInt8](capacity: 2_000) {
            isResponsive = server.receive(datagram.span, from: sender, at: now, answer: &$0)
        }
        #expect(isResponsive || answer.isEmpty)
        bytesOut[sender, default: 0] += answer.count
        #expect(bytesOut[sender, default: 0] <= bytesIn[sender, default: 0], "more went out than came in")
        return isResponsive ? answer : nil
    }

    /// Runs the handshake of Protocol/07-link-test.md. Returns the type of the last answer.
    mutating func shakeHands(from sender: Endpoint, clientNumber: UInt8 = 1) -> UInt8? {
        guard let challenge = send(packet(1, clientNumber), from: sender) else { return nil }
        #expect(challenge.count == 32 && challenge[5] == 2 && challenge[15] == clientNumber)
        return send(packet(3, clientNumber, serverNumber: Array(challenge[16..<24])), from: sender)?[5]
    }
}

private func packet(
    _ kind: UInt8, _ clientNumber: UInt8, serverNumber: [UInt8] = [UInt8](repeating: 0, count: 8)
) -> [UInt8] {
    Array("tfrc".utf8) + [1, kind, 0, 0] + [UInt8](repeating: 0, count: 7) + [clientNumber] + serverNumber
        + [UInt8](repeating: 0, count: 8)
}

private let alice = Endpoint(.v4(0xC000_0201), port: 40_000)
private let mallory = Endpoint(.v4(0xC000_0266), port: 40_000)
private let speech: [UInt8] = [0x80, 111, 0, 1] + [UInt8](repeating: 9, count: 90)

struct LinkTestServerTests {
    @Test func aValidatedClientGetsItsPacketsBackUnchanged() {
        var session = RTPSession()
        #expect(session.send(speech, from: alice) == nil, "speech before the handshake is not returned")
        #expect(session.shakeHands(from: alice) == 4)
        #expect(session.send(speech, from: alice) == speech)
        #expect(session.send([0x80], from: alice) == [0x80])
        #expect(session.server.returnedCount == 2)
    }

    /// An attacker with a forged source address does not see the number that was sent to this address.
    @Test func aConfirmationThatDoesNotKnowTheAnswerIsNotAnswered() {
        var session = RTPSession()
        _ = session.send(packet(1, 1), from: alice)
        #expect(session.send(packet(3, 1), from: alice) == nil)
        #expect(session.send(speech, from: alice) == nil)
        // The number for one address, port or question is not valid for another one either.
        let challenge = session.send(packet(1, 1), from: mallory) ?? []
        let serverNumber = Array(challenge[16..<24])
        #expect(session.send(packet(3, 1, serverNumber: serverNumber), from: alice) == nil)
        #expect(session.send(packet(3, 2, serverNumber: serverNumber), from: mallory) == nil)
        let other = Endpoint(mallory.address, port: mallory.port + 1)
        #expect(session.send(packet(3, 1, serverNumber: serverNumber), from: other) == nil)
    }

    /// The number depends on the key that is generated at the start, and on nothing else that differs between
    /// processes.
    @Test func theServerNumberIsAKeyedHash() {
        var (first, same, other) = (RTPSession(), RTPSession(), RTPSession(seed: 8))
        let number = first.send(packet(1, 1), from: alice)?[16..<24]
        #expect(number == [126, 219, 155, 185, 45, 179, 250, 105])
        #expect(same.send(packet(1, 1), from: alice)?[16..<24] == number)
        #expect(other.send(packet(1, 1), from: alice)?[16..<24] != number)
    }

    @Test(arguments: [6, 7, 16, 23, 24, 31]) func aHelloWithAFieldThatMustBeZeroIsIgnored(offset: Int) {
        var session = RTPSession()
        var hello = packet(1, 1)
        hello[offset] = 1
        #expect(session.send(hello, from: alice) == nil)
    }

    @Test func oneAtATimeIsAnsweredUntilTheyLeaveOrFallSilent() {
        var session = RTPSession()
        #expect(session.shakeHands(from: alice) == 4)
        #expect(session.shakeHands(from: mallory) == 5)
        #expect(session.send(speech, from: mallory) == nil)
        #expect(session.send(speech, from: alice) == speech, "the first client is still served")
        #expect(session.shakeHands(from: alice) == 4, "the first client may start another test")

        let challenge = session.send(packet(1, 1), from: alice) ?? []
        #expect(session.send(packet(6, 1), from: alice) == nil)
        #expect(session.server.client == alice, "a FAREWELL without the number is ignored")
        #expect(session.send(packet(6, 1, serverNumber: Array(challenge[16..<24])), from: alice) == nil)
        #expect(session.server.client == nil)

        #expect(session.shakeHands(from: mallory) == 4)
        session.now = session.now + .milliseconds(3_001)
        #expect(session.shakeHands(from: alice) == 4, "a client that is silent for three seconds loses its slot")
    }

    /// Without this, one client could keep the only place for ever.
    @Test func aClientGivesItsPlaceToAnotherHostAfterAMinute() {
        var session = RTPSession()
        let port = Endpoint(mallory.address, port: mallory.port + 1)
        #expect(session.shakeHands(from: mallory) == 4)
        for _ in 0..<59 {
            session.now = session.now + .seconds(1)
            #expect(session.send(speech, from: mallory) == speech)
            #expect(session.shakeHands(from: alice) == 5)
            #expect(session.shakeHands(from: mallory, clientNumber: 3) == 4, "another test begins no other minute")
        }
        session.now = session.now + .seconds(1)
        #expect(session.shakeHands(from: port) == 5, "another port is the same host")
        #expect(session.shakeHands(from: alice, clientNumber: 2) == 4)
        #expect(session.send(speech, from: alice) == speech)
        // The other one learns it, by a packet that is not longer than its own.
        let refusal = session.send(speech, from: mallory) ?? []
        #expect(refusal.count == 32 && refusal[5] == 5 && refusal[15] == 3)
        #expect(session.send(Array(speech[..<31]), from: mallory) == nil)
        #expect(session.shakeHands(from: mallory) == 5)
        for _ in 0..<60 {
            session.now = session.now + .seconds(1)
            _ = session.send(speech, from: alice)
        }
        #expect(session.shakeHands(from: port) == 4, "now it is another one's turn")
        #expect(session.send(speech, from: alice)?[5] == 5)
    }

    /// Two servers whose datagrams are directed at each other stop at once.
    @Test(arguments: [2, 4, 5, 0, 7, 255] as [UInt8]) func repliesOfAServerAreNotAnswered(kind: UInt8) {
        var session = RTPSession()
        #expect(session.send(packet(kind, 1), from: alice) == nil)
    }

    @Test func anyBytesFromAnywhereCostNoMoreThanTheyBring() {
        var session = RTPSession()
        var state: UInt64 = 1
        func chance() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        for round in 0..<5_000 {
            let sender = Endpoint(.v4(UInt32(chance() % 4)), port: 1)
            var datagram = (0..<Int(chance() % 64)).map { _ in chance() }
            if round % 3 == 0 { datagram = packet(chance() % 8, chance() % 4) }
            _ = session.send(datagram, from: sender)
            session.now = session.now + .milliseconds(Int(chance()))
        }
    }
}
