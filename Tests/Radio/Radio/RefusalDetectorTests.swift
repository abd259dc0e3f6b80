import Glibc
import TenfourAudioCore
import TenfourSession
import TenfourUV
import Testing

@testable import TenfourRadio

struct RefusalDetectorTests {
    /// Feeds a detector for this duration with fifty sent datagrams a second; `refused` returns the number of errors
    /// up to a time in seconds. Returns the resulting failure.
    private func end(
        after seconds: Double, sent: Bool = true, received: Int = 0, refused: (Double) -> Int
    ) -> RadioError? {
        var watch = RefusalDetector()
        var statistics = SocketStatistics()
        for step in 0...Int(seconds * 10) {
            let time = Double(step) / 10
            statistics.sent = sent ? Int(time * 50) : 0
            statistics.received = received
            statistics.failures = [ECONNREFUSED: refused(time)]
            statistics.lastFailure = .init(destination: Endpoint(.v4(0xC000_0201), port: 5_004), code: ECONNREFUSED)
            watch.poll(statistics, at: .start + .milliseconds(100 * step))
        }
        return watch.failure(statistics)
    }

    @Test func whereEachIsRefusedThatIsAFailure() throws {
        let failure = try #require(end(after: 1) { max(Int($0 * 50) - 2, 0) })
        #expect(failure.kind == .unavailable)
        #expect("\(failure)".contains("every packet was refused (192.0.2.1:5004: connection refused)"))
    }

    /// Linux reports six errors, then one a second.
    @Test func errorsThatComeOnceASecondWillDo() {
        #expect(end(after: 10) { 6 + Int($0) } != nil)
    }

    @Test func aReceiverThatCameLaterOrWentEarlierHeardSomething() {
        #expect(end(after: 10) { Int(min($0, 5) * 50) } == nil)
        #expect(end(after: 10) { Int(max($0 - 5, 0) * 50) } == nil)
        #expect(end(after: 1) { Int(min($0, 0.5) * 50) } == nil)
    }

    @Test func oneThatAnswersIsThereAndNobodyWhoIsSilentIsAFailure() {
        #expect(end(after: 10, received: 1) { Int($0 * 50) } == nil)
        #expect(end(after: 10) { _ in 0 } == nil)
    }

    @Test func packetsThatWereNeverSentAreAFailure() throws {
        let failure = try #require(end(after: 1, sent: false) { Int($0 * 50) })
        #expect("\(failure)".contains("no packet could be sent"))
    }
}
