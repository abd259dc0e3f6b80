import CALSA
import Glibc
internal import Synchronization

/// Opens a lost card again on a thread of its own: a sound server that hangs does not answer, and the audio thread must not wait for
/// it. One audio thread calls `begin` and `take`; the attempts allocate.
@safe final class CardReopening: @unchecked Sendable {
    private enum State {
        static let idle = 0
        static let opening = 1
        static let found = 2
        static let failed = 3
    }

    /// Says whose `device` is: the worker's while it is opening, the audio thread's otherwise.
    private let state = Atomic<Int>(State.idle)
    private var device: PCMDevice?

    enum Outcome { case opening, failed, found }

    /// Starts an attempt to open what `grant` was granted by before. Tells `changes` of what is granted otherwise now.
    func begin(_ name: String, _ direction: Direction, _ wish: RequestedParameters, _ grant: NegotiatedParameters, _ changes: CardChanges) {
        state.store(State.opening, ordering: .relaxed)
        let isStarted = runDetached { [self] in
            do throws(SoundCardError) {
                let found = try PCMDevice.reopened(name, direction, wish, before: grant)
                if let change = found.grant.difference(from: grant) { changes.add("\(name) is back with \(change)") }
                device = consume found
                state.store(State.found, ordering: .releasing)
            } catch {
                state.store(State.failed, ordering: .releasing)
            }
        }
        if !isStarted { state.store(State.failed, ordering: .relaxed) }
    }

    /// How the attempt stands. After `.failed` the next may begin; after `.found`, `take`.
    var outcome: Outcome {
        switch state.load(ordering: .acquiring) {
        case State.found: .found
        case State.opening: .opening
        default: .failed
        }
    }

    func take() -> PCMDevice? {
        state.store(State.idle, ordering: .relaxed)
        return device.take()
    }
}

/// What is different about cards that came back, a line each, for people. Any thread.
public final class CardChanges: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { if $0.count < 16 { $0.append(line) } } }

    /// The lines since the last call.
    public func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}

extension NegotiatedParameters {
    /// What is granted otherwise than `before`, in words; nil where nothing is.
    func difference(from before: NegotiatedParameters) -> String? {
        var parts: [String] = []
        if rate != before.rate { parts.append("\(rate) Hz instead of \(before.rate) Hz") }
        if sampleFormat != before.sampleFormat {
            parts.append("\(sampleFormat.name) instead of \(before.sampleFormat.name)")
        }
        if channelCount != before.channelCount {
            parts.append("\(channelCount) channels instead of \(before.channelCount)")
        }
        if period != before.period { parts.append("periods of \(period) frames instead of \(before.period)") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

/// Closes `pcm` on a thread of its own and waits for that for at most `patience` nanoseconds: a sound server that hangs does not
/// answer. The C function is `snd_pcm_close`.
func close(_ pcm: OpaquePointer, patience: Int64) {
    let address = Int(bitPattern: unsafe pcm)
    let isClosed = Flag()
    let isStarted = runDetached {
        if let pcm = unsafe OpaquePointer(bitPattern: address) { unsafe snd_pcm_close(pcm) }
        isClosed.isUp.store(true, ordering: .releasing)
    }
    guard isStarted else {
        unsafe snd_pcm_close(pcm)
        return
    }
    let deadline = PCMCalls.now() + patience
    while !isClosed.isUp.load(ordering: .acquiring), PCMCalls.now() < deadline {
        PCMCalls.sleep(until: PCMCalls.now() + 200_000)
    }
}

private final class Flag: Sendable {
    let isUp = Atomic<Bool>(false)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Runs `body` on a thread that nobody waits for; false where the system has none to give.
private func runDetached(_ body: @escaping @Sendable () -> Void) -> Bool {
    var thread = pthread_t()
    let argument = unsafe Unmanaged.passRetained(ThreadBody(body))
    guard unsafe pthread_create(&thread, nil, runThreadBody, argument.toOpaque()) == 0 else {
        unsafe argument.release()
        return false
    }
    pthread_detach(thread)
    return true
}

/// The start of such a thread (`pthread_create`).
@c private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument {
        // Not an audio thread's: a thread made by one inherits its priority.
        var normal = sched_param()
        unsafe pthread_setschedparam(pthread_self(), SCHED_OTHER, &normal)
        Explanation.keepOffTheTerminal()
        unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    }
    return nil
}
