import CALSA
import Glibc
internal import Synchronization
internal import TenfourSystem

/// Reopens a lost card on a thread of its own, since a hanging sound server does not answer and the audio thread must
/// not block. One audio thread calls `begin` and `take`; the attempts allocate.
@safe final class CardReopening: @unchecked Sendable {
    private enum State {
        static let idle = 0
        static let opening = 1
        static let found = 2
        static let failed = 3
    }

    /// Decides which thread owns `device`: the reopening thread during an attempt, otherwise the audio thread.
    private let state = Atomic<Int>(State.idle)
    private var device: PCMDevice?

    enum Outcome { case opening, failed, found }

    /// Starts an attempt to reopen a card that granted `negotiated` before its loss. Adds the differences between the
    /// reopened card and `negotiated` to `changes`.
    func begin(
        _ name: String, _ direction: Direction, _ requested: RequestedParameters, _ negotiated: NegotiatedParameters,
        _ changes: CardChanges
    ) {
        state.store(State.opening, ordering: .relaxed)
        let isStarted = runDetached { [self] in
            do throws(SoundCardError) {
                let found = try PCMDevice.reopened(name, direction, requested, before: negotiated)
                if let change = found.negotiated.difference(from: negotiated) {
                    changes.add("\(name) is back with \(change)")
                }
                device = consume found
                state.store(State.found, ordering: .releasing)
            } catch {
                state.store(State.failed, ordering: .releasing)
            }
        }
        if !isStarted { state.store(State.failed, ordering: .relaxed) }
    }

    /// The state of the last attempt. After `.failed`, start another attempt; after `.found`, call `take`.
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

/// The differences between each reopened card and the card before its loss, one readable line each. For any thread.
public final class CardChanges: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { if $0.count < 16 { $0.append(line) } } }

    /// Returns and clears the lines.
    public func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}

extension NegotiatedParameters {
    /// Describes the differences from `before`; nil if there are none.
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

/// Closes `pcm` on a thread of its own and waits for at most `timeout` nanoseconds, since a hanging sound server does
/// not answer. The C function is `snd_pcm_close`.
func close(_ pcm: OpaquePointer, timeout: Int64) {
    let address = Int(bitPattern: pcm)
    let isClosed = Flag()
    let isStarted = runDetached {
        if let pcm = unsafe OpaquePointer(bitPattern: address) { unsafe snd_pcm_close(pcm) }
        isClosed.isUp.store(true, ordering: .releasing)
    }
    guard isStarted else {
        unsafe snd_pcm_close(pcm)
        return
    }
    let deadline = PCMCalls.now() + timeout
    while !isClosed.isUp.load(ordering: .acquiring), PCMCalls.now() < deadline {
        PCMCalls.sleep(until: PCMCalls.now() + 200_000)
    }
}

private final class Flag: Sendable {
    let isUp = Atomic<Bool>(false)
}

/// Runs `body` on a detached thread; returns false if no thread can be created.
private func runDetached(_ body: @escaping @Sendable () -> Void) -> Bool {
    let thread: Void? = try? WorkerThread.detached {
        ALSAMessages.divertFromTerminal()
        body()
    }
    return thread != nil
}
