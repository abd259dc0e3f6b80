import TenfourSystem
public import Testing

/// A trait that runs a failed test in real time again, at most twice. A machine that stalls can make such a test fail,
/// and cannot make it pass, so the best run counts.
///
/// Warnings name each failed run with its issues, and each test that passed at a later run. The issues of the last run are
/// recorded. They become warnings if a bare timer was late in all three runs: then the machine has failed.
public struct InRealTime: SuiteTrait, TestTrait, TestScoping {
    private let witness: @Sendable () -> Witness
    private let report: @Sendable (String, Test) -> Void

    private static let attempts = 3
    /// The time before the next run: a machine that stalls does so for a while, and what the last run has opened is closed
    /// meanwhile.
    private let pause: Duration

    public var isRecursive: Bool { true }

    package init(
        witness: @escaping @Sendable () -> Witness, pause: Duration = .seconds(3),
        report: @escaping @Sendable (String, Test) -> Void = { text, test in
            Issue.record("\(text)", severity: .warning, sourceLocation: test.sourceLocation)
        }
    ) {
        self.witness = witness
        self.pause = pause
        self.report = report
    }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        var hasStalledAlways = true
        for attempt in 1...Self.attempts {
            let run = Run(witness(), isLast: attempt == Self.attempts, mayWarn: hasStalledAlways)
            let handling = IssueHandlingTrait.compactMapIssues { run.handled($0) }
            try await handling.provideScope(for: test, testCase: testCase) {
                do {
                    try await body()
                } catch is ExpectationFailedError {
                    // `#require` recorded an issue before it threw.
                } catch {
                    Issue.record(error, sourceLocation: test.sourceLocation)
                }
            }
            guard let failure = run.failure else {
                if attempt > 1 { report("Passed at attempt \(attempt) of \(Self.attempts)", test) }
                return
            }
            hasStalledAlways = hasStalledAlways && run.hasStalled
            report("Attempt \(attempt) of \(Self.attempts) failed: \(failure)", test)
            if attempt < Self.attempts { try await Task.sleep(for: pause) }
        }
    }
}

/// The factor by which limits in time are wider under a sanitizer, where programs run several times slower.
public let sanitizerSlowdown = Program.isSet("TENFOUR_SANITIZED") ? 10 : 1

/// One run of a test and its failures.
private final class Run: Sendable {
    private let witness: Witness
    private let isLast: Bool
    private let mayWarn: Bool
    private let state = Locked(State())

    private struct State {
        var failures: [String] = []
        var hasFailedOnAPunctualMachine = false
    }

    /// `mayWarn`: the machine has stalled in all runs before.
    init(_ witness: Witness, isLast: Bool, mayWarn: Bool) {
        self.witness = witness
        self.isLast = isLast
        self.mayWarn = mayWarn
    }

    /// The text of all issues; nil if the test passed.
    var failure: String? { state.withLock { $0.failures.isEmpty ? nil : $0.failures.joined(separator: "; ") } }

    /// Whether a bare timer was late before each of the issues.
    var hasStalled: Bool { state.withLock { !$0.hasFailedOnAPunctualMachine } }

    /// Returns the issue to record; nil if the test will run again.
    func handled(_ issue: Issue) -> Issue? {
        guard issue.severity == .error else { return issue }
        let isExcused = note("\(issue)")
        guard isLast else { return nil }
        var issue = issue
        if isExcused { issue.severity = .warning }
        return issue
    }

    /// Keeps the text of a failure. Returns whether the machine has stalled in this run and in all runs before.
    private func note(_ failure: String) -> Bool {
        let excuse = witness.excuse()
        state.withLock { state in
            state.failures.append(failure + (excuse.map { ", while \($0)" } ?? ""))
            if excuse == nil { state.hasFailedOnAPunctualMachine = true }
        }
        return mayWarn && excuse != nil
    }
}

extension Trait where Self == InRealTime {
    /// The trait for tests that play, capture or wait in real time. See `InRealTime`.
    public static var inRealTime: Self { Self(witness: { Witness(isUrgent: false) }) }

    /// The trait for tests that run on a sound card's clock, with threads of audio priority.
    public static var inRealTimeOnACard: Self { Self(witness: { Witness(isUrgent: true) }) }
}
