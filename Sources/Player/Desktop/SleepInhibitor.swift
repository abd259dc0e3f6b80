internal import Glibc
internal import Synchronization
public import TenfourDBus
internal import TenfourSystem

/// Keeps the machine from going to sleep while it is wanted, on a thread of its own.
///
/// It asks login1 on the system bus for an inhibitor lock (`Inhibit`, `sleep:idle`, mode `block`). Where login1 is
/// missing or refuses, it asks `org.freedesktop.ScreenSaver` on the session bus. Where both are missing, it does nothing.
/// Any thread may call any member; none blocks. The lock ends with the process at the latest.
public final class SleepInhibitor: Sendable {
    /// Who keeps the machine awake.
    public enum Holder: Int, Sendable {
        case none, login1, screenSaver
    }

    private let shared: Shared

    /// Starts the thread. Nothing is inhibited yet. Returns nil if the system can start no thread.
    ///
    /// - `systemBus`: in D-Bus's notation; nil for the system bus.
    /// - `sessionBus`: the same for the session bus; nil if there is none.
    /// - `callLimit`: the time limit for each call.
    public init?(
        systemBus: String? = nil, sessionBus: String? = MessageBus.sessionAddress,
        callLimit: Duration = .seconds(5)
    ) {
        guard let stopping = try? StopSignal() else { return nil }
        let shared = Shared(stopping)
        self.shared = shared
        do {
            try WorkerThread.detached {
                SleepLock(systemBus: systemBus, sessionBus: sessionBus, callLimit: callLimit, shared).run()
            }
        } catch {
            return nil
        }
    }

    deinit { stop() }

    /// Whether the machine must stay awake. The lock is taken or given back soon after a change.
    public var isWanted: Bool {
        get { shared.isWanted.load(ordering: .acquiring) }
        set {
            guard shared.isWanted.exchange(newValue, ordering: .acquiringAndReleasing) != newValue else { return }
            shared.stopping.wakeup.signal()
        }
    }

    /// Who keeps the machine awake now.
    public var holder: Holder { Holder(rawValue: shared.holder.load(ordering: .acquiring)) ?? .none }

    /// Gives the lock back and ends the thread soon. Does not wait for it.
    public func stop() { shared.stopping.stop() }
}

private final class Shared: Sendable {
    let isWanted = Atomic(false)
    let holder = Atomic(SleepInhibitor.Holder.none.rawValue)
    let stopping: StopSignal

    init(_ stopping: StopSignal) { self.stopping = stopping }
}

/// Takes the lock and gives it back. Runs on the inhibitor's thread.
private struct SleepLock {
    private let systemBus: String?
    private let sessionBus: String?
    private let callLimit: Duration
    private let shared: Shared

    private static let login1 = BusObject(
        service: "org.freedesktop.login1", path: "/org/freedesktop/login1",
        interface: "org.freedesktop.login1.Manager")
    private static let screenSaver = BusObject(
        service: "org.freedesktop.ScreenSaver", path: "/org/freedesktop/ScreenSaver",
        interface: "org.freedesktop.ScreenSaver")
    /// The time between two attempts while nobody gives a lock, in milliseconds.
    private static let retryInterval: Int32 = 60_000
    private static let name = "tenfour"
    private static let reason = "playing audio"

    init(systemBus: String?, sessionBus: String?, callLimit: Duration, _ shared: Shared) {
        self.systemBus = systemBus
        self.sessionBus = sessionBus
        self.callLimit = callLimit
        self.shared = shared
    }

    private var isStopped: Bool { shared.stopping.isStopped }
    private var isWanted: Bool { !isStopped && shared.isWanted.load(ordering: .acquiring) }

    func run() {
        while !isStopped {
            if isWanted { hold() }
            if !isWanted, !isStopped { shared.stopping.wakeup.wait(atMost: -1) }
        }
    }

    /// Takes the lock, waits until it is no longer wanted, and gives it back.
    private func hold() {
        if let descriptor = login1Lock() {
            waitWhileHeld(by: .login1)
            close(descriptor)
            return
        }
        do throws(BusError) { try holdScreenSaver() } catch { waitWhileHeld(by: .none) }
    }

    /// Returns the descriptor that holds login1's lock; nil if login1 is missing or refuses.
    private func login1Lock() -> Int32? {
        do throws(BusError) {
            let bus = try MessageBus(address: systemBus, callLimit: callLimit)
            return try bus.descriptor(
                answering: "Inhibit", of: Self.login1, .text("sleep:idle"), .text(Self.name), .text(Self.reason),
                .text("block"))
        } catch {
            return nil
        }
    }

    /// Holds the lock of the screen saver, which ends with the connection at the latest.
    private func holdScreenSaver() throws(BusError) {
        guard let sessionBus else { throw .noBus(code: -ENOENT) }
        let bus = try MessageBus(address: sessionBus, callLimit: callLimit)
        let answer = try bus.answer(to: "Inhibit", of: Self.screenSaver, .text(Self.name), .text(Self.reason))
        guard case .uint32(let cookie)? = answer.first else { throw .wrongAnswer }
        waitWhileHeld(by: .screenSaver)
        do throws(BusError) { try bus.call("UnInhibit", of: Self.screenSaver, .uint32(cookie)) } catch {
            // The lock ends with the connection, which is closed here.
        }
    }

    private func waitWhileHeld(by holder: SleepInhibitor.Holder) {
        shared.holder.store(holder.rawValue, ordering: .releasing)
        if holder == .none {
            // Tries again later, since the desktop may not have started yet.
            if isWanted { shared.stopping.wakeup.wait(atMost: Self.retryInterval) }
        } else {
            while isWanted { shared.stopping.wakeup.wait(atMost: -1) }
        }
        shared.holder.store(SleepInhibitor.Holder.none.rawValue, ordering: .releasing)
    }
}
