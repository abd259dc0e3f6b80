import Glibc
import TenfourAudioCore
import TenfourCall
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

@testable import TenfourDiagnosis

/// The questions to other ends, on a clock that only the test moves.
struct ExchangeTests {
    private struct NoExchange: Error {}

    private static let other = Endpoint(.v4(0x0A00_0002), port: 5004)

    // MARK: - Stations

    /// Runs an exchange with an other end that answers each datagram at once with those of `answer`.
    private func station(
        clock: NTPTime = NTPTime(secondsSince1970: 1_700_000_000),
        _ answer: (Span<UInt8>, Instant) -> [[UInt8]]
    ) -> (OtherEndFacts.Answer, Duration?, Duration) {
        var randomness = SeededRandom(seed: 3)
        guard var exchange = StationExchange(Self.other, wallClock: clock, at: .start, using: &randomness) else {
            return (.silent, nil, .zero)
        }
        var now = Instant.start
        while true {
            exchange.timeElapsed(at: now)
            while true {
                var isThere = false
                let datagram = [UInt8](capacity: 1_500) { isThere = exchange.nextDatagram(into: &$0, at: now) }
                guard isThere else { break }
                for reply in answer(datagram.span, now) { exchange.receive(reply.span, from: Self.other, at: now) }
            }
            guard let next = exchange.nextDeadline(at: now) else { break }
            now = max(next, now + .microseconds(1))
        }
        return (exchange.answer { "errno \($0)" }, exchange.difference, now - .start)
    }

