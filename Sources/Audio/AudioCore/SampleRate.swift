/// How many frames pass in a second.
public struct SampleRate: Hashable, BitwiseCopyable, Sendable {
    /// In hertz, above zero.
    public let hertz: Int

    @inlinable public init(hertz: Int) {
        precondition(hertz > 0, "a sample rate is above zero")
        self.hertz = hertz
    }

    /// What recordings have, in hertz; what claims another is damaged.
    public static let recorded = 1_000...768_000

    /// 48 000 Hz: the clock of Opus in RTP whatever the sound's own rate (RFC 7587 section 4.1), and ours inside.
    @inlinable public static var opus: Self { Self(hertz: 48_000) }
}
