public import TenfourAudioCore

/// The lines about mistakes of other people's senders.
public enum SourceNotice {
    /// Returns the line about the talker `name`, whose Opus timestamps count at `rate`.
    public static func wrongClock(of name: String, _ rate: SampleRate) -> String {
        """
        the RTP clock of \(name) runs at \(rate.hertz) Hz instead of \(SampleRate.opus.hertz) Hz (RFC 7587): it is played by the \
        duration of its packets, but other programs may not play it; set the clock rate of the sender to \
        \(SampleRate.opus.hertz)
        """
    }
}
