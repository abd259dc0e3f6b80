import TenfourAudioCore
import TenfourSeededRandom
import Testing

@testable import TenfourChannelMember

/// The renewals and probes of a lease alone, without a relay.
struct LeaseKeepaliveTests {
    private var randomness = SeededRandom(seed: 1)
    private var lease = LeaseKeepalive(lease: .seconds(30), isWatchful: false, token: 5, at: .start)

    /// A step, as text without the token.
    private mutating func step(at now: Instant) -> String {
        "\(lease.step(at: now, using: &randomness))".prefix { $0 != "(" } + ""
    }

    private func at(_ milliseconds: Int) -> Instant { .start + .milliseconds(milliseconds) }

    /// Lets the relay answer the first renewal after 40 ms.
    private mutating func answerFirst() {
        #expect(step(at: .start) == "renew")
        let wasLost = lease.renewed(token: 5, lease: .seconds(30), at: at(40))
        #expect(!wasLost && lease.hasAnswered)
    }

    @Test mutating func theFirstRenewalIsDueAtOnceAndIsRepeatedThreeTimes() {
        #expect(lease.deadline == .start && !lease.hasAnswered)
        let steps = [0, 199, 200, 400, 599].map { step(at: at($0)) }
        #expect(steps == ["renew", "nothing", "renew", "renew", "nothing"])
        #expect(step(at: at(600)) == "lost" && lease.isLost)
    }

    @Test mutating func aRenewalIsSentEveryTenSeconds() {
        answerFirst()
        #expect(lease.deadline == at(10_040))
        #expect(step(at: at(10_039)) == "nothing")
        #expect(step(at: at(10_040)) == "renew")
    }

    @Test mutating func aLeaseThatIsNotRenewedEnds() {
        answerFirst()
        _ = step(at: at(10_040))
        var now = 10_040
        while !lease.isLost, now < 20_000 {
            now += 20
            _ = step(at: at(now))
        }
        #expect(lease.isLost && now < 12_000)
        #expect(lease.deadline == at(30_040))
        #expect(step(at: at(30_039)) == "nothing")
        #expect(step(at: at(30_040)) == "over")
    }

    @Test mutating func aSilentRelayIsProbedWhileMediaIsExpected() throws {
        answerFirst()
        lease.mediaReceived(at: at(1_000))
        #expect(lease.deadline == at(1_500))
        #expect(step(at: at(1_500)) == "nothing", "the probe begins within 100 ms, at a random time")
        let probe = lease.deadline
        #expect(probe >= at(1_500) && probe <= at(1_600))
        #expect(step(at: probe) == "renew")
    }

    @Test mutating func mediaAfterTheProbeBeganShowsThatTheRelayIsThere() {
        answerFirst()
        lease.talkContinues(at: at(1_000))
        var now = 1_500
        while now < 1_700 {
            _ = step(at: at(now))
            now += 10
        }
        lease.mediaReceived(at: at(now))
        while now < 2_600 {
            #expect(step(at: at(now)) != "lost")
            lease.recordReceived(at: at(now))
            now += 10
        }
        #expect(!lease.isLost)
    }

    @Test mutating func aForgedUnknownSessionIsIgnoredWhileTheRelayIsHeard() {
        answerFirst()
        lease.mediaReceived(at: at(1_000))
        lease.doubt(at: at(1_200), using: &randomness)
        #expect(step(at: at(1_200)) == "nothing")
        lease.doubt(at: at(1_500), using: &randomness)
        #expect(step(at: at(1_500)) == "renew")
    }

    /// Each packet of a lost relay that arrives shows that it knows the session, and a probe asks at once.
    @Test mutating func aLostRelayThatSendsAgainIsProbed() {
        answerFirst()
        lease.doubt(at: at(2_000), using: &randomness)
        for now in stride(from: 2_000, to: 3_000, by: 20) { _ = step(at: at(now)) }
        #expect(lease.isLost && lease.deadline == at(30_040))
        lease.mediaReceived(at: at(8_000))
        #expect(lease.deadline == at(8_000))
        var probes: [Int] = []
        for now in stride(from: 8_000, to: 12_000, by: 20) {
            if step(at: at(now)) == "renew" { probes.append(now) }
            lease.mediaReceived(at: at(now))
        }
        #expect(lease.isLost, "the answers do not arrive")
        #expect(probes.prefix(3) == [8_000, 8_200, 8_400] && probes.count <= 15, "\(probes)")
    }

    @Test mutating func anAnswerBringsALostRelayBack() {
        answerFirst()
        lease.doubt(at: at(2_000), using: &randomness)
        for now in stride(from: 2_000, to: 3_000, by: 20) { _ = step(at: at(now)) }
        #expect(lease.isLost)
        let wasLost = lease.renewed(token: 99, lease: .seconds(30), at: at(3_100))
        #expect(wasLost && !lease.isLost)
    }
}
