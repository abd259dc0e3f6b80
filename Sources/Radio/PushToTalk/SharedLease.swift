internal import TenfourAudioCore
internal import TenfourClocks
internal import TenfourSystem

/// What the lease and its thread share.
final class SharedLease: Sendable {
    struct State {
        var microphone: PushToTalk
        var observers: [@Sendable (PushToTalk.Event) -> Void] = []
        var switches: [any TransmitSwitch] = []
        var wasOpen = false
        var isStopped = false
    }

    let state: Locked<State>
    private let setOpen: @Sendable (Bool) -> Void
    private let wakeup: WakeupPipe

    /// The longest time by which the time of a key may lie back. A device with another clock does no harm then.
    private static let maximumAge = Duration.seconds(1)

    init(_ microphone: PushToTalk, _ setOpen: @escaping @Sendable (Bool) -> Void) throws(MicrophoneLeaseError) {
        do throws(WakeupPipeError) {
            wakeup = try WakeupPipe()
        } catch {
            throw MicrophoneLeaseError(code: error.code)
        }
        state = Locked(State(microphone: microphone))
        self.setOpen = setOpen
    }

    /// Applies an input with the present time, or with `time` if it lies back a little. Ignores it after `stop`.
    @discardableResult
    func update<Result>(at time: Instant? = nil, _ input: (inout PushToTalk, Instant) -> Result) -> Result {
        let (result, isEarlier) = state.withLock { state in
            let now = MonotonicClock.now
            let deadline = state.microphone.nextDeadline
            if state.isStopped {
                var stopped = PushToTalk()
                return (input(&stopped, now), false)
            }
            let result = input(&state.microphone, time.map { min(max($0, now - Self.maximumAge), now) } ?? now)
            publish(&state)
            return (result, state.microphone.nextDeadline != deadline)
        }
        if isEarlier { wakeup.signal() }
        return result
    }

    func apply(_ event: TransmitSwitchEvent, by holder: MicrophoneHolder) {
        update(at: event.time) { microphone, time in
            switch event.change {
            case .pressed: microphone.press(holder, at: time)
            case .released: microphone.release(holder, at: time)
            case .gone: microphone.vanish(holder, at: time)
            case .back: break
            }
        }
    }

    var isStopped: Bool { state.withLock(\.isStopped) }

    func stop() {
        let switches = state.withLock { state in
            guard !state.isStopped else { return [any TransmitSwitch]() }
            let now = MonotonicClock.now
            for holder in state.microphone.holders { state.microphone.vanish(holder, at: now) }
            publish(&state)
            if state.wasOpen { setOpen(false) }
            state.isStopped = true
            state.observers = []
            defer { state.switches = [] }
            return state.switches
        }
        for transmitSwitch in switches { transmitSwitch.stop() }
        wakeup.signal()
    }

    /// The body of the thread: waits for the deadlines.
    func run() {
        while true {
            let wait: Int32? = state.withLock { state in
                guard !state.isStopped else { return nil }
                let now = MonotonicClock.now
                state.microphone.timeElapsed(at: now)
                publish(&state)
                return PollTimeout.milliseconds(in: state.microphone.nextDeadline.map { $0 - now }, atMost: 60_000)
            }
            guard let wait else { return }
            wakeup.wait(atMost: wait)
        }
    }

    /// Passes on what has happened. Called with the lock held.
    private func publish(_ state: inout State) {
        if state.microphone.isOpen != state.wasOpen {
            state.wasOpen.toggle()
            setOpen(state.wasOpen)
        }
        while let event = state.microphone.nextEvent() { for observe in state.observers { observe(event) } }
    }
}
