import TenfourAudioCore
import TenfourChannelKeys
import TenfourSession
import Testing

@testable import TenfourChannelMember

/// The repetitions and pauses of a member that joins, without a relay.
struct JoinHandshakeTests {
    private static let first = Endpoint(.v4(0xC000_0201), port: 5_004)
    private static let second = Endpoint(.v4(0xC000_0202), port: 5_004)

    private var generator = CSPRNG()
    private var configuration: ChannelConfiguration
    private var handshake = JoinHandshake()

    init() {
        configuration = ChannelConfiguration(
            keys: ChannelKeys(name: "family", secret: Secret(.talk, using: &generator)), role: .talk,
            relays: [Self.candidate(Self.first)])
    }

    private static func candidate(_ endpoint: Endpoint) -> RelayCandidate {
        RelayCandidate(id: RelayID(host: "relay.example", port: 5_004), endpoint: endpoint)
    }

    /// Runs until `end`. Returns the times of the datagrams, in milliseconds, and where they went.
    private mutating func run(until end: Int) -> [(at: Int, endpoint: Endpoint)] {
        var sent: [(at: Int, endpoint: Endpoint)] = []
        while let deadline = handshake.deadline, deadline <= .start + .milliseconds(end) {
            guard handshake.isDue(configuration, at: deadline, using: &generator) else { continue }
            var outbox = DatagramQueue()
            handshake.write(to: &outbox)
            let at = Int((deadline - .start) / .milliseconds(1))
            while true {
                var endpoint: Endpoint?
                _ = [UInt8](capacity: 128) { endpoint = outbox.next(into: &$0) }
                guard let endpoint else { break }
                sent.append((at, endpoint))
            }
        }
        return sent
    }

    @Test mutating func helloIsSentFourTimesAndThenAPauseFollows() {
        handshake.begin(at: .start)
        let sent = run(until: 1_000)
        #expect(sent.map(\.at) == [0, 250, 500, 750])
        #expect(handshake.hasFailed && handshake.isActive)
        let pause = handshake.deadline.map { $0 - .start - .seconds(1) }
        #expect(pause.map { $0 >= .milliseconds(500) && $0 <= .milliseconds(1_500) } == true)
    }

    @Test mutating func pausesGrowToFourSecondsAndASuccessMakesThemShort() {
        handshake.begin(at: .start)
        _ = run(until: 60_000)
        handshake.pause(at: .start + .seconds(60), using: &generator)
        let long = handshake.deadline.map { $0 - .start - .seconds(60) }
        #expect(long.map { $0 >= .seconds(2) && $0 <= .seconds(6) } == true)
        handshake.succeeded(at: Self.candidate(Self.first), of: configuration.relays)
        #expect(!handshake.hasFailed)
        handshake.pause(at: .start + .seconds(70), using: &generator)
        let short = handshake.deadline.map { $0 - .start - .seconds(70) }
        #expect(short.map { $0 <= .milliseconds(1_500) } == true)
    }

    @Test mutating func allAddressesOfTheRelayAreTriedBeforeAPause() {
        configuration.relays = [Self.candidate(Self.first), Self.candidate(Self.second)]
        handshake.begin(at: .start)
        let sent = run(until: 1_999)
        #expect(sent.map(\.at) == [0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750])
        #expect(sent.map(\.endpoint) == (0..<4).flatMap { _ in [Self.first, Self.second] })
        let hasTried = [handshake.hasTried(Self.first), handshake.hasTried(Self.second)]
        #expect(hasTried == [true, true])
    }

    @Test mutating func joinNamesTheRelayThatIsAsked() throws {
        let other = RelayID(host: "other.example", port: 6_000)
        configuration.relays = [Self.candidate(Self.first), RelayCandidate(id: other, endpoint: Self.second)]
        handshake.begin(at: .start)
        _ = run(until: 250)
        let attempt = try #require(handshake.attempt)
        #expect(attempt.relay.endpoint == Self.second)
        let hello = [UInt8](capacity: 128) { attempt.joinAttempt.write(into: &$0) }
        guard case .hello(let nonce) = try ControlPacket(parsing: hello.span) else {
            Issue.record("no HELLO")
            return
        }
        var cookies = Cookies(using: &generator)
        let address = PeerAddress(v4: 1, port: 2)
        let cookie = cookies.cookie(for: nonce, from: address, to: address, at: .start)
        let answer = [UInt8](capacity: 40) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        _ = handshake.receive(answer.span, from: Self.second, at: .start + .milliseconds(260))
        var outbox = DatagramQueue()
        handshake.writeJoin(to: &outbox)
        let join = [UInt8](capacity: 128) { _ = outbox.next(into: &$0) }
        guard case .join(let join) = try ControlPacket(parsing: join.span) else {
            Issue.record("no JOIN")
            return
        }
        #expect(join.relay == other)
    }

    @Test mutating func changedAddressesBeginAgainAtOnceWhileJoining() {
        handshake.relaysChanged(at: .start)
        #expect(handshake.deadline == nil, "nobody joins")
        handshake.begin(at: .start)
        _ = run(until: 5_000)
        configuration.relays = [Self.candidate(Self.second)]
        handshake.relaysChanged(at: .start + .milliseconds(5_100))
        #expect(handshake.deadline == .start + .milliseconds(5_100))
        #expect(run(until: 5_100).map(\.endpoint) == [Self.second])
    }

    @Test(arguments: [Refusal.Reason.refused, .rekeyed])
    mutating func aRefusalThatAPersonMustSettlePausesForTenSeconds(reason: Refusal.Reason) {
        handshake.pause(for: reason, at: .start, using: &generator)
        let pause = handshake.deadline.map { $0 - .start }
        #expect(pause.map { $0 >= .seconds(5) && $0 <= .seconds(15) } == true)
        #expect(!handshake.hasFailed)
    }

    @Test mutating func aRelayThatHadAnsweredIsJoinedAgainWithin250Milliseconds() {
        rejoin(hadAnswer: true)
        #expect(handshake.deadline.map { $0 - .start <= .milliseconds(250) } == true)
        let before = handshake.deadline
        rejoin(hadAnswer: false)
        #expect(handshake.deadline == before, "it is joining already")
        handshake.end()
        rejoin(hadAnswer: false)
        #expect(handshake.deadline.map { $0 - .start >= .milliseconds(500) } == true)
    }

    @Test mutating func aRelayThatWasLostIsAskedWithoutLongPausesForTwoMinutes() {
        func gaps(_ sent: [Int]) -> [Int] { zip(sent, sent.dropFirst()).map { $1 - $0 } }
        rejoin(hadAnswer: true)
        let early = gaps(run(until: 119_000).map(\.at))
        #expect(early.count > 200 && early.allSatisfy { $0 <= 850 }, "\(early)")
        let late = gaps(run(until: 200_000).map(\.at))
        #expect(late.contains { $0 > 2_000 }, "\(late)")
        #expect(handshake.hasFailed)
    }

    private mutating func rejoin(hadAnswer: Bool) {
        handshake.rejoin(
            from: configuration.relays[0], configuration.relays, hadAnswer: hadAnswer, at: .start, using: &generator)
    }
}
