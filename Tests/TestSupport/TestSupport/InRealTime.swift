import Synchronization
public import Testing

/// A trait that repeats a test in real time if it failed because the machine stalled. Threads that only run a timer
/// detect the stall.
///
/// A failure during which the timer was late is printed, and the test runs again on a fresh suite, at most twice. A
/// failure during which the timer was punctual fails at once. If the machine stalled in all three runs, the last
/// run's issues become warnings.
public struct InRealTime: SuiteTrait, TestTrait, TestScoping {
    private let witness: @Sendable () -> Witness

    private static let attempts = 3

    public var isRecursive: Bool { true }

    package init(witness: @escaping @Sendable () -> Witness) { self.witness = witness }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        for attempt in 1...Self.attempts {
            let run = Run(witness(), isLast: attempt == Self.attempts)
            let handling = IssueHandlingTrait.compactMapIssues { run.handled($0) }
            do {
                try await handling.provideScope(for: test, testCase: testCase, performing: body)
            } catch {
                guard run.excuses(error) else { throw error }
            }
            guard let reason = run.reason else { return }
            print("The machine stood still during \(test.name) (attempt \(attempt) of \(Self.attempts)): \(reason)")
        }
    }
}

/// One run of a test: its failures, and whether a stall of the machine excuses them.
private final class Run: Sendable {
    private let witness: Witness
    private let isLast: Bool
    private let state = Mutex(State())

    private struct State {
        var excused: [String] = []
        var hasFailed = false
    }

    init(_ witness: Witness, isLast: Bool) {
        self.witness = witness
        self.isLast = isLast
    }

    /// The reason to repeat the test; nil if the test passed, or failed without an excuse.
    var reason: String? {
        state.withLock { $0.hasFailed || $0.excused.isEmpty ? nil : $0.excused.joined(separator: "; ") }
    }

    /// Returns the issue to record; nil for an excused issue. In the last run, an excused issue is recorded as a
    /// warning.
    func handled(_ issue: Issue) -> Issue? {
        guard issue.severity == .error else { return issue }
        guard excuse("\(issue)") else { return issue }
        guard isLast else { return nil }
        var issue = issue
        issue.severity = .warning
        return issue
    }

    /// Whether an error that ended the run is excused, or follows from an issue that is excused.
    func excuses(_ error: any Error) -> Bool {
        // `#require` records an issue before it throws.
        if error is ExpectationFailedError { return reason != nil }
        guard excuse("\(error)") else { return false }
        if isLast { Issue.record("\(error)", severity: .warning) }
        return true
    }

    private func excuse(_ failure: String) -> Bool {
        let excuse = witness.excuse()
        state.withLock { state in
            if let excuse { state.excused.append("\(failure), while \(excuse)") } else { state.hasFailed = true }
        }
        return excuse != nil
    }
}

extension Trait where Self == InRealTime {
    /// The trait for tests that play, capture or wait in real time. See `InRealTime`.
    public static var inRealTime: Self { Self { Witness(isUrgent: false) } }

    /// The trait for tests that run on a sound card's clock, with threads of audio priority.
    public static var inRealTimeOnACard: Self { Self { Witness(isUrgent: true) } }
}
