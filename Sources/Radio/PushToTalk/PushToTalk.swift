public import TenfourAudioCore

/// The lease on the microphone: a state machine that opens it while somebody holds it.
///
/// Opens no device, reads no clock, starts no thread. After each input, take events until nil, apply `isOpen`, then wait
/// until `nextDeadline` and call `timeElapsed`. The microphone stays open for the release tail after the last release,
/// so that no syllable is lost, and a press within the tail continues the transmission. When a holder vanishes, there
/// is no tail.
///
/// After the time-out the microphone stays closed until all have released it and the hold-off has passed; a press within
/// the hold-off must be released as well, and the hold-off begins again.
///
/// A hold is latched if nothing must be held for it: a toggle. One toggle releases all latched holds. A latched hold
/// ends with a refusal and with the time-out, because nobody would release it.
public struct PushToTalk: Sendable {
    public struct Settings: Hashable, Sendable {
        /// The time for which the microphone stays open after the last release. Zero or less closes it at once.
        public var releaseTail = Duration.milliseconds(150)
        /// The longest transmission; nil for no limit.
        public var timeOut: Duration? = .seconds(180)
        /// The time before the time-out at which a warning is given. A shorter time-out gives none.
        public var warning = Duration.seconds(10)
        /// The time after a time-out, from the last release on, for which the microphone stays closed.
        public var holdOff = Duration.seconds(2)

        public init() {}
    }

    /// Whether the microphone may open without asking, or only after `granted`. When a permission becomes needed, an
    /// open microphone that has none closes until `granted`.
    public enum Permission: Hashable, Sendable {
        case notNeeded, needed
    }

    public enum State: Hashable, Sendable {
        case closed
        /// Held, and waiting for the permission.
        case waiting
        case open
        /// Held, but the permission was refused or revoked. A further holder asks again.
        case refused
        /// Closed after the time-out, until all holders have released it and the hold-off has passed.
        case timedOut
    }

    public private(set) var permission: Permission
    public let settings: Settings
    /// The number of holders above which a press is refused.
    public static let maximumHolderCount = 64

    private var holds: [Hold] = []
    private var phase = Phase.closed
    /// Whether the permission is requested or granted, and not yet released.
    private var hasAsked = false
    private var events: [Event] = []

    private struct Hold {
        let holder: MicrophoneHolder
        var isLatched: Bool
        var isEmergency = false
        /// The time at which the holder counts as vanished; nil for no limit.
        var end: Instant?
    }

    private enum Phase {
        case closed, waiting, refused, timedOut
        case open(since: Instant, hasWarned: Bool)
        case tail(since: Instant, hasWarned: Bool, until: Instant, holder: MicrophoneHolder)
        case blocked(until: Instant)
    }

    public init(_ settings: Settings = Settings(), permission: Permission = .notNeeded) {
        self.settings = settings
        self.permission = permission
    }

    // MARK: State

    /// Whether captured audio is to be sent.
    public var isOpen: Bool { state == .open }

    public var state: State {
        switch phase {
        case .closed: .closed
        case .waiting: .waiting
        case .open, .tail: .open
        case .refused: .refused
        case .timedOut, .blocked: .timedOut
        }
    }

    /// Those who hold the microphone, in the order in which they began, whether it is open or not.
    public var holders: [MicrophoneHolder] { holds.map(\.holder) }

    /// Whether a toggle would release the microphone.
    public var hasLatch: Bool { holds.contains(where: \.isLatched) }

    /// Returns the time from `now` until the time-out; nil if the microphone is closed or there is no limit.
    public func remaining(at now: Instant) -> Duration? {
        switch phase {
        case .open(let since, _), .tail(let since, _, _, _): end(of: since).map { max($0 - now, .zero) }
        default: nil
        }
    }

    /// The time at which `timeElapsed` is to be called; nil if nothing depends on the time.
    public var nextDeadline: Instant? { [phaseDeadline, firstEnd].compactMap(\.self).min() }

    /// The time at which the first hold ends.
    private var firstEnd: Instant? { holds.compactMap(\.end).min() }

    private var phaseDeadline: Instant? {
        switch phase {
        case .closed, .waiting, .refused, .timedOut: nil
        case .open(let since, let hasWarned): hasWarned ? end(of: since) : warning(of: since) ?? end(of: since)
        case .tail(let since, _, let until, _): end(of: since).map { min($0, until) } ?? until
        case .blocked(let until): until
        }
    }

    public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    // MARK: Holders

    /// `holder` begins to hold the microphone, or goes on holding it. Unless it presses again until `end`, it counts as
    /// vanished then; nil for no limit.
    public mutating func press(_ holder: MicrophoneHolder, at now: Instant, until end: Instant? = nil) {
        hold(Hold(holder: holder, isLatched: false, end: end), at: now)
    }

