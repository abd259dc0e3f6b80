import Synchronization
import TestSupport
import Testing

/// Tests when and how often a test in real time is repeated.
struct InRealTimeTests {
    private struct Broken: Error {}

    /// Returns the reason why a run is excused; nil if it is not excused. Runs are counted from 1.
    private typealias Excuse = @Sendable (_ run: Int) -> String?
    private static let always: Excuse = { _ in "it stood still" }
    private static let never: Excuse = { _ in nil }

    /// Runs `body` as a test with the trait. Returns the number of runs and the lines that were reported.
    private func runs(
        _ excuse: @escaping Excuse, _ body: @escaping @Sendable (_ run: Int) throws -> Void
    ) async throws -> (count: Int, lines: [String]) {
        let count = Mutex(0)
        let lines = Mutex<[String]>([])
        let trait = InRealTime(
            witness: { Witness { excuse(count.withLock { $0 }) } }, pause: .zero,
            report: { line, _ in lines.withLock { $0.append(line) } })
        let test = try #require(Test.current)
        try await trait.provideScope(for: test, testCase: Test.Case.current) {
            let run = count.withLock { count in
                count += 1
                return count
            }
            try body(run)
        }
        return (count.withLock { $0 }, lines.withLock { $0 })
    }

    @Test func aPassingTestRunsOnce() async throws {
        let (count, lines) = try await runs(Self.always) { _ in }
        #expect(count == 1)
        #expect(lines.isEmpty)
    }

    @Test(arguments: [true, false]) func aFailureIsRepeatedAtMostTwice(whileTheMachineStalls: Bool) async throws {
        let excuse = whileTheMachineStalls ? Self.always : Self.never
        let counts = [
            try await runs(excuse) { run in #expect(run == 2) }.count,
            try await runs(excuse) { run in if run < 3 { throw Broken() } }.count,
            try await runs(excuse) { run in try #require(run == 3) }.count,
        ]
        #expect(counts == [2, 3, 3])
    }

    @Test func aTestThatPassedLaterIsPrintedWithItsFailures() async throws {
        let excuse: Excuse = { $0 == 1 ? "it stood still" : nil }
        let lines = try await runs(excuse) { run in if run < 3 { throw Broken() } }.lines
        try #require(lines.count == 3)
        #expect(lines[0].hasPrefix("Attempt 1 of 3 failed: ") && lines[0].hasSuffix(", while it stood still"))
        #expect(lines[1].hasPrefix("Attempt 2 of 3 failed: ") && lines[1].contains("Broken()"))
        #expect(lines[2] == "Passed at attempt 3 of 3")
    }

    @Test func aThirdFailureIsAWarningIfTheMachineStalledInAllRuns() async throws {
        let bodies: [@Sendable (Int) throws -> Void] = [
            { _ in Issue.record("never passes") }, { _ in throw Broken() }, { _ in try #require(Bool(false)) },
        ]
        for (index, body) in bodies.enumerated() {
            let severities = Mutex<[Issue.Severity]>([])
            let collecting = IssueHandlingTrait.compactMapIssues { issue in
                severities.withLock { $0.append(issue.severity) }
                return nil
            }
            try await collecting.provideScope(for: try #require(Test.current), testCase: Test.Case.current) {
                let count = try await runs(Self.always, body).count
                #expect(count == 3)
            }
            #expect(severities.withLock { $0 } == [.warning], "body \(index)")
        }
    }

    @Test(arguments: 1...3) func aThirdFailureFailsIfTheMachineWasPunctualInOneRun(_ punctualRun: Int) async throws {
        let excuse: Excuse = { $0 == punctualRun ? nil : "it stood still" }
        let count = Mutex(0)
        await withKnownIssue {
            let runs = try await runs(excuse) { _ in Issue.record("never passes") }
            count.withLock { $0 = runs.count }
        }
        #expect(count.withLock { $0 } == 3)
        await withKnownIssue { _ = try await runs(excuse) { _ in throw Broken() } }
        await withKnownIssue { _ = try await runs(excuse) { _ in try #require(Bool(false)) } }
    }

    /// The lateness is not negative, and it is below 30 s even if the timer is overdue at this moment.
    @Test func aBareTimerIsLateByWhatTheMachineStoodStill() {
        let start = BareTimer.now
        #expect(BareTimer.ordinary.lateness(since: start) < .seconds(30))
        #expect(BareTimer.ordinary.lateness(since: start) >= .zero)
    }
}
