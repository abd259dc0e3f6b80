public import Testing

/// Repeats a part of a test whose audio a machine that stood still has broken, at most twice. `attempt` says what was wrong, or
/// nothing. See `InRealTime`, which repeats whole tests.
///
/// `priority` is that of the threads that make the audio: nil for ordinary ones, which may be late by `tolerated` without an excuse.
public func retrying(
    _ attempts: Int = 3, priority: Int?, tolerated: Duration = .milliseconds(10),
    sourceLocation: SourceLocation = #_sourceLocation,
    _ attempt: () throws -> String?
) throws {
    for number in 1...attempts {
        let witness = Witness(isUrgent: priority != nil, tolerated: tolerated)
        guard let reason = try attempt() else { return }
        guard let excuse = witness.excuse() else {
            Issue.record("\(reason)", sourceLocation: sourceLocation)
            return
        }
        print("The machine stood still (attempt \(number) of \(attempts)): \(reason), while \(excuse)")
        if number == attempts {
            Issue.record("\(reason), while \(excuse)", severity: .warning, sourceLocation: sourceLocation)
        }
    }
}
