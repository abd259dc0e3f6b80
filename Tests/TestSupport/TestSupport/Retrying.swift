public import Testing

/// Repeats a part of a test, at most twice, if it failed because the machine stalled. `attempt` returns a text about
/// its failure, or nil if it succeeded. See `InRealTime`, which repeats whole tests.
///
/// `priority` is the priority of the tested threads; nil for ordinary threads, which may be late by `tolerated`
/// without an excuse.
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