    /// `holder` lets go. Has no effect if it does not hold the microphone.
    public mutating func release(_ holder: MicrophoneHolder, at now: Instant) {
        timeElapsed(at: now)
        remove(holder, .released, at: now)
    }

    /// `holder` no longer exists: a process that ended, a device that was unplugged, a terminal that was closed or lost
    /// the focus. If nobody else holds the microphone, it closes at once.
    public mutating func vanish(_ holder: MicrophoneHolder, at now: Instant) {
        timeElapsed(at: now)
        remove(holder, .vanished, at: now)
    }

    /// Releases all latched holds if there are any; otherwise `holder` holds the microphone until the next toggle.
    public mutating func toggle(_ holder: MicrophoneHolder, at now: Instant) {
        timeElapsed(at: now)
        if hasLatch { releaseLatches(at: now) } else { hold(Hold(holder: holder, isLatched: true), at: now) }
    }

    /// Releases all latched holds.
    public mutating func releaseLatches(at now: Instant) {
        for hold in holds where hold.isLatched { release(hold.holder, at: now) }
    }

    private mutating func hold(_ hold: Hold, at now: Instant) {
        timeElapsed(at: now)
        let holder = hold.holder
        if let index = holds.firstIndex(where: { $0.holder == holder }) {
            if hold.isEmergency { holds[index].isEmergency = true }
            if !hold.isLatched { holds[index] = hold }
            return timeElapsed(at: now)
        }
        let isTimedOut = state == .timedOut
        if isTimedOut { events.append(.refused(.timedOut, holder)) }
        guard !(isTimedOut && hold.isLatched) else { return }
        guard holds.count < Self.maximumHolderCount else {
            if !isTimedOut { events.append(.refused(.tooManyHolders, holder)) }
            return
        }
        holds.append(hold)
        switch phase {
        case .closed, .refused: begin(by: holder, at: now)
        case .tail(let since, let hasWarned, _, _): phase = .open(since: since, hasWarned: hasWarned)
        case .blocked: phase = .timedOut
        case .waiting, .open, .timedOut: break
        }
        // The time of the warning may have passed within the tail, and the hold may have ended already.
        timeElapsed(at: now)
    }

    private mutating func remove(_ holder: MicrophoneHolder, _ reason: CloseReason, at now: Instant) {
        guard let index = holds.firstIndex(where: { $0.holder == holder }) else { return }
        holds.remove(at: index)
        guard holds.isEmpty else { return }
        switch phase {
        case .waiting:
            releasePermission()
            phase = .closed
        case .open(let since, let hasWarned):
            if reason == .vanished || settings.releaseTail <= .zero {
                close(reason, holder)
            } else {
                phase = .tail(
                    since: since, hasWarned: hasWarned, until: now + settings.releaseTail, holder: holder)
            }
        case .refused: phase = .closed
        case .timedOut: phase = .blocked(until: now + settings.holdOff)
        case .closed, .tail, .blocked: break
        }
    }

    /// As `press`, in an emergency: asks for the permission with priority, again if it was refused. Without a need for
    /// a permission it is an ordinary press.
    public mutating func pressInEmergency(_ holder: MicrophoneHolder, at now: Instant, isLatched: Bool = false) {
        timeElapsed(at: now)
        let isHolder = holds.contains { $0.holder == holder }
        let mayHold = state != .timedOut && (isHolder || holds.count < Self.maximumHolderCount)
        if mayHold, permission == .needed { events.append(.emergencyRequested) }
        hold(Hold(holder: holder, isLatched: isLatched, isEmergency: true), at: now)
        if mayHold, case .refused = phase { begin(by: holder, at: now) }
    }

    /// Releases all latched holds if `holder` has one of an emergency; otherwise `holder` holds the microphone in an
    /// emergency until the next toggle, whatever else holds it. Returns whether it does now.
    public mutating func toggleEmergency(_ holder: MicrophoneHolder, at now: Instant) -> Bool {
        guard !hasEmergency(holder) else {
            releaseLatches(at: now)
            return false
        }
        pressInEmergency(holder, at: now, isLatched: true)
        return hasEmergency(holder)
    }

    private func hasEmergency(_ holder: MicrophoneHolder) -> Bool {
        holds.contains { $0.holder == holder && $0.isLatched && $0.isEmergency }
    }

    // MARK: Permission

    /// Whether a permission is needed from now on. An open microphone closes until it is given.
    public mutating func setPermission(_ permission: Permission, at now: Instant) {
        timeElapsed(at: now)
        guard permission != self.permission else { return }
        self.permission = permission
        switch phase {
        case .open where permission == .needed && !hasAsked:
            let holder = holds.first?.holder ?? .session
            events.append(.closed(.revoked(nil), holder))
            begin(by: holder, at: now)
        case .waiting where permission == .notNeeded, .refused where permission == .notNeeded:
            releasePermission()
            open(by: holds.first?.holder ?? .session, at: now)
        default: break
        }
    }

