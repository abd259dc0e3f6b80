import TenfourChannelMember
import TenfourClocks
import TenfourPushToTalk
import TenfourRadio
import TenfourSession

/// The tones of a session, about its microphone and about the other stations. Use it on one thread.
struct SessionTones {
    private let session: RadioSession
    private var notices: ToneNotices

    /// The tones about the microphone are played from now on.
    init(_ choice: ToneChoice, _ session: RadioSession, _ lease: MicrophoneLease) {
        self.session = session
        let notices = ToneNotices(choice)
        self.notices = notices
        // The session must not live as long as the lease.
        lease.observe { [weak session] event in if let session { notices.play(event, in: session) } }
    }

    /// Plays the tone of an event of the channel.
    mutating func play(_ event: ChannelEvent) { notices.play(event, in: session, at: MonotonicClock.now) }

    /// Plays the tone of an event of a session without a channel.
    mutating func play(_ event: Event) { notices.play(event, in: session, at: MonotonicClock.now) }
}
