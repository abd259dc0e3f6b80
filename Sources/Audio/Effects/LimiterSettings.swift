/// The settings of a limiter.
public struct LimiterSettings: Hashable, BitwiseCopyable, Sendable {
    /// The highest true peak of the output, in decibels above full scale (dBTP), −20…0.
    public var ceiling = -1.0
    /// The time in seconds, 0.01…5, in which the gain returns by 63 % of its distance after a peak.
    public var release = 0.1

    public static let ceilings = -20.0...0
    public static let releases = 0.01...5

    public init(ceiling: Double = -1, release: Double = 0.1) {
        self.ceiling = ceiling
        self.release = release
    }

    /// Throws `.outOfRange` for the first value that is outside its range.
    public func check() throws(EffectError) {
        try Self.ceilings.check(ceiling, "ceiling", unit: "dBTP")
        try Self.releases.check(release, "release", unit: "s")
    }
}
