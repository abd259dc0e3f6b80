import TenfourDBus
import TenfourSystem

/// Shows who calls as a desktop notification, on a thread of its own (org.freedesktop.Notifications on the session
/// bus). Any thread may call any member; none waits.
final class CallNotifier: Sendable {
    private let shared: NotifierState

    /// Starts the thread, which looks whether there is a notification daemon. `busAddress` is in D-Bus's notation; nil if
    /// there is no session bus.
    init(busAddress: String? = MessageBus.sessionAddress, callLimit: Duration = .seconds(5)) {
        let shared = NotifierState()
        self.shared = shared
        guard let busAddress, let stopping = shared.stopping else {
            shared.fail("there is no session bus: run this in a desktop session, or leave out --notify")
            return
        }
        shared.state.withLock { $0.isBusy = true }
        do throws(ThreadError) {
            try WorkerThread.detached {
                Desktop(busAddress: busAddress, callLimit: callLimit, shared: shared, stopping: stopping).run()
            }
        } catch {
            shared.fail("the system can start no thread: close other programs")
        }
    }

    deinit { shared.stopping?.stop() }

    /// The one who calls, as a text that is safe to display; nil if nobody does.
    var caller: String? {
        get { shared.state.withLock(\.caller) }
        set {
            let isNew = shared.state.withLock { state in
                guard state.caller != newValue else { return false }
                state.caller = newValue
                if !state.hasEnded { state.isBusy = true }
                return true
            }
            if isNew { shared.stopping?.wakeup.signal() }
        }
    }

    /// Returns, once, the reason why no notification is shown; nil if there is none.
    func takeFailure() -> String? { shared.state.withLock { $0.failure.take() } }

    /// Whether the desktop shows what it should.
    var isSettled: Bool { shared.state.withLock { !$0.isBusy } }
}

private final class NotifierState: Sendable {
    struct State {
        var caller: String?
        /// Whether the thread has something to do.
        var isBusy = false
        /// Whether the thread has ended.
        var hasEnded = false
        var failure: String?
    }

    let state = Locked(State())
    let stopping = try? StopSignal()

    /// Says why no notification is shown now.
    func say(_ reason: String) { state.withLock { $0.failure = reason } }

    /// No notification is ever shown.
    func fail(_ reason: String) {
        state.withLock { state in
            state.failure = reason
            (state.isBusy, state.hasEnded) = (false, true)
        }
    }
}

/// The exchange with the notification daemon. Runs on the notifier's thread.
private struct Desktop {
    let busAddress: String
    let callLimit: Duration
    let shared: NotifierState
    let stopping: StopSignal

    private static let daemon = BusObject(
        service: "org.freedesktop.Notifications", path: "/org/freedesktop/Notifications",
        interface: "org.freedesktop.Notifications")
    /// The time after which the daemon closes a notification itself, in milliseconds: no call rings longer.
    private static let expiry: Int32 = 60_000

    func run() {
        do throws(BusError) {
            // Also starts a daemon that the bus can start.
            try MessageBus(address: busAddress, callLimit: callLimit).call("GetServerInformation", of: Self.daemon)
        } catch {
            // A daemon may be started later: each call looks for it again.
            shared.say(
                error == .noService
                    ? "there is no notification daemon: start one, such as dunst, or leave out --notify" : "\(error)")
        }
        while !stopping.isStopped {
            if let caller = next() { try? show(caller) } else { stopping.wakeup.wait(atMost: -1) }
        }
    }

    /// Returns the one who calls; nil if nobody does, and nothing is left to do.
    private func next() -> String? {
        shared.state.withLock { state in
            if state.caller == nil { state.isBusy = false }
            return state.caller
        }
    }

    /// Shows the notification until somebody else or nobody calls.
    private func show(_ caller: String) throws(BusError) {
        // A daemon that has failed is not asked again about this call.
        defer { waitWhileCalled(by: caller) }
        let bus = try MessageBus(address: busAddress, callLimit: callLimit)
        let answer = try bus.answer(
            to: "Notify", of: Self.daemon, .text("tenfour"), .uint32(0), .text("call-start"), .text("Incoming call"),
            .text("\(Self.escaped(caller)) calls"), .texts([]), .properties(["category": .text("call.incoming")]),
            .int32(Self.expiry))
        guard case .uint32? = answer.first else { throw .wrongAnswer }
        waitWhileCalled(by: caller)
        try bus.call("CloseNotification", of: Self.daemon, answer[0])
    }

    private func waitWhileCalled(by caller: String) {
        while !stopping.isStopped, shared.state.withLock({ $0.caller == caller }) { stopping.wakeup.wait(atMost: -1) }
    }

    /// Escapes the letters that are markup in the body of a notification.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
