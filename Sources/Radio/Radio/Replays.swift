internal import Synchronization
internal import TenfourAudioCore
internal import TenfourRings
internal import TenfourThreads
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

    /// The number of samples that the card's thread has taken.
    let consumedCount = Atomic<Int>(0)

    /// The range asked for, as its raw value; zero if there is no request.
    private let range = Atomic<UInt8>(0)
    /// Counts requests and stops. A replay ends when a later one has come.
    private let number = Atomic<UInt32>(1)
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
    var isPlaying: Bool { playing.load(ordering: .acquiring) == number.load(ordering: .acquiring) }

    // MARK: The owner's threads

    /// Asks for a replay, in place of the one that plays. Wake the network thread afterwards.
    func request(_ range: ReplayRange) {
        number.add(1, ordering: .relaxed)
        self.range.store(range.rawValue, ordering: .releasing)
    }

    func stop() {
        range.store(0, ordering: .relaxed)
        number.add(1, ordering: .releasing)
        wake()
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
    func takeRequest() -> ReplayRange? { ReplayRange(rawValue: range.exchange(0, ordering: .acquiring)) }

    /// Ends the replay, here and in the other sessions, because a transmission begins.
    func interrupt() {
        stop()
        for other in others.withLock({ $0 }) { other.replays?.stop() }
    }

    /// Hands over a copy of the history.
    func deliver(_ history: consuming TransmissionHistory, _ range: ReplayRange, at now: Instant) {
        var new: Order? = Order(
            history: history, range: range, time: now, number: number.load(ordering: .relaxed))
        order.withLock { $0 = new.take() }
        wake()
    }

    // MARK: The replay thread

    /// Waits for a wake-up, and returns the order if there is one.
    func nextOrder() -> Order? {
        wakeup.wait(atMost: 60_000)
        return order.withLock { $0.take() }
    }

    /// Whether no later request or stop has come.
    func isCurrent(_ number: UInt32) -> Bool { self.number.load(ordering: .relaxed) == number }

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
