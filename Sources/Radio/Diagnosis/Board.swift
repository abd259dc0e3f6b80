internal import TenfourClocks
internal import TenfourSystem

/// What the parts of an examination have found so far.
struct Gathered: Sendable {
    var facts = Facts()
    var comparisons: [ClockFacts.Comparison] = []
    var pathMTU: Int?
    var ownArrives: Bool?
}

/// Collects the facts of parts that run on threads of their own. Any thread may use it.
final class Board: Sendable {
    private let state = Locked<(gathered: Gathered, runningCount: Int)>((Gathered(), 0))
    private let wakeup = try? WakeupPipe()

    func begin() { state.withLock { $0.runningCount += 1 } }

    func end() {
        state.withLock { $0.runningCount -= 1 }
        wakeup?.signal()
    }

    func write(_ body: (inout Gathered) -> Void) { state.withLock { body(&$0.gathered) } }

    /// Waits until all parts have ended, at most until `deadline`, and returns what they have written.
    func wait(until deadline: ContinuousClock.Instant) -> Gathered {
        while state.withLock({ $0.runningCount }) > 0 {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { break }
            wait(atMost: left)
        }
        return state.withLock { $0.gathered }
    }

    private func wait(atMost left: Duration) {
        // Without a pipe, which is missing if too many files are open, looks again every 20 ms.
        guard let wakeup else { return pause(.milliseconds(20)) }
        wakeup.wait(atMost: PollTimeout.milliseconds(in: left, atMost: 10_000))
    }
}
