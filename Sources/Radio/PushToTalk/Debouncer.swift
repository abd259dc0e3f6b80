package import TenfourAudioCore

/// Turns the edges of a bouncing switch into changes: a level counts when it has stayed for the settling time.
///
/// After each input, call `timeElapsed` when `deadline` has come, with the level that the line has then, so that a lost
/// edge cannot keep a switch pressed.
package struct Debouncer: Sendable {
    /// A change of the settled level, and the time of the first edge of the bounces that led to it: the moment at which
    /// the switch was moved.
    package struct Change: Hashable, Sendable {
        package var isActive: Bool
        package var time: Instant

        package init(isActive: Bool, time: Instant) { (self.isActive, self.time) = (isActive, time) }
    }

    /// 5 ms: longer than nearly all switches bounce, and too short to be noticed before a word.
    package static let usualSettlingTime = Duration.milliseconds(5)

    private let settlingTime: Duration
    /// The level that has settled.
    package private(set) var isActive: Bool
    private var level: Bool
    private var firstEdge: Instant?
    package private(set) var deadline: Instant?

    package init(isActive: Bool, settlingTime: Duration = usualSettlingTime) {
        self.isActive = isActive
        self.settlingTime = settlingTime
        level = isActive
    }

    /// Records an edge. Returns the change of the level before it, if that level has settled in the meantime.
    package mutating func edge(to level: Bool, at time: Instant) -> Change? {
        let change = deadline.flatMap { time >= $0 ? settle() : nil }
        self.level = level
        firstEdge = firstEdge ?? time
        deadline = time + settlingTime
        return change
    }

    /// Records the level that the line has now; nil if it cannot be read. Returns the change if the level has settled.
    package mutating func timeElapsed(at now: Instant, level: Bool?) -> Change? {
        guard let deadline, now >= deadline else { return nil }
        if let level { self.level = level }
        return settle()
    }

    private mutating func settle() -> Change? {
        defer { (firstEdge, deadline) = (nil, nil) }
        guard level != isActive, let firstEdge else { return nil }
        isActive = level
        return Change(isActive: isActive, time: firstEdge)
    }
}
