internal import TenfourAudioCore

/// How many frames of input go into how many of output.
internal struct Ratio: Equatable {
    var input: UInt32
    var output: UInt32
}

/// Which ratio the resampler is told, so that on average sound is converted by exactly the one that is wanted.
///
/// speexdsp keeps its place between two input frames as a fraction of `output`, and carries it over to a new ratio in
/// 32 bits. So `output` may not pass 65 535, and a ratio that can be reduced would round the place and click. All corrected
/// ratios therefore have one prime `output`, and an `input` that is no multiple of it: the place is carried over as it is.
/// Such ratios lie 15 parts per million apart. What the chosen one is off by is added up, and once that is half a frame the
/// neighbour on the other side of the wanted ratio takes over, which is seldom: each change costs a new filter table.
internal struct RatioControl {
    /// The largest prime below 65 536.
    private static let prime = 65_521

    /// Both rates, reduced, or the first corrected ratio where they cannot be that small.
    private(set) var ratio: Ratio
    private let uncorrectedInput: Double
    private var wantedInput: Double
    private var isSteered = false
    /// Input frames that should have been used up by now and were not.
    private var owed = 0.0

    init(from inputRate: SampleRate, to outputRate: SampleRate) {
        uncorrectedInput = Double(Self.prime) * Double(inputRate.hertz) / Double(outputRate.hertz)
        wantedInput = uncorrectedInput
        let divisor = Self.commonDivisor(inputRate.hertz, outputRate.hertz)
        ratio = Ratio(input: UInt32(inputRate.hertz / divisor), output: UInt32(outputRate.hertz / divisor))
        if ratio.output > UInt16.max {
            ratio = Ratio(input: UInt32(Self.input(atMost: uncorrectedInput)), output: UInt32(Self.prime))
            isSteered = true
        }
    }

    /// The ratios between which a correction by up to `partsPerMillion` stays, and those within at which speexdsp uses the
    /// longest tables: it halves their density each time the ratio passes a power of two.
    func extremes(within partsPerMillion: Double) -> [Ratio] {
        let reach = uncorrectedInput * partsPerMillion / 1_000_000
        let (lowest, highest) = (uncorrectedInput - reach, uncorrectedInput + reach)
        let steps = [2, 4, 8, 16].map { Double($0 * Self.prime) }.filter { lowest < $0 && $0 < highest }
        return ([lowest, highest] + steps).map {
            Ratio(input: UInt32(Self.input(atMost: $0)), output: UInt32(Self.prime))
        }
    }

    @_noAllocation @_noLocks
    mutating func correct(by partsPerMillion: Double) {
        wantedInput = uncorrectedInput * (1 + partsPerMillion / 1_000_000)
        if partsPerMillion != 0 { isSteered = true }
    }

    /// The ratio to change to, nil when the present one still serves.
    @_noAllocation @_noLocks
    mutating func nextRatio() -> Ratio? {
        guard isSteered else { return nil }
        let below = Self.input(atMost: wantedInput)
        let above = Self.input(above: wantedInput)
        let now = ratio.output == UInt32(Self.prime) ? Int(ratio.input) : 0
        let next: Int
        if owed > 0.5 {
            next = above
        } else if owed < -0.5 {
            next = below
        } else if now == below || now == above {
            next = now
        } else {
            next = wantedInput - Double(below) < Double(above) - wantedInput ? below : above
        }
        guard next != now else { return nil }
        ratio = Ratio(input: UInt32(next), output: UInt32(Self.prime))
        return ratio
    }

    @_noAllocation @_noLocks
    mutating func count(produced frames: Int) {
        guard isSteered else { return }
        owed += Double(frames) * (wantedInput - Double(ratio.input)) / Double(Self.prime)
    }

    /// Multiples of the prime are stepped over.
    @_noAllocation @_noLocks
    private static func input(atMost wanted: Double) -> Int {
        let whole = Int(wanted)
        return whole % prime == 0 ? whole - 1 : whole
    }

    @_noAllocation @_noLocks
    private static func input(above wanted: Double) -> Int {
        let whole = Int(wanted) + 1
        return whole % prime == 0 ? whole + 1 : whole
    }

    private static func commonDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : commonDivisor(other, one % other)
    }
}
