public import Testing

/// Tries a few times what a machine that is held up can break: it does so now and then, but hardly five times running.
/// `attempt` says what was wrong with the sound, or nothing.
///
/// Where it was wrong every time, that is the machine's fault only if every time a bare timer was late as well, of the
/// priority of those who make the sound: then it is printed, and is no failure.
public func retrying(
    _ attempts: Int = 5, priority: Int?, sourceLocation: SourceLocation = #_sourceLocation,
    _ attempt: () throws -> String?
) throws {
    var reasons: [String] = []
    var isExcused = true
    for _ in 0..<attempts {
        let timer = try BareTimer(priority: priority)
        let reason = try attempt()
        let lateness = timer.finish()
        guard let reason else { return }
        reasons.append("\(reason), while a bare timer was late by \(lateness)")
        isExcused = isExcused && lateness > .milliseconds(3)
    }
    let text = "\(attempts) times: \(reasons.joined(separator: "; "))"
    if isExcused {
        print("The machine was held up \(text)")
    } else {
        Issue.record("\(text)", sourceLocation: sourceLocation)
    }
}
