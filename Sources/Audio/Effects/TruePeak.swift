internal import Glibc
public import TenfourAudioCore

/// Measures the true peak by ITU-R BS.1770: the highest level between the samples, after oversampling by four.
///
/// For one thread at a time; allocates nothing after `init`.
public struct TruePeakMeter: ~Copyable, Sendable {
    public let format: LPCMFormat

    private var interpolator: TruePeakInterpolator
    private var power: Float = 0

    public init(format: LPCMFormat) {
        self.format = format
        interpolator = TruePeakInterpolator(channelCount: format.channelCount)
    }

    /// The highest level so far, in decibels above full scale (dBTP); −infinity if all was silence.
    public var peak: Double { power > 0 ? 10 * log10(Double(power)) : -.infinity }

    /// Measures `samples` (interleaved). The last six frames are measured with the next samples: append six frames of
    /// silence at the end.
    @_noAllocation @_noLocks
    public mutating func append(_ samples: Span<Float>) {
        for frame in 0..<samples.count / format.channelCount {
            for channel in 0..<format.channelCount {
                let sample = samples[frame * format.channelCount + channel]
                power = max(power, max(sample * sample, interpolator.power(after: sample, channel: channel)))
            }
            interpolator.advance()
        }
    }

    public mutating func clear() {
        interpolator.clear()
        power = 0
    }
}

/// Interpolates three and more values between samples, with the filter of ITU-R BS.1770-4, annex 2: four phases of
/// twelve taps.
struct TruePeakInterpolator: ~Copyable, Sendable {
    /// The number of frames by which the interpolated values lag behind the samples. They lie around the sample that was
    /// entered as many frames ago.
    static var delay: Int { @_noAllocation @_noLocks get { 6 } }
    /// The factor by which an interpolated value can exceed the samples: the sum of the magnitudes of a phase.
    static var maximumGain: Float { @_noAllocation @_noLocks get { 2.03 } }

    static var tapCount: Int { @_noAllocation @_noLocks get { 12 } }

    /// The taps of the four phases, from the oldest sample to the newest.
    private var taps: FixedBuffer<SIMD4<Float>>
    /// The last twelve samples of each channel, twice, so that twelve in a row are always there.
    private var history: FixedBuffer<Float>
    /// The index of the oldest sample in `history`.
    private var place = 0

    init(channelCount: Int) {
        let first: [Float] = [
            0.001_708_984_375, 0.010_986_328_125, -0.019_653_320_312_5, 0.033_203_125, -0.059_448_242_187_5,
            0.137_329_101_562_5, 0.972_167_968_75, -0.102_294_921_875, 0.047_607_421_875, -0.026_611_328_125,
            0.014_892_578_125, -0.008_300_781_25,
        ]
        let second: [Float] = [
            -0.029_174_804_687_5, 0.029_296_875, -0.051_757_812_5, 0.089_111_328_125, -0.166_503_906_25,
            0.465_087_890_625, 0.779_785_156_25, -0.200_317_382_812_5, 0.101_562_5, -0.058_227_539_062_5,
            0.033_081_054_687_5, -0.018_920_898_437_5,
        ]
        taps = FixedBuffer(repeating: .zero, count: Self.tapCount)
        history = FixedBuffer(repeating: 0, count: 2 * Self.tapCount * channelCount)
        for index in 0..<Self.tapCount {
            let mirrored = Self.tapCount - 1 - index
            // The third and fourth phase are the second and first in reverse.
            taps[index] = SIMD4(first[mirrored], second[mirrored], second[index], first[index])
        }
    }

    /// Enters a sample of `channel` and returns the greatest square of the four values that are now known.
    @_noAllocation @_noLocks
    mutating func power(after sample: Float, channel: Int) -> Float {
        enter(sample, channel: channel)
        let start = channel * 2 * Self.tapCount + place + 1
        var sum = SIMD4<Float>.zero
        for index in 0..<Self.tapCount { sum += taps[index] * history[start + index] }
        let squares = sum * sum
        return max(max(squares[0], squares[1]), max(squares[2], squares[3]))
    }

    /// Enters a sample of `channel` without interpolating.
    @_noAllocation @_noLocks
    mutating func enter(_ sample: Float, channel: Int) {
        let start = channel * 2 * Self.tapCount
        history[start + place] = sample
        history[start + Self.tapCount + place] = sample
    }

    /// Ends a frame, after a sample of each channel.
    @_noAllocation @_noLocks
    mutating func advance() { place = place + 1 == Self.tapCount ? 0 : place + 1 }

    mutating func clear() {
        for index in 0..<history.count { history[index] = 0 }
    }
}
