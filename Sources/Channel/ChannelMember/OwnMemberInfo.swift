internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// Our own member info, and whether the relay has acknowledged it.
struct OwnMemberInfo: Sendable {
    /// A random number that identifies us to the other members, also after we join again.
    let id: UInt64
    private let name: String?
    private var counter: UInt64 = 0
    private var info: MemberInfo?
    private(set) var sealed: SealedMemberInfo?
    /// The time at which the info must be sent; nil if the relay has acknowledged the info, or does not answer.
    private(set) var due: Instant?
    private var sentCount = 0
    private var lastSent: Instant?

    /// The maximum number of transmissions of an info without acknowledgement. Older relays never acknowledge an info.
    private static let maximumSendCount = 4
    /// The shortest time between two transmissions of our info.
    private static let interval = Duration.milliseconds(250)

    /// `name` is nil if the member hides its name.
    init(id: UInt64, name: String?) {
        self.id = max(id, 1)
        self.name = name.map { MemberInfo.shown($0) }
    }

    /// Makes the info due, because a session has begun and the relay does not have the info.
    mutating func begin(at now: Instant) {
        sentCount = 0
        due = now
    }

    mutating func end() { due = nil }

    /// Updates our info. If the info has changed, it is stored. It is also due to be sent if `isInside` is true: the
    /// relay answers in the session.
    mutating func update(
        _ microphone: MemberInfo.Microphone, _ ssrc: SSRC, clock: WallClock, under root: MediaRoot, at now: Instant,
        isInside: Bool
    ) {
        // Makes no info for a listener that hides its name.
        if microphone == .none, name?.isEmpty ?? true { return }
        let seconds = UInt32(truncatingIfNeeded: clock.seconds)
        var next =
            info
            ?? MemberInfo(
                name: name ?? "", microphone: microphone, ssrc: ssrc, joined: seconds, microphoneChanged: seconds)
        if next.microphone != microphone { next.microphoneChanged = seconds }
        next.microphone = microphone
        next.ssrc = ssrc
        guard next != info else { return }
        info = next
        counter += 1
        sealed = SealedMemberInfo(next, id: id, counter: counter, under: root)
        guard isInside else { return }
        sentCount = 0
        due = lastSent.map { max(now, $0 + Self.interval) } ?? now
    }

    /// Records that the info was sent.
    mutating func infoSent(at now: Instant) {
        sentCount += 1
        lastSent = now
        due = sentCount < Self.maximumSendCount ? now + .seconds(1 << (sentCount - 1)) : nil
    }

    /// Handles an acknowledgement: `counter` is the counter of our info that the relay has stored, zero if the relay
    /// has none. If our latest info has another counter, the info becomes due again.
    mutating func relayHas(_ counter: UInt64, at now: Instant) {
        if counter == sealed?.counter ?? 0 {
            due = nil
        } else if due == nil {
            sentCount = 0
            due = lastSent.map { max(now, $0 + .seconds(1)) } ?? now
        }
    }
}
