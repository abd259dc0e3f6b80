import TenfourAudioCore
import TenfourCallQuality
import TenfourJSON
import TenfourLinkTest
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRadio
import TenfourSeededRandom
import TenfourSession
import Testing

/// One second of a signal like speech: a voiced tone whose level rises and falls.
private let speech: [Float] = (0..<48_000).map { index in
    let time = Double(index) / 48_000
    let envelope = 0.5 + 0.5 * sine(3 * time)
    return Float(0.3 * envelope * (sine(140 * time) + 0.5 * sine(280 * time) + 0.3 * sine(420 * time)))
}

/// Returns the sine of an angle in turns, approximated with Bhaskara's formula, which is close enough for a voice.
private func sine(_ turns: Double) -> Double {
    let half = turns - turns.rounded(.down)
    let x = (half < 0.5 ? half : half - 0.5) * 360
    let value = 4 * x * (180 - x) / (40_500 - x * (180 - x))
    return half < 0.5 ? value : -value
}

private func check(
    _ network: String, seed: UInt64 = 1, seconds: Int = 5, _ mode: LossProtectionConfiguration.Mode = .auto
) throws -> (result: LinkTestResult, state: LinkTestClient.State, samples: [Float]) {
    let model = try NetworkModel(parsing: network)
    var configuration = LinkTestClient.Configuration(host: Endpoint(.anyV4, port: 1), speech: speech)
    configuration.duration = .seconds(seconds)
    configuration.lossProtection.mode = mode
    let heard = Heard()
    var check = try SimulatedLinkTest(configuration, there: model, back: model, seed: seed) { sound, _ in
        heard.add(sound)
    }
    let result = check.run()
    return (result, check.state, heard.samples)
}

private final class Heard {
    private(set) var samples: [Float] = []
    func add(_ sound: Span<Float>) { for index in sound.indices { samples.append(sound[index]) } }
}

struct SimulatedLinkTestTests {
    @Test func overAGoodNetworkAllComesBackAndThereIsNothingToChange() throws {
        let (result, state, samples) = try check("lan")
        #expect(state == .over(.heard))
        let whole = try #require(result.quality?.whole)
        #expect(result.sentCount == 250 && whole.expected == 250 && whole.lost == 0)
        #expect(whole.concealedShare ?? 1 <= 0.01)
        #expect(try #require(result.score) > 4.2)
        #expect(result.advice == [] && result.lossProtection.isNone)
        let least = try #require(result.roundTrip?.quantile(0))
        #expect((.microseconds(400) ... .microseconds(600)).contains(least), "\(least)")
        #expect(samples.contains { abs($0) > 0.1 })
    }

    @Test func theSameSeedGivesTheSameResultAndTheSameSound() throws {
        let first = try check("wifi-bad", seed: 7)
        let second = try check("wifi-bad", seed: 7)
        #expect(JSON.object(first.result.members).text == JSON.object(second.result.members).text)
        #expect(first.samples == second.samples)
        #expect(try check("wifi-bad", seed: 8).samples != first.samples)
    }

    /// The packets travel both ways, and each direction loses a tenth of them independently.
    @Test func lossIsThatOfBothWaysAndIsAdvisedUpon() throws {
        let (result, _, _) = try check("b10 delay=5ms", seconds: 20, .off)
        let lost = try #require(result.quality?.whole.lostShare)
        #expect(abs(lost - 0.19) < 0.05, "\(lost)")
        #expect(try #require(result.score) < 2)
        #expect(result.advice.first?.contains("% of the packets are lost") == true, "\(result.advice)")
        #expect(result.advice.first?.contains("--defence auto") == true)
    }

