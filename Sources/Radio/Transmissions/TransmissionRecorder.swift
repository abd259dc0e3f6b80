internal import Glibc
internal import Synchronization
public import TenfourAudioCore
internal import TenfourClocks
public import TenfourPackets
internal import TenfourSystem
internal import TenfourUV

/// Records each transmission as an Ogg Opus file in a directory, on a thread of its own.
///
/// A file has the packets as they were received; nothing is encoded again. Recordings are not encrypted. G.711 is not
/// recorded, because Ogg has no place for it; `RecorderEvent.notRecorded` says so once.
public final class TransmissionRecorder: Sendable {
    private let shared: RecorderShared
    private let producer: RingBufferProducer<RecorderSlot>
    private let thread: Locked<WorkerThread?>

    /// The number of packets that wait while the disk is slow: 2.5 s of eight talkers.
    private static let capacity = 1_024

    /// Opens the directory and starts the thread. Throws if the directory cannot be written.
    public init(_ configuration: RecorderConfiguration) throws(RecordingError) {
        let run = try RecorderRun(
            configuration, at: MonotonicClock.now, seconds: time(nil), isClockSet: { RealTimeClock.isSet })
        let ring = RingBuffer(capacity: Self.capacity, filler: RecorderSlot())
        do {
            shared = try RecorderShared()
            let body = RecorderThreadBody(run, ring.consumer, shared)
            thread = Locked(try WorkerThread { body.untilClosed() })
        } catch {
            throw RecordingError(configuration.directory, EAGAIN)
        }
        producer = ring.producer
    }

    deinit { close() }

    /// Adds a packet that has arrived at `now`, an instant of `CLOCK_MONOTONIC`. For the network thread: it neither waits
    /// nor allocates. The packet is dropped and counted if the disk is too slow.
    public func insert(_ payload: Span<UInt8>, _ packet: ReceivedPacket, at now: Instant) {
        guard payload.count <= RecorderSlot.capacity else { return }
        push {
            $0.packet = packet
            $0.arrival = now
            $0.hasLeft = false
            $0.byteCount = payload.count
            for index in 0..<payload.count { $0.bytes[index] = payload[index] }
        }
    }

    /// Ends the transmission of a talker who has left. For the network thread, as `insert`.
    public func leave(_ ssrc: SSRC, at now: Instant) {
        push {
            $0.packet.ssrc = ssrc
            $0.arrival = now
            $0.hasLeft = true
            $0.byteCount = 0
        }
    }

    /// The state, at most 100 ms old while somebody talks. For any thread.
    var status: RecorderStatus {
        var status = shared.status.withLock { $0 }
        status.droppedPacketCount = shared.droppedCount.load(ordering: .relaxed)
        return status
    }

    /// Completes all files and waits for the thread: for the disk, and at most ten seconds for hooks. For any thread but
    /// the network thread. Later packets are dropped.
    public func close() {
        shared.isClosing.store(true, ordering: .releasing)
        shared.wakeup.signal()
        let thread = thread.withLock { thread -> WorkerThread? in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }

    private func push(_ fill: (inout RecorderSlot) -> Void) {
        if !producer.push(fill) { shared.droppedCount.add(1, ordering: .relaxed) }
        // Wakes the thread only when it sleeps, because that takes a system call.
        if shared.isAsleep.exchange(false, ordering: .sequentiallyConsistent) { shared.wakeup.signal() }
    }
}

/// A packet, or the news that a talker has left, from the network thread to the recorder's.
struct RecorderSlot: BitwiseCopyable, Sendable {
    static let capacity = 1_440

    var packet = ReceivedPacket(
        ssrc: SSRC(0), sequenceNumber: SequenceNumber(rawValue: 0), timestamp: RTPTimestamp(rawValue: 0),
        frameCount: .zero)
    var arrival = Instant.start
    var hasLeft = false
    var byteCount = 0
    var bytes = InlineArray<1_440, UInt8>(repeating: 0)
}

/// What the recorder's thread and the others share.
final class RecorderShared: Sendable {
    let isClosing = Atomic<Bool>(false)
    let isAsleep = Atomic<Bool>(false)
    let droppedCount = Atomic<Int>(0)
    let status = Locked(RecorderStatus())
    let wakeup: WakeupPipe

    init() throws(WakeupPipeError) { wakeup = try WakeupPipe() }
}

/// The recorder's thread. Created on one thread and run on another; never used by two threads at the same time.
private final class RecorderThreadBody: @unchecked Sendable {
    private var run: RecorderRun
    private let slots: RingBufferConsumer<RecorderSlot>
    private let shared: RecorderShared
    private var slot = RecorderSlot()

    /// The time between two looks for packets while somebody talks, and the longest sleep otherwise, in milliseconds.
    private static let (busyPause, idlePause): (Int32, Int32) = (100, 10_000)

    init(_ run: consuming RecorderRun, _ slots: consuming RingBufferConsumer<RecorderSlot>, _ shared: RecorderShared) {
        self.run = run
        self.slots = slots
        self.shared = shared
    }

    func untilClosed() {
        var isLast = false
        while !isLast {
            isLast = shared.isClosing.load(ordering: .acquiring)
            let hasReceived = takeAll()
            let now = MonotonicClock.now
            run.report(.packets, count: shared.droppedCount.load(ordering: .relaxed), at: now)
            run.advance(to: now, seconds: time(nil))
            if isLast { run.finish({ MonotonicClock.now }, seconds: time(nil)) }
            let status = run.status
            shared.status.withLock { $0 = status }
            if !isLast, !hasReceived || run.isBusy { sleep() }
        }
    }

    private func sleep() {
        guard !run.isBusy else { return shared.wakeup.wait(atMost: Self.busyPause) }
        // A packet whose sender has not seen the flag is found by the next look: the fence orders the two.
        shared.isAsleep.store(true, ordering: .sequentiallyConsistent)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if !takeAll() { shared.wakeup.wait(atMost: Self.idlePause) }
        shared.isAsleep.store(false, ordering: .sequentiallyConsistent)
    }

    /// Takes all packets that have arrived. Returns whether there were any.
    private func takeAll() -> Bool {
        let (now, seconds) = (MonotonicClock.now, time(nil))
        var hasReceived = false
        while slots.pop(into: &slot) {
            hasReceived = true
            if slot.hasLeft {
                run.leave(slot.packet.ssrc, at: slot.arrival)
                continue
            }
            let payload = (0..<slot.byteCount).map { slot.bytes[$0] }
            let age = max(now - slot.arrival, .zero)
            run.receive(
                payload, slot.packet, at: slot.arrival, seconds: seconds - Int(age.components.seconds))
        }
        return hasReceived
    }
}
