internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// Our own member info, and whether the relay has it.
struct OwnMemberInfo: Sendable {
    /// Drawn once: the others know us by it, also when we join anew.
    let id: UInt64
    private let name: String?
    private var counter: UInt64 = 0
    private var info: MemberInfo?
    private(set) var sealed: SealedMemberInfo?
    /// When the info is due to be sent; nil if the relay has it, or does not answer.
    private(set) var due: Instant?
    private var sentCount = 0
    private var lastSent: Instant?

    /// A relay that does not answer is of an earlier version.
    private static let maximumSendCount = 4
    /// Between changes, at the least.
    private static let interval = Duration.milliseconds(250)

    /// `name` is nil for one who keeps it back.
    init(id: UInt64, name: String?) {
        self.id = max(id, 1)
        self.name = name.map { MemberInfo.shown($0) }
    }

    /// A session has begun: the relay knows nothing of us.
    mutating func begin(at now: Instant) {
        sentCount = 0
        due = now
    }

    mutating func end() { due = nil }

    /// Takes our present state. A change makes the info due; before `begin` it is only kept.
    mutating func update(
        _ microphone: MemberInfo.Microphone, _ ssrc: SSRC, clock: WallClock, under root: MediaRoot, at now: Instant,
        isInside: Bool
    ) {
        // A listener that keeps its name back has nothing to tell.
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

    /// The info has been sent.
    mutating func infoSent(at now: Instant) {
        sentCount += 1
        lastSent = now
        due = sentCount < Self.maximumSendCount ? now + .seconds(1 << (sentCount - 1)) : nil
    }

    /// The relay tells what it has of us.
    mutating func relayHas(_ counter: UInt64, at now: Instant) {
        if counter == sealed?.counter ?? 0 {
            due = nil
        } else if due == nil {
            sentCount = 0
            due = lastSent.map { max(now, $0 + .seconds(1)) } ?? now
        }
    }
}
