import TenfourAudioCore
import TenfourPackets
public import TenfourSession

/// The lines about mistakes of other people's senders.
public enum SourceNotice {
    /// Returns the line about a mistake of the talker `name`; nil if `event` is none.
    public static func line(for event: Event, of name: String) -> String? {
        switch event {
        case .sourceClockIsWrong(_, let rate):
            """
            the RTP clock of \(name) runs at \(rate.hertz) Hz instead of \(SampleRate.opus.hertz) Hz (RFC 7587): it is played by the \
            duration of its packets, but other programs may not play it; set the clock rate of the sender to \
            \(SampleRate.opus.hertz)
            """
        case .sourcesCollide(let ssrc, let kept, let other):
            """
            the senders at \(kept) and \(other) have the same SSRC \(ssrc.digits) (RFC 3550 section 8.2): the second one is not \
            heard until the first one pauses; give each sender an SSRC of its own
            """
        case .sourceSendsTooFast(_, let interval):
            """
            \(name) sends its audio faster than real time, and what comes too early is dropped: let the sender pace its \
            packets, one every \(text(of: interval))
            """
        default: nil
        }
    }
}
