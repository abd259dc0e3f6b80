import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// When reports go out (RFC 3550 section 6.2 and 6.3).
struct ReportScheduleTests {
    /// Half the five seconds at the least, by chance, over e − 3/2.
    static let shortest = 2.5 / 1.21828

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt32])
    func reportsComeEveryFiveSecondsOnAverageAndNeverMuchSooner(seed: UInt32) {
        let times = reportTimes(of: session(seed, RTPSessionConfiguration(remotes: [bob])), until: 3_600)
        #expect(times[0] == 0.7, "the first one is early, because the remote is not heard")
        let intervals = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(intervals.allSatisfy { $0 >= Self.shortest })
        #expect(intervals.allSatisfy { $0 <= 10 })
        let mean = intervals.reduce(0, +) / Double(intervals.count)
        #expect(abs(mean - 5) < 0.5, "\(mean)")
        let spread = intervals.map { abs($0 - mean) }.reduce(0, +) / Double(intervals.count)
        #expect(spread > 0.5, "\(spread)")
    }

    /// Without the five seconds, but no more bytes than is everybody's share.
    @Test func threeTellOfLossSoonerThanUsual() throws {
        let ends = (0..<3).map { number in
            LinkEnd(
                session(
                    UInt32(number + 1),
                    RTPSessionConfiguration(remotes: (0..<3).filter { $0 != number }.map(SimulatedLink.endpoint))),
                number: number)
        }
        let link = SimulatedLink(ends, network: NetworkModel(loss: .random(0.1), delay: .milliseconds(20)), seed: 1)
        for end in ends { end.speech = Speech() }
        link.run(until: seconds(60))
        let reports = ends[0].sentReports.filter { $0.packets.allSatisfy { $0.nack == nil } && $0.at > seconds(5) }
        let times = Set(reports.map(\.at)).sorted()
        let intervals = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(try #require(intervals.max()) < .seconds(5))
        let bytes =
            ends.flatMap(\.sentReports).filter { $0.packets.allSatisfy { $0.nack == nil } }
            .map { $0.bytes.count + 28 }.reduce(0, +) / 2
        #expect(Double(bytes) / 60 < 300 * 1.3, "\(bytes / 60) bytes a second")
    }

    @Test func aCrowdReportsSeldom() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        join(&listener, 500, at: .start)
        var times: [Double] = []
        for second in 0..<7_200 {
            let now = seconds(Double(second))
            if second % 20 == 0 { join(&listener, 500, at: now) }
            listener.wait(until: now)
            times += listener.takeDatagrams().map { _ in Double(second) }
        }
        // 501 reports of 56 bytes, with IP and UDP, at 225 bytes a second.
        let intervals = zip(times.dropFirst(), times).map { $0 - $1 }
        let fair = 501.0 * 56 / 225
        #expect(intervals.count > 10)
        #expect(intervals.allSatisfy { $0 >= fair / 2 / 1.21828 })
        let mean = intervals.reduce(0, +) / Double(intervals.count)
        #expect((0.7...1.4).contains(mean / fair), "\(mean) where \(fair) is fair")
    }

    @Test func aFirstReportIsPutOffWhileMembersPourIn() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        listener.wait(until: seconds(0.5))
        join(&listener, 500, at: seconds(0.5))
        listener.wait(until: seconds(20))
        #expect(listener.takeDatagrams().isEmpty)
    }

    @Test func whenACrowdLeavesReportsComeOftenAgain() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        join(&listener, 500, at: .start)
        listener.wait(until: seconds(10))
        _ = listener.takeDatagrams()
        for ssrc in 1_000..<1_500 as Range<UInt32> {
            _ = listener.receive(goodbye(SSRC(ssrc)), from: bob, at: seconds(10))
        }
        listener.wait(until: seconds(20))
        #expect(!listener.takeDatagrams().isEmpty)
    }

    @Test func thoseWhoStayDoNotAllReportTheMomentACrowdLeaves() throws {
        for seed in 1...10 as ClosedRange<UInt32> {
            var listener = session(seed, RTPSessionConfiguration(remotes: [bob]))
            join(&listener, 500, at: .start)
            while listener.takeDatagrams().isEmpty { listener.timeElapsed(at: try deadline(of: listener)) }
            let leaving = try deadline(of: listener) - .seconds(10)
            for ssrc in 1_000..<1_500 as Range<UInt32> {
                _ = listener.receive(goodbye(SSRC(ssrc)), from: bob, at: leaving)
            }
            listener.wait(until: leaving + .seconds(1))
            #expect(listener.takeDatagrams().isEmpty)
            listener.wait(until: leaving + .seconds(10))
            #expect(!listener.takeDatagrams().isEmpty)
        }
    }

    @Test func membersWhoFallSilentAreNotCountedForEver() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        join(&listener, 500, at: .start)
        listener.wait(until: seconds(2_000))
        _ = listener.takeDatagrams()
        listener.wait(until: seconds(2_060))
        #expect(listener.takeDatagrams().count >= 9)
    }

    @Test func anAttackerCannotHurryReports() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        var times: [Double] = []
        for step in 0..<60_000 {
            let now = seconds(Double(step) / 100)
            let ssrc = SSRC(UInt32(10_000 + step % 7))
            _ = listener.receive(step % 2 == 0 ? report(ssrc) : goodbye(ssrc), from: bob, at: now)
            listener.wait(until: now)
            times += listener.takeDatagrams().map { _ in now.nanoseconds }.map { Double($0) / 1e9 }
        }
        #expect(times.count <= 150, "600 s, 5 s each, hurried once for each at the most")
        #expect(times.count >= 40)
    }

    private func deadline(of session: borrowing RTPSession) throws -> Instant {
        let deadline = session.nextDeadline
        return try #require(deadline)
    }

    private func join(_ listener: inout RTPSession, _ count: UInt32, at now: Instant) {
        for ssrc in 1_000..<1_000 + count { _ = listener.receive(report(SSRC(ssrc)), from: bob, at: now) }
    }

    private func reportTimes(of session: consuming RTPSession, until end: Double) -> [Double] {
        var session = session
        var times: [Double] = []
        while let deadline = session.nextDeadline, deadline <= seconds(end) {
            session.timeElapsed(at: deadline)
            times += session.takeDatagrams().filter { !$0.isBrief }.map { _ in Double(deadline.nanoseconds) / 1e9 }
        }
        return times
    }
}
