import TenfourAudioCore
import TenfourChannelMember
import TenfourPushToTalk
import TenfourRadio
import TenfourSession

/// Plays the tones that tell the user what has happened.
struct ToneNotices {
    private let choice: ToneChoice
    private var isConnected = false
    /// The time from which on the next tone about other stations may be played.
    private var quietUntil = Instant.start

    /// The shortest time between two tones about stations that join and leave: many may do so at once.
    private static let pause = Duration.seconds(3)

    init(_ choice: ToneChoice) { self.choice = choice }

    func play(_ event: PushToTalk.Event, in session: RadioSession) {
        switch event {
        case .willTimeOut: play(.timeOutWarning, in: session)
        case .refused, .closed(.timedOut, _), .closed(.revoked, _): play(.busy, in: session)
        case .closed: play(.roger, in: session)
        case .opened, .available, .permissionRequested, .permissionReleased, .emergencyRequested: break
        }
    }

    /// `now` is the time by CLOCK_MONOTONIC.
    mutating func play(_ event: ChannelEvent, in session: RadioSession, at now: Instant) {
        switch event {
        case .joined where !isConnected:
            isConnected = true
            play(.connected, in: session)
        case .lost where isConnected, .closed where isConnected:
            isConnected = false
            play(.lost, in: session)
        case .memberJoined: playSometimes(.joined, in: session, at: now)
        case .memberLeft: playSometimes(.left, in: session, at: now)
        case .joined, .lost, .closed, .relayReached, .refused, .relayDoubted, .ssrcIsTaken, .limited, .membersKnown,
            .memberChanged, .listeners, .managed, .relayClockDiffers, .relayClockAgrees, .refusedForTime,
            .mediaRefused, .interference:
            break
        }
    }

    /// An event of a session without a channel.
    mutating func play(_ event: Event, in session: RadioSession, at now: Instant) {
        switch event {
        case .sourceAppeared: playSometimes(.joined, in: session, at: now)
        case .sourceLeft(_, .some): playSometimes(.left, in: session, at: now)
        case .sourceLeft(_, .none): playSometimes(.lost, in: session, at: now)
        default: break
        }
    }

    private mutating func playSometimes(_ tone: SignalTone, in session: RadioSession, at now: Instant) {
        guard now >= quietUntil else { return }
        quietUntil = now + Self.pause
        play(tone, in: session)
    }

    private func play(_ tone: SignalTone, in session: RadioSession) {
        if choice.tones.contains(tone) { session.play(tone) }
    }
}