    /// All datagrams that `next` writes.
    private func all(_ next: (inout OutputSpan<UInt8>) -> Bool) -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        var isThere = true
        while isThere {
            let datagram = [UInt8](capacity: 1_500) { isThere = next(&$0) }
            if isThere { datagrams.append(datagram) }
        }
        return datagrams
    }

    @Test func aStationThatKnowsCallsAnswersTheProbe() {
        var randomness = SeededRandom(seed: 5)
        var call = StationCall(name: "Bob", answering: .never, using: &randomness)
        let (answer, _, time) = station { datagram, now in
            call.receive(datagram, from: .host(1), at: now)
            return all { call.nextDatagram(into: &$0) != nil }
        }
        #expect(answer == .station(.zero, name: "Bob") && time == .zero)
    }

    /// An RTP session without calls, as tenfour 0.4 is.
    @Test(arguments: [0, 3, -3]) func anOlderStationIsToldByItsReportsAndSoIsItsClock(ahead: Int) {
        let clock = NTPTime(secondsSince1970: 1_700_000_000)
        let identity = Identity(
            ssrc: SSRC(7), wallClock: clock.advanced(by: .seconds(ahead)))
        let configuration = RTPSessionConfiguration(remotes: [.host(1)], accepted: .anyone, name: "Bob")
        var session = RTPSession(identity: identity, configuration: configuration, at: .start)
        let (answer, difference, time) = station(clock: clock) { datagram, now in
            _ = session.receive(datagram, from: .host(1), at: now)
            session.timeElapsed(at: now)
            return all { session.nextDatagram(into: &$0) != nil }
        }
        #expect(answer == .plainRTP(name: "Bob"))
        #expect(time <= StationExchange.limit)
        let error = difference.map { $0 - .seconds(ahead) }
        #expect(
            error.map { $0 > .milliseconds(-5) && $0 < .milliseconds(5) } == true, "\(String(describing: difference))")
    }

    @Test func silenceIsToldInTime() {
        let (answer, _, time) = station { _, _ in [] }
        #expect(answer == .silent && time <= StationExchange.limit)
    }

    @Test func anotherProtocolIsTold() {
        let (answer, _, _) = station { _, _ in [Array("HTTP/1.1 400 Bad Request".utf8)] }
        #expect(answer == .otherProtocol)
        // An echo sends the probe and the HELLO of the link test back, and is no station.
        let (echo, _, _) = station { datagram, _ in
            datagram.count == 88 ? [datagram.indices.map { datagram[$0] }] : []
        }
        #expect(echo == .otherProtocol)
    }

    @Test(arguments: [(ECONNREFUSED, OtherEndFacts.Answer.refused), (EHOSTUNREACH, .notSent(EHOSTUNREACH, "x"))])
    func anErrorOfTheSocketIsTold(code: Int32, expected: OtherEndFacts.Answer) throws {
        var randomness = SeededRandom(seed: 3)
        guard
            var exchange = StationExchange(
                Self.other, wallClock: NTPTime(rawValue: 0), at: .start, using: &randomness)
        else { throw NoExchange() }
        exchange.sendingFailed(code)
        exchange.timeElapsed(at: .start)
        #expect(exchange.answer { _ in "x" } == expected)
        // A refusal ends it at once; a missing route may come back.
        #expect(exchange.isOver(at: .start) == (code == ECONNREFUSED))
    }

    @Test func anyBytesAreTakenFromAnOtherEnd() throws {
        var randomness = SeededRandom(seed: 11)
        guard
            var exchange = StationExchange(
                Self.other, wallClock: NTPTime(rawValue: 0), at: .start, using: &randomness)
        else { throw NoExchange() }
        let keys = ChannelKeys.drawn("family")
        var relay = RelayExchange(
            Self.other, relay: RelayHarness.name, key: try #require(keys.talkJoin), at: .start, using: &randomness)
        let firsts: [UInt8] = [0x80, 0x81, 0xC8, UInt8(ascii: "c"), UInt8(ascii: "r"), UInt8(ascii: "t")]
        for round in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...130, using: &randomness)).map { _ in
                UInt8.random(in: 0 ... .max, using: &randomness)
            }
            if !bytes.isEmpty { bytes[0] = firsts[round % firsts.count] }
            if bytes.count > 1, round % 2 == 0 { bytes[1] = .random(in: 1...210, using: &randomness) }
            let now = Instant.start + .microseconds(round * 100)
            exchange.receive(bytes.span, from: Self.other, at: now)
            relay.receive(bytes.span, from: Self.other, at: now, clock: WallClock(milliseconds: 0))
        }
        if case .station = exchange.answer({ _ in "" }) { Issue.record("random bytes were taken for a station") }
        if case .welcome = relay.answer({ _ in "" }) { Issue.record("random bytes were taken for a relay") }
    }

    // MARK: - Relays

    /// Asks a relay, whose clock is `ahead` of ours.
    private func ask(
        _ harness: RelayHarness, with keys: ChannelKeys, _ id: RelayID = RelayHarness.name, ahead: Duration = .zero
    ) throws -> RelayExchange {
        var randomness = SeededRandom(seed: 13)
        let endpoint = Endpoint(.v4(0xC633_6401), port: 5004)
        var exchange = RelayExchange(
            endpoint, relay: id, key: try #require(keys.talkJoin), at: harness.now, using: &randomness)
        let ours = WallClock(
            milliseconds: UInt64(Int64(RelayHarness.clock.sinceEpoch) - Int64(ahead / .milliseconds(1))))
        while true {
            while true {
                var isThere = false
                let datagram = [UInt8](capacity: 1_500) { isThere = exchange.nextDatagram(into: &$0, at: harness.now) }
                guard isThere else { break }
                harness.receive(datagram, from: .host(1))
                for reply in harness.take(.host(1)) {
                    exchange.receive(reply.span, from: endpoint, at: harness.now, clock: ours)
                }
            }
            guard let next = exchange.nextDeadline(at: harness.now) else { return exchange }
            harness.run(max(next - harness.now, .microseconds(1)))
        }
    }

    private func finding(_ exchange: RelayExchange) throws -> Finding {
        var facts = Facts()
        facts.relays = [
            RelayFacts(
                host: try RelayHost("relay.example"), endpoint: exchange.endpoint,
                answer: exchange.answer { _ in "" }, channel: "family")
        ]
        return try #require(DiagnosticCheck.relay.examine(facts)?.first)
    }

    @Test func aRelayThatLetsUsInIsWell() throws {
        let keys = ChannelKeys.drawn("family")
        let harness = RelayHarness([keys])
        let found = try finding(try ask(harness, with: keys))
        #expect(found.severity == .well && found.text.contains("10.0.1.1:40000"), "\(found)")
        #expect(!harness.takeEvents().contains { if case .joined = $0 { true } else { false } })
    }

    @Test(arguments: [3, -3, 0]) func theRelaysClockIsCompared(ahead: Int) throws {
        let keys = ChannelKeys.drawn("family")
        let exchange = try ask(RelayHarness([keys]), with: keys, ahead: .seconds(ahead))
        guard case .welcome(_, let difference, _) = exchange.outcome else {
            Issue.record("no welcome")
            return
        }
        #expect(difference == .seconds(ahead))
    }

    @Test func anUnknownChannelIsNamed() throws {
        let harness = RelayHarness([.drawn("family", seed: 1)])
        for keys in [ChannelKeys.drawn("other"), .drawn("family", seed: 2)] {
            let found = try finding(try ask(harness, with: keys))
            #expect(found.symptom == .unknownChannel && found.severity == .fault)
            #expect(found.remedy?.contains("tenfour channel keys") == true)
        }
    }

    @Test func anExpiredLinkIsNamed() throws {
        let harness = RelayHarness([.drawn("family", seed: 1)])
        harness.reload(RelayConfiguration([.drawn("family", seed: 2)]))
        let found = try finding(try ask(harness, with: .drawn("family", seed: 1)))
        #expect(found.symptom == .expiredLink && found.remedy?.contains("new link") == true)
    }

    @Test func aRelayOfAnotherNameIsNamed() throws {
        let keys = ChannelKeys.drawn("family")
        let found = try finding(try ask(RelayHarness([keys]), with: keys, RelayID(host: "wrong.example", port: 5004)))
        #expect(found.symptom == .relayRefuses && found.remedy?.contains("relay.conf") == true)
    }

    @Test func aRelayOfAnotherVersionIsNamed() throws {
        let keys = ChannelKeys.drawn("family")
        var randomness = SeededRandom(seed: 13)
        var exchange = RelayExchange(
            Self.other, relay: RelayHarness.name, key: try #require(keys.talkJoin), at: .start, using: &randomness)
        let answer = [UInt8(ascii: "c"), 2] + [UInt8](repeating: 0, count: 38)
        exchange.receive(answer.span, from: Self.other, at: .start, clock: WallClock(milliseconds: 0))
        #expect(try finding(exchange).symptom == .otherVersion)
    }

    @Test func oneRelayOfSeveralIsEnough() throws {
        let host = try RelayHost("relay.example")
        var facts = Facts()
        facts.relays = [
            RelayFacts(host: host, endpoint: nil, answer: .silent, channel: "family"),
            RelayFacts(host: host, endpoint: nil, answer: .welcome(.zero, seenAt: "10.0.0.1:5"), channel: "family"),
        ]
        #expect(DiagnosticCheck.relay.examine(facts)?.map(\.severity) == [.limit, .well])
    }
}
