import Glibc
import Synchronization
import TenfourPushToTalk

/// A microphone that a lease opens and closes, and what the lease has reported.
final class Microphone: Sendable {
    let lease: MicrophoneLease
    private let shared: Shared

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private struct State {
        var isOpen = false
        var events: [PushToTalk.Event] = []
    }

    /// The time within which the microphone must be closed when a holder has gone.
    static let limit = Duration.milliseconds(500)

    init(
        _ settings: PushToTalk.Settings = PushToTalk.Settings(), permission: PushToTalk.Permission = .notNeeded
    ) throws {
        let shared = Shared()
        lease = try MicrophoneLease(settings, permission: permission) { isOpen in
            shared.state.withLock { $0.isOpen = isOpen }
        }
        lease.observe { event in shared.state.withLock { $0.events.append(event) } }
        self.shared = shared
    }

    var isOpen: Bool { shared.state.withLock { $0.isOpen } }
    var events: [PushToTalk.Event] { shared.state.withLock { $0.events } }

    /// Waits until the microphone is open, or closed. Returns whether that happened within the time.
    func becomes(open wanted: Bool, within time: Duration = .seconds(60)) -> Bool {
        waits(for: time) { isOpen == wanted }
    }
}

/// Waits until the condition holds. Returns false if it does not hold within the time.
func waits(for time: Duration = .seconds(60), until isSo: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + time
    while !isSo() {
        if ContinuousClock.now > deadline { return isSo() }
        usleep(1_000)
    }
    return true
}
