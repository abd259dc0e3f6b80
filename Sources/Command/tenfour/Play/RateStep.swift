/// The steps by which keyboard keys change the playback rate.
enum RateStep {
    /// The rates at which a small step ends early, since steps of 10% would skip rates such as 1.5 and 2.
    private static let stops = [0.25, 0.5, 1, 1.5, 2, 3, 4, 8, 16, 32]

    /// Returns `rate` times `factor`. A small step ends early at the first element of `stops` on its way, or at an
    /// element within 1 % of the result.
    static func step(_ rate: Double, by factor: Double) -> Double {
        let wanted = rate * factor
        guard (0.8...1.25).contains(factor) else { return wanted }
        let (low, high) = (min(rate, wanted), max(rate, wanted))
        let passed = stops.filter { $0 > low * 1.001 && $0 < high / 1.001 }
        if let stop = factor < 1 ? passed.last : passed.first { return stop }
        return stops.first { abs(wanted / $0 - 1) < 0.01 } ?? wanted
    }
}
