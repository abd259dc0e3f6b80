public import Testing

/// Repeats a part of a test, at most twice, if it failed. `attempt` returns a text about its failure, or nil if it
/// succeeded. See `InRealTime`, which repeats whole tests.
///
/// `priority` is the priority of the tested threads; nil for ordinary threads, which may be late by `tolerated`
/// without an excuse. A failure of all attempts is a warning if a bare timer was late in all of them.
public func retrying(
    priority: Int?, tolerated: Duration = .milliseconds(10),
    sourceLocation: SourceLocation = #_sourceLocation,
    _ attempt: () throws -> String?
) throws {
    let name = Test.current?.name ?? ""
    var hasStalledAlways = true
    for number in 1...InRealTime.attempts {
        let witness = Witness(isUrgent: priority != nil, tolerated: tolerated)
        guard let reason = try attempt() else {
            if number > 1 { print("Passed at attempt \(number) of \(InRealTime.attempts): \(name)") }
            return
        }
        let excuse = witness.excuse()
        hasStalledAlways = hasStalledAlways && excuse != nil
        let failure = reason + (excuse.map { ", while \($0)" } ?? "")
        print("Attempt \(number) of \(InRealTime.attempts) of \(name) failed: \(failure)")
        if number == InRealTime.attempts {
            Issue.record("\(failure)", severity: hasStalledAlways ? .warning : .error, sourceLocation: sourceLocation)
        }
    }
}
