internal import TenfourAudioCore

/// The number of input frames for a number of output frames.
internal struct Ratio: Equatable {
    var input: UInt32
    var output: UInt32
}

/// Chooses the resampler's ratio, so that on average audio is converted by exactly the wanted one.
///
/// speexdsp keeps its position between two input frames as a fraction of `output`, and converts it to a new ratio in 32
/// bits. So `output` must not exceed 65 535, and a ratio that can be reduced would round the position and click. All
/// corrected ratios therefore have the same prime `output` and an `input` that is no multiple of it, so that the
/// position stays as it is. These ratios lie 15 parts per million apart. The error of the chosen ratio is added up;
/// when it reaches half a frame, the neighbour on the other side of the wanted ratio is used. That is rare, because
/// each change costs a new filter table.
internal struct RatioControl {
    /// The largest prime below 65 536.
    private static let prime = 65_521

    /// Both rates, reduced; or the first corrected ratio if they cannot be reduced below 65 536.
    private(set) var ratio: Ratio
    private let uncorrectedInput: Double
    private var wantedInput: Double
    private var isCorrected = false
    /// Input frames that should have been consumed by now and were not.
    private var deficit = 0.0

    init(from inputRate: SampleRate, to outputRate: SampleRate) {
        uncorrectedInput = Double(Self.prime) * Double(inputRate.hertz) / Double(outputRate.hertz)
        wantedInput = uncorrectedInput
        let divisor = Self.commonDivisor(inputRate.hertz, outputRate.hertz)
        ratio = Ratio(input: UInt32(inputRate.hertz / divisor), output: UInt32(outputRate.hertz / divisor))
        if ratio.output > UInt16.max {
            ratio = Ratio(input: UInt32(Self.input(atMost: uncorrectedInput)), output: UInt32(Self.prime))
            isCorrected = true
        }
    }

    /// The bounds of the ratio for corrections up to `partsPerMillion`, and the ratios between them at which speexdsp
    /// needs the longest tables: it halves their density each time the ratio passes a power of two.
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
        if partsPerMillion != 0 { isCorrected = true }
    }

    /// The ratio to change to; nil if the present one stays.
    @_noAllocation @_noLocks
    mutating func nextRatio() -> Ratio? {
        guard isCorrected else { return nil }
        let below = Self.input(atMost: wantedInput)
        let above = Self.input(above: wantedInput)
        let now = ratio.output == UInt32(Self.prime) ? Int(ratio.input) : 0
        let next: Int
        if deficit > 0.5 {
            next = above
        } else if deficit < -0.5 {
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
        guard isCorrected else { return }
        deficit += Double(frames) * (wantedInput - Double(ratio.input)) / Double(Self.prime)
    }

    /// The largest usable input that is at most `wanted`: multiples of the prime are skipped.
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
