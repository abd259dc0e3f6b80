public import TenfourAudioCore
internal import TenfourSystem

/// A `PushToTalk` that runs: with the clock, a thread for its deadlines, and a lock, so that keys, sockets, signals and
/// devices may use it from any thread.
///
/// A press opens the microphone before `press` returns. `setOpen` and the observers are called in the order of events,
/// with the lock held: they must return soon, and must not call the lease. `stop` closes the microphone and ends the
/// thread; the end of the lease does so as well.
public final class MicrophoneLease: Sendable {
    private let shared: SharedLease

    /// Starts the thread. `setOpen` is called with each change of the microphone, which is closed at first. Throws the
    /// errno if the system cannot create a pipe or a thread.
    public init(
        _ settings: PushToTalk.Settings = PushToTalk.Settings(), permission: PushToTalk.Permission = .notNeeded,
        setOpen: @escaping @Sendable (Bool) -> Void
    ) throws(MicrophoneLeaseError) {
        let shared = try SharedLease(PushToTalk(settings, permission: permission), setOpen)
        do throws(ThreadError) {
            try WorkerThread.detached { shared.run() }
        } catch {
            throw MicrophoneLeaseError(code: error.code)
        }
        self.shared = shared
    }

    deinit { stop() }

    /// Closes the microphone and ends the thread. Everything after it has no effect.
    public func stop() { shared.stop() }

    /// Calls `observe` with each event from now on.
    public func observe(_ observe: @escaping @Sendable (PushToTalk.Event) -> Void) {
        shared.state.withLock { $0.observers.append(observe) }
    }

    /// Starts the switch. It holds the microphone while it is pressed. Switches are stopped with the lease.
    public func attach(_ transmitSwitch: any TransmitSwitch) {
        let isStopped = shared.state.withLock { state in
            if !state.isStopped { state.switches.append(transmitSwitch) }
            return state.isStopped
        }
        guard !isStopped else { return }
        let holder = MicrophoneHolder.device(transmitSwitch.name)
        transmitSwitch.start { [shared] event in shared.apply(event, by: holder) }
    }

    // MARK: Holders

    /// `holder` begins to hold the microphone, or goes on holding it. `time` is the time of the key by CLOCK_MONOTONIC,
    /// if it is known. Unless it presses again until `end`, it counts as vanished then.
    public func press(_ holder: MicrophoneHolder, at time: Instant? = nil, until end: Instant? = nil) {
        shared.update(at: time) { $0.press(holder, at: $1, until: end) }
    }

    public func release(_ holder: MicrophoneHolder, at time: Instant? = nil) {
        shared.update(at: time) { $0.release(holder, at: $1) }
    }

    /// `holder` no longer exists, and lets go at once.
    public func vanish(_ holder: MicrophoneHolder) { shared.update { $0.vanish(holder, at: $1) } }

    /// Releases all latched holds if there are any; otherwise `holder` holds the microphone until the next toggle.
    public func toggle(_ holder: MicrophoneHolder) { shared.update { $0.toggle(holder, at: $1) } }

    /// Releases what processes hold over the control socket, and all latched holds. Keys that are held stay.
    public func releaseProcesses() { shared.update { $0.releaseProcesses(at: $1) } }

    /// Releases what processes hold, and all latched holds, if there are any; otherwise the session holds the microphone
    /// until the next toggle. Returns whether it does.
    @discardableResult
    public func toggleForProcess() -> Bool {
        shared.update { microphone, now in
            guard !microphone.isHeldByProcess, !microphone.hasLatch else {
                microphone.releaseProcesses(at: now)
                return false
            }
            microphone.toggle(.session, at: now)
            return microphone.hasLatch
        } && !shared.isStopped
    }

    // MARK: Permission

    /// As `press`, in an emergency: the talker is interrupted.
    public func pressInEmergency(_ holder: MicrophoneHolder) { shared.update { $0.pressInEmergency(holder, at: $1) } }

    /// See `PushToTalk.toggleEmergency`.
    public func toggleEmergency(_ holder: MicrophoneHolder) -> Bool {
        shared.update { $0.toggleEmergency(holder, at: $1) }
    }

    /// Whether a permission is needed from now on. An open microphone closes until it is given.
    public func setPermission(_ permission: PushToTalk.Permission) {
        shared.update { $0.setPermission(permission, at: $1) }
    }

    /// The microphone belongs to another session from now on, which needs a permission or not. The former session's is
    /// released; while somebody holds the microphone, the new one's is requested.
    public func changeSession(_ permission: PushToTalk.Permission) {
        shared.update { $0.changeSession(permission, at: $1) }
    }

    public func granted() { shared.update { $0.granted(at: $1) } }
    public func refused(_ reason: String?) { shared.update { $0.refused(reason, at: $1) } }
    public func revoked(_ reason: String?) { shared.update { $0.revoked(reason, at: $1) } }

    /// The state at this moment.
    public var status: MicrophoneStatus {
        shared.update { microphone, now in
            MicrophoneStatus(
                state: microphone.state, holders: microphone.holders, remaining: microphone.remaining(at: now))
        }
    }
}

/// The system could not create a pipe or a thread; `code` is the errno.
public struct MicrophoneLeaseError: Error, Hashable, Sendable {
    public let code: Int32
}

/// The state of the microphone at a moment.
public struct MicrophoneStatus: Hashable, Sendable {
    public var state: PushToTalk.State
    /// Those who hold the microphone, whether it is open or not.
    public var holders: [MicrophoneHolder]
    /// The time until the time-out; nil if the microphone is closed or there is no limit.
    public var remaining: Duration?
}

extension PushToTalk {
    fileprivate var isHeldByProcess: Bool { holders.contains(where: \.isProcess) }

    fileprivate mutating func releaseProcesses(at now: Instant) {
        for holder in holders where holder.isProcess { release(holder, at: now) }
        releaseLatches(at: now)
    }
}

extension MicrophoneHolder {
    fileprivate var isProcess: Bool { if case .client = self { true } else { false } }
}
