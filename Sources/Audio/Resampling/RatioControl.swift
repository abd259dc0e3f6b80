internal import TenfourAudioCore

/// A ratio of two sample rates: `input` input frames are converted to `output` output frames.
internal struct Ratio: Equatable {
    var input: UInt32
    var output: UInt32
}

/// Chooses the resampler's ratios, so that their mean is exactly the wanted ratio.
///
/// speexdsp stores its position between two input frames as a fraction with the denominator `output`, and converts this
/// fraction for a new ratio with 32-bit arithmetic. Therefore `output` must not exceed 65 535. A ratio that can be
/// reduced would round the position, which is heard as a click. So all corrected ratios have the same prime `output`
/// and an `input` that is no multiple of it, and the position never changes. Neighbouring ratios differ by 15 parts per
/// million. The error of the chosen ratio is summed up; when the sum reaches half a frame, the neighbour on the other
/// side of the wanted ratio is chosen. Such changes are rare, because each of them requires a new filter table.
internal struct RatioControl {
    /// The `output` of all corrected ratios: the largest prime below 65 536.
    private static let prime = 65_521

    /// The present ratio. Initially it is the exact ratio of the two rates in lowest terms; if its `output` exceeds 65
    /// 535, it is the nearest lower ratio with the prime `output`.
    private(set) var ratio: Ratio
    /// The exact number of input frames per `prime` output frames, without a correction.
    private let uncorrectedInput: Double
    /// The exact number of input frames per `prime` output frames, with the present correction.
    private var wantedInput: Double
    private var isCorrected = false
    /// The number of input frames that should have been consumed by now but were not; negative if too many were
    /// consumed.
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

    /// The lowest and highest ratio for corrections up to `partsPerMillion`, and the ratios in between for which
    /// speexdsp needs the longest filter tables. These are powers of two: each time the ratio exceeds a power of two,
    /// speexdsp halves the number of table values per frame.
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

    /// Returns the ratio to set in the resampler now; nil if the present ratio remains.
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

    /// Returns the largest permitted `input` that is at most `wanted`. Multiples of the prime are not permitted.
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
