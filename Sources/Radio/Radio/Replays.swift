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

    /// Whether the replay's audio is heard, and other audio is played more softly.
    let isPlaying = Atomic<Bool>(false)
    /// The number of samples that the card's thread has taken.
    let consumedCount = Atomic<Int>(0)

    /// The range asked for, as its raw value; zero if there is no request.
    private let range = Atomic<UInt8>(0)
    /// Counts requests and stops. A replay ends when a later request has come.
    private let number = Atomic<UInt32>(0)
    private let order = Locked<Order?>(nil)
    private let events = Locked<[ReplayEvent]>([])
    private let wakeup: WakeupPipe

    /// The maximum number of events that are stored for the session's owner.
    private static let maximumEventCount = 64

    init() throws(RadioError) {
        do throws(WakeupPipeError) { wakeup = try WakeupPipe() } catch {
            throw RadioError(.unavailable, "too many files are open: close some, or raise the limit with ulimit -n")
        }
    }

    // MARK: The owner's threads

    /// Asks for a replay, in place of the one that plays. Wake the network thread afterwards.
    func request(_ range: ReplayRange) {
        number.add(1, ordering: .relaxed)
        self.range.store(range.rawValue, ordering: .releasing)
    }

    func stop() {
        range.store(0, ordering: .relaxed)
        number.add(1, ordering: .relaxed)
        wake()
    }

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

    func post(_ event: ReplayEvent) {
        events.withLock { events in
            if events.count == Self.maximumEventCount { events.removeFirst() }
            events.append(event)
        }
    }
}
