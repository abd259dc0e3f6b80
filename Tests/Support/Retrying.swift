public import Testing

/// Tries a few times what a machine that is held up can break: it does so now and then, but hardly five times running.
/// `attempt` says what was wrong with the sound, or nothing.
///
/// Where it was wrong every time, that is the machine's fault only if every time a bare timer was late as well: one of the
/// priority of those who make the sound, by more than a card's period or two, or an ordinary one, as the network thread is, by
/// more than a buffer that follows arrivals holds on a clean link. Then it is printed, and is no failure.
public func retrying(
    _ attempts: Int = 5, priority: Int?, sourceLocation: SourceLocation = #_sourceLocation,
    _ attempt: () throws -> String?
) throws {
    var reasons: [String] = []
    var isExcused = true
    for _ in 0..<attempts {
        let (timer, ordinary) = (try BareTimer(priority: priority), try BareTimer(priority: nil))
        let reason = try attempt()
        let (lateness, ordinaryLateness) = (timer.finish(), ordinary.finish())
        guard let reason else { return }
        reasons.append("\(reason), while bare timers were late by \(lateness) and \(ordinaryLateness)")
        isExcused = isExcused && (lateness > .milliseconds(3) || ordinaryLateness > .milliseconds(10))
    }
    let text = "\(attempts) times: \(reasons.joined(separator: "; "))"
    if isExcused {
        print("The machine was held up \(text)")
    } else {
        Issue.record("\(text)", sourceLocation: sourceLocation)
    }
}
