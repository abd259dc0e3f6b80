import Synchronization
import TestSupport
import Testing

/// How a test in real time is repeated, and when not.
struct InRealTimeTests {
    private struct Broken: Error {}

    /// Why a run is excused; nil where nothing excuses it. Runs count from 1.
    private typealias Excuse = @Sendable (_ run: Int) -> String?
    private static let always: Excuse = { _ in "it stood still" }
    private static let never: Excuse = { _ in nil }

    /// Runs `body` as a test with the trait; returns how often that was.
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
            // Three times: that is a warning.
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

    /// One thread that sleeps is not late; its overdue time counts before it runs again.
    @Test func aBareTimerIsLateByWhatTheMachineStoodStill() {
        let start = BareTimer.now
        #expect(BareTimer.ordinary.lateness(since: start) < .seconds(30))
        #expect(BareTimer.ordinary.lateness(since: start) >= .zero)
    }
}
