/// A sample rate.
public struct SampleRate: Hashable, BitwiseCopyable, Sendable {
    /// The rate in hertz, above zero.
    public let hertz: Int

    @inlinable public init(hertz: Int) {
        precondition(hertz > 0, "a sample rate is above zero")
        self.hertz = hertz
    }

    /// The plausible sample rates of recordings, in hertz. A file that states another rate is damaged.
    public static let recorded = 1_000...768_000

    /// 48 000 Hz: the RTP clock rate of Opus whatever the audio's own rate (RFC 7587 section 4.1), and the internal
    /// rate.
    @inlinable public static var opus: Self { Self(hertz: 48_000) }
}
