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

    /// Runs `body` as a test with the trait. Returns the number of runs.
    private func runs(
        _ excuse: @escaping Excuse, _ body: @escaping @Sendable (_ run: Int) throws -> Void
    ) async throws -> Int {
        let count = Mutex(0)
        let trait = InRealTime { Witness { excuse(count.withLock { $0 }) } }
        let test = try #require(Test.current)
        do {
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                let run = count.withLock { count in
                    count += 1
                    return count
                }
                try body(run)
            }
        } catch is Broken {
            Issue.record("an error that nothing excuses comes out")
        }
        return count.withLock { $0 }
    }

    @Test func aPassingTestRunsOnce() async throws {
        let count = try await runs(Self.always) { _ in }
        #expect(count == 1)
    }

    @Test func aFailureDuringAStallIsRepeatedAtMostTwice() async throws {
        let counts = [
            try await runs(Self.always) { run in #expect(run == 2) },
            try await runs(Self.always) { run in if run < 3 { throw Broken() } },
            try await runs(Self.always) { run in try #require(run == 3) },
            // The test ran three times, and its last issues are warnings.
            try await runs(Self.always) { _ in Issue.record("never passes") },
            try await runs(Self.always) { _ in throw Broken() },
        ]
        #expect(counts == [2, 3, 3, 3, 3])
    }

    @Test func aFailureOnAPunctualMachineFailsAtOnce() async throws {
        for excusedRuns in 0...1 {
            let count = Mutex(0)
            try await withKnownIssue {
                let runs = try await runs({ $0 <= excusedRuns ? "it stood still" : nil }) { _ in
                    Issue.record("never passes")
                }
                count.withLock { $0 = runs }
            }
            #expect(count.withLock { $0 } == excusedRuns + 1)
        }
        await withKnownIssue { _ = try await runs(Self.never) { _ in throw Broken() } }
        await withKnownIssue { _ = try await runs(Self.never) { _ in try #require(Bool(false)) } }
    }

    /// The lateness is not negative, and it is below 30 s even if the timer is overdue at this moment.
    @Test func aBareTimerIsLateByWhatTheMachineStoodStill() {
        let start = BareTimer.now
        #expect(BareTimer.ordinary.lateness(since: start) < .seconds(30))
        #expect(BareTimer.ordinary.lateness(since: start) >= .zero)
    }
}
