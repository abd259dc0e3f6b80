internal import Synchronization
internal import TenfourAudioCore
internal import TenfourSystem
internal import TenfourTransmissions

/// What the threads of a replay share: the owner asks for one, the network thread hands over a copy of the history, the
/// replay thread decodes it, and the card's thread plays it.
final class Replays: Sendable {
    /// A replay to be played.
    struct Order: ~Copyable, Sendable {
        var history: TransmissionHistory
        var range: ReplayRange
        /// The time at which it was asked for, by CLOCK_MONOTONIC.
        var time: Instant
        /// The request that it answers.
        var number: UInt32
    }

    /// A request for a replay.
    struct Request: Sendable {
        var range: ReplayRange
        /// The request's own number: the replay is not current after a later request or stop.
        var number: UInt32
    }

    /// The number of samples that the card's thread has taken.
    let consumedCount = Atomic<Int>(0)

    /// The number of the latest request or stop, and in the lowest byte the raw value of the range until the network
    /// thread takes the request. They are one word, so that no stop comes between them. A replay ends when a later
    /// number has come.
    private let latest = Atomic<UInt64>(1 << 8)
    /// The number of the request whose replay is played; zero if none is.
    private let playing = Atomic<UInt32>(0)
    private let order = Locked<Order?>(nil)
    private let events = Locked<[ReplayEvent]>([])
    /// The replays of other sessions that end when a transmission begins in this one.
    private let others = Locked<[Other]>([])
    private let wakeup: WakeupPipe

    private struct Other: Sendable { weak let replays: Replays? }

    /// The maximum number of events that are stored for the session's owner.
    private static let maximumEventCount = 64

    init() throws(RadioError) {
        do throws(WakeupPipeError) { wakeup = try WakeupPipe() } catch {
            throw RadioError(.unavailable, "too many files are open: close some, or raise the limit with ulimit -n")
        }
    }

    /// Whether the replay's audio is heard, and other audio is played more softly. Any thread. It is false as soon as the
    /// replay is stopped.
    var isPlaying: Bool { isCurrent(playing.load(ordering: .acquiring)) }

    // MARK: The owner's threads

    /// Asks for a replay, in place of the one that plays. Wake the network thread afterwards.
    func request(_ range: ReplayRange) { setLatest(range) }

    func stop() {
        setLatest(nil)
        wake()
    }

    /// Begins the next number. A request that nobody has taken yet ends with it.
    private func setLatest(_ range: ReplayRange?) {
        let old = change { UInt64(Self.number($0) &+ 1) << 8 | UInt64(range?.rawValue ?? 0) }
        if Self.range(old) != nil { post(.ended) }
    }

    /// Changes `latest` in one step. Returns the word from before.
    private func change(_ new: (UInt64) -> UInt64) -> UInt64 {
        var old = latest.load(ordering: .relaxed)
        while true {
            let (isDone, found) = latest.weakCompareExchange(
                expected: old, desired: new(old), ordering: .acquiringAndReleasing)
            if isDone { return old }
            old = found
        }
    }

    private static func number(_ word: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: word >> 8) }
    private static func range(_ word: UInt64) -> ReplayRange? {
        ReplayRange(rawValue: UInt8(truncatingIfNeeded: word))
    }

    /// Sets the replays of other sessions that end when a transmission begins in this one.
    func setOthers(_ replays: [Replays]) { others.withLock { $0 = replays.map { Other(replays: $0) } } }

    func takeEvents() -> [ReplayEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Wakes the replay thread.
    func wake() { wakeup.signal() }

    // MARK: The network thread

    /// Returns what was asked for since the last call.
    func takeRequest() -> Request? {
        guard Self.range(latest.load(ordering: .relaxed)) != nil else { return nil }
        let taken = change { $0 & ~0xFF }
        return Self.range(taken).map { Request(range: $0, number: Self.number(taken)) }
    }

    /// Ends the replay, here and in the other sessions, because a transmission begins.
    func interrupt() {
        stop()
        for other in others.withLock({ $0 }) { other.replays?.stop() }
    }

    /// Hands over a copy of the history, in place of one that the replay thread has not taken.
    func deliver(_ history: consuming TransmissionHistory, _ request: Request, at now: Instant) {
        var new: Order? = Order(history: history, range: request.range, time: now, number: request.number)
        let isReplaced = order.withLock { order in
            defer { order = new.take() }
            return order != nil
        }
        if isReplaced { post(.ended) }
        wake()
    }

    // MARK: The replay thread

    /// Waits for a wake-up, and returns the order if there is one.
    func nextOrder() -> Order? {
        wakeup.wait(atMost: 60_000)
        return order.withLock { $0.take() }
    }

    /// Whether no later request or stop has come.
    func isCurrent(_ number: UInt32) -> Bool { Self.number(latest.load(ordering: .acquiring)) == number }

    /// The replay that `number` asked for is played from now on.
    func begin(_ number: UInt32) { playing.store(number, ordering: .releasing) }

    func end() { playing.store(0, ordering: .releasing) }

    func post(_ event: ReplayEvent) {
        events.withLock { events in
            if events.count == Self.maximumEventCount { events.removeFirst() }
            events.append(event)
        }
    }
}