    @Test func theDefenceWorksOverTheWayThereAndBack() throws {
        let off = try check("b5 delay=10ms", seconds: 20, .off).result
        let on = try check("b5 delay=10ms", seconds: 20, .auto).result
        let (bare, defended) = (try #require(off.quality?.whole), try #require(on.quality?.whole))
        #expect(try #require(defended.concealedShare) < (try #require(bare.concealedShare)) / 2)
        #expect(try #require(defended.recoveredShare) > 0.03)
        #expect(try #require(on.score) > (try #require(off.score)) + 0.8)
    }

    /// If jitter requires a longer playout delay than loss does, retransmissions may use all of it.
    @Test func retransmissionsUseTheWholePlayoutDelay() throws {
        let on = try (1...3).map { try check("wifi-lab-g5", seed: $0, seconds: 10, .nack).result.quality }
        let recovered = on.compactMap { $0?.whole.recoveredShare }.reduce(0, +) / 3
        #expect(recovered > 0.03, "\(recovered)")
    }

    /// A packet that arrives in time only because of its retransmission still counts as lost.
    @Test(arguments: ["b10", "b10 delay=0.1ms"]) func lossIsCountedWhereNothingTakesTime(network: String) throws {
        let off = try #require(try check(network, seed: 3, seconds: 20, .off).result.quality?.whole)
        let on = try #require(try check(network, seed: 3, seconds: 20, .nack).result.quality?.whole)
        let (bare, defended) = (try #require(off.lostShare), try #require(on.lostShare))
        #expect(abs(bare - defended) < 0.06, "\(bare) \(defended)")
    }

    /// The advice for bursts and the advice for jitter want different playout delays, but only one can be set.
    @Test func adviceForBurstsAndForJitterDoesNotContradictItself() throws {
        let (result, _, _) = try check("g10 jitter=uniform:0ms-90ms", seconds: 20, .off)
        #expect(
            result.advice.contains { $0.contains("in a row") } && result.advice.contains { $0.contains("unevenly") })
        #expect(result.advice.count { $0.contains("--max-latency") } == 1, "\(result.advice)")
    }

    @Test func theScoreIsThatOfTheWhole() throws {
        let near = try check("delay=1ms").result
        let far = try check("delay=300ms").result
        for result in [near, far] {
            #expect(result.score == result.quality?.whole.score)
            #expect(result.quality?.talkers.first?.whole.score == result.score)
        }
        #expect(try #require(far.score) < (try #require(near.score)) - 0.3)
    }

    @Test func aClientWithoutRepliesReportsIt() throws {
        let (result, state, samples) = try check("loss=100%")
        #expect(state == .over(.unanswered))
        #expect(result.quality == nil && result.score == nil && samples == [])
    }

    /// A satellite link has a long delay, but is not bad.
    @Test func aLongPathIsReportedAsADelay() throws {
        let (result, _, _) = try check("delay=300ms")
        #expect(result.advice.count == 1 && result.advice[0].contains("600 ms"), "\(result.advice)")
        #expect(try #require(result.roundTrip?.quantile(0)) == .milliseconds(600))
    }
}

struct LinkTestClientTests {
    private let host = Endpoint(.v4(0xC000_0207), port: 5_004)

    private func client(seconds: Int = 1) throws -> LinkTestClient {
        var configuration = LinkTestClient.Configuration(host: host, speech: speech)
        configuration.duration = .seconds(seconds)
        return try LinkTestClient(configuration, identity: Identity(ssrc: SSRC(9), seed: 3), at: .start)
    }

    private func datagrams(_ client: inout LinkTestClient) -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        while true {
            var isThere = false
            let datagram = [UInt8](capacity: 1_500) { isThere = client.nextDatagram(into: &$0) }
            guard isThere else { return datagrams }
            datagrams.append(datagram)
        }
    }