    /// The microphone belongs to another session from now on, which needs a permission or not. The permission of the
    /// former session is released. While somebody holds the microphone, that of the new one is requested, and the
    /// microphone is closed until it is given.
    public mutating func changeSession(_ permission: Permission, at now: Instant) {
        timeElapsed(at: now)
        releasePermission()
        self.permission = permission
        let holder = holds.first?.holder ?? .session
        switch phase {
        case .open where permission == .needed:
            events.append(.closed(.released, holder))
            begin(by: holder, at: now)
        case .waiting, .refused: begin(by: holder, at: now)
        // The last words were for the former session.
        case .tail(_, _, _, let holder): close(.released, holder)
        case .closed, .open, .timedOut, .blocked: break
        }
    }

    /// The permission that was requested is given.
    public mutating func granted(at now: Instant) {
        timeElapsed(at: now)
        switch phase {
        case .waiting: open(by: holds.first?.holder ?? .session, at: now)
        // The answer crossed a release: the permission is not left with a microphone that is closed.
        case .closed, .refused, .timedOut, .blocked: events.append(.permissionReleased)
        case .open, .tail: break
        }
    }

    /// The permission that was requested is refused; `reason` is shown to the user.
    public mutating func refused(_ reason: String?, at now: Instant) {
        timeElapsed(at: now)
        guard case .waiting = phase else { return }
        events.append(.refused(.permission(reason), holds.first?.holder ?? .session))
        losePermission()
    }

    /// The permission is taken back, whether it was given or only requested; `reason` is shown to the user.
    public mutating func revoked(_ reason: String?, at now: Instant) {
        timeElapsed(at: now)
        guard hasAsked else { return }
        switch phase {
        case .waiting: return refused(reason, at: now)
        case .open: events.append(.closed(.revoked(reason), holds.first?.holder ?? .session))
        case .tail(_, _, _, let holder): events.append(.closed(.revoked(reason), holder))
        case .closed, .refused, .timedOut, .blocked: return
        }
        losePermission()
    }

    private mutating func losePermission() {
        hasAsked = false
        dropLatches()
        phase = holds.isEmpty ? .closed : .refused
    }

    private mutating func releasePermission() {
        guard hasAsked else { return }
        hasAsked = false
        events.append(.permissionReleased)
    }

    // MARK: Time

    /// Performs what is due at `now`.
    public mutating func timeElapsed(at now: Instant) {
        while let deadline = nextDeadline, deadline <= now { expire(at: deadline) }
    }

    private mutating func expire(at deadline: Instant) {
        if let hold = holds.first(where: { $0.end.map { $0 <= deadline } ?? false }) {
            return remove(hold.holder, .vanished, at: deadline)
        }
        switch phase {
        case .open(let since, let hasWarned):
            if !hasWarned, warning(of: since) != nil {
                phase = .open(since: since, hasWarned: true)
                events.append(.willTimeOut(in: settings.warning))
            } else {
                let holder = holds.first?.holder ?? .session
                dropLatches()
                close(.timedOut, holder)
                phase = holds.isEmpty ? .blocked(until: deadline + settings.holdOff) : .timedOut
            }
        case .tail(_, _, _, let holder): close(.released, holder)
        case .blocked:
            phase = .closed
            events.append(.available)
        case .closed, .waiting, .refused, .timedOut: break
        }
    }

    /// Returns the time at which a transmission that began at `since` times out; nil for no limit.
    private func end(of since: Instant) -> Instant? { settings.timeOut.map { since + $0 } }

    private func warning(of since: Instant) -> Instant? {
        guard let timeOut = settings.timeOut, settings.warning > .zero, timeOut > settings.warning else { return nil }
        return since + (timeOut - settings.warning)
    }

    // MARK: Opening and closing

    private mutating func begin(by holder: MicrophoneHolder, at now: Instant) {
        guard permission == .needed else { return open(by: holder, at: now) }
        hasAsked = true
        phase = .waiting
        events.append(.permissionRequested)
    }

    private mutating func open(by holder: MicrophoneHolder, at now: Instant) {
        phase = .open(since: now, hasWarned: false)
        events.append(.opened(holder))
    }

    private mutating func close(_ reason: CloseReason, _ holder: MicrophoneHolder) {
        releasePermission()
        phase = .closed
        events.append(.closed(reason, holder))
    }

    private mutating func dropLatches() { holds.removeAll(where: \.isLatched) }
}