    /// `tenfour talk` does not know the link test, but it plays the audio and sends RTCP reports.
    @Test func aStationWithoutLinkTestIsMeasuredByItsReports() throws {
        var client = try client()
        var session = RTPSession(
            identity: Identity(ssrc: SSRC(77), seed: 1),
            configuration: RTPSessionConfiguration(
                remotes: [Endpoint(.v4(1), port: 1)], accepted: .anyone), at: .start)
        var now = Instant.start
        var packetCount = 0
        while let deadline = client.nextDeadline {
            now = max(now, min(deadline, session.nextDeadline ?? deadline))
            if deadline <= now { client.timeElapsed(at: now) }
            session.timeElapsed(at: now)
            for datagram in datagrams(&client) {
                let reception = session.receive(datagram.span, from: Endpoint(.v4(1), port: 1), at: now)
                if case .media = reception { packetCount += 1 }
            }
            while true {
                var isThere = false
                let datagram = [UInt8](capacity: 1_500) { isThere = session.nextDatagram(into: &$0) != nil }
                guard isThere else { break }
                client.receive(datagram.span, from: host, at: now)
            }
        }
        #expect(packetCount == 50)
        #expect(client.state == .over(.reported) || client.state == .over(.unanswered))
        let result = client.result()
        #expect(result.quality == nil)
    }

    /// The server returns nothing after FAREWELL, so the BYE goes before it.
    @Test func farewellIsTheLastDatagram() throws {
        var client = try client()
        var randomness = SeededRandom(seed: 1)
        var server = LinkTestServer(using: &randomness)
        var now = Instant.start
        for _ in 0..<20 {
            client.timeElapsed(at: now)
            for datagram in datagrams(&client) {
                let reply = [UInt8](capacity: 1_500) {
                    _ = server.receive(datagram.span, from: Endpoint(.v4(1), port: 1), at: now, answer: &$0)
                }
                if !reply.isEmpty { client.receive(reply.span, from: host, at: now) }
            }
            now = now + .milliseconds(20)
        }
        #expect(client.state == .speaking(isReturned: true))
        client.stop(at: now)
        let last = datagrams(&client)
        let goodbye = try #require(last.dropLast().last)
        #expect(last.last?.count == 32 && last.last?[5] == 6)
        #expect(goodbye[0] >= 128 && (200...204).contains(goodbye[1]))
    }

    @Test func aTestThatAnotherClientEndsHasAResult() throws {
        var client = try client()
        var randomness = SeededRandom(seed: 1)
        var server = LinkTestServer(using: &randomness)
        var now = Instant.start
        var last: [UInt8] = []
        for _ in 0..<40 {
            client.timeElapsed(at: now)
            for datagram in datagrams(&client) {
                if datagram.count == 32, datagram[5] == 3 { last = datagram }
                let reply = [UInt8](capacity: 1_500) {
                    _ = server.receive(datagram.span, from: Endpoint(.v4(1), port: 1), at: now, answer: &$0)
                }
                if !reply.isEmpty { client.receive(reply.span, from: host, at: now) }
            }
            now = now + .milliseconds(20)
        }
        // A refusal has the numbers of the confirmation.
        last[5] = 5
        var forged = last
        forged[20] ^= 1
        client.receive(forged.span, from: host, at: now)
        #expect(client.state == .speaking(isReturned: true) && !client.isCutShort)
        client.receive(last.span, from: host, at: now)
        #expect(client.state == .over(.heard) && client.isCutShort)
        #expect(client.result().quality != nil)
    }

    @Test func nobodyElseIsListenedTo() throws {
        var client = try client()
        client.timeElapsed(at: .start)
        let sent = datagrams(&client)
        #expect(sent.count == 1 && sent[0].count == 32)
        let hello = sent[0]
        var randomness = SeededRandom(seed: 1)
        var server = LinkTestServer(using: &randomness)
        let challenge = [UInt8](capacity: 1_500) {
            _ = server.receive(hello.span, from: Endpoint(.v4(1), port: 1), at: .start, answer: &$0)
        }
        client.receive(challenge.span, from: Endpoint(.v4(2), port: 5_004), at: .start)
        #expect(datagrams(&client) == [])
        client.receive(challenge.span, from: host, at: .start)
        #expect(datagrams(&client).first?[5] == 3)
    }
}
