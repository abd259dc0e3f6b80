internal import Glibc
public import TenfourAudioCore

/// Changes the playback rate and the pitch independently. Both may change during playback without a click or a gap.
///
/// At rate 1 and pitch 0 every sample passes unchanged and without delay. Consumes no more input than the requested
/// output needs, so that a new setting is heard soon. For one thread at a time; allocates nothing after `init`.
public struct TimePitch: ~Copyable, AudioEffect, Sendable {
    public let format: LPCMFormat

    /// The playback rate, limited to `rates`. Takes effect at the next splice.
    public var rate: Double = 1 {
        didSet {
            rate = Self.rates.nearest(to: rate)
            setRatio()
        }
    }
    /// The pitch shift in cents, limited to `pitches`. Takes effect within 10 ms.
    public var pitch: Double = 0 {
        didSet {
            pitch = Self.pitches.nearest(to: pitch)
            setRatio()
        }
    }

    /// The permitted rates. Above rate 4 only fragments are heard, for skimming.
    public static var rates: ClosedRange<Double> { 0.25...32 }
    /// The permitted pitch shifts in cents: two octaves down and up.
    public static var pitches: ClosedRange<Double> { -2_400...2_400 }

    private var stretcher: TimeStretcher
    private var shifter: PitchShifter

    public init(format: LPCMFormat) {
        self.format = format
        stretcher = TimeStretcher(channelCount: format.channelCount, lengths: TimeStretcherLengths(format.rate))
        shifter = PitchShifter(format)
    }

    /// The input position of the next output frame, in frames since the start or the last `clear`.
    public var position: Double { shifter.input.position ?? stretcher.position }

    public var latency: Double { Double(stretcher.appendedCount) - position }

    public mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        let (frames, room) = (input.count / format.channelCount, output.count / format.channelCount)
        var (consumed, produced) = (0, 0)
        while true {
            produced += shifter.render(into: &output, from: produced, isLast: false)
            guard produced < room else { break }
            if fill(atMost: room - produced, isLast: false) { continue }
            guard consumed < frames else { break }
            // At tempo 1 the stretcher needs one frame at a time. More frames are appended at once, since all of them
            // will be needed.
            let requested =
                stretcher.tempo == 1
                ? max(stretcher.framesNeeded, min(room - produced, PitchShifterInput.block)) : stretcher.framesNeeded
            consumed += stretcher.append(input, from: consumed, atMost: max(requested, 1))
        }
        return EffectProgress(consumed: FrameCount(consumed), produced: FrameCount(produced))
    }

    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
        let room = output.count / format.channelCount
        var produced = 0
        repeat {
            produced += shifter.render(into: &output, from: produced, isLast: stretcher.isEmpty)
        } while produced < room && fill(atMost: room - produced, isLast: true)
        if produced == 0, room > 0 { clear() }
        return FrameCount(produced)
    }

    public mutating func clear() {
        stretcher.clear()
        shifter.clear()
    }

    /// Fills the shifter's input from the stretcher. Returns false if no frame was available.
    private mutating func fill(atMost room: Int, isLast: Bool) -> Bool {
        shifter.input.makeRoom()
        let count = min(max(shifter.framesNeeded, room), PitchShifterInput.block)
        return stretcher.render(count, to: &shifter.input, isLast: isLast) > 0
    }

    private mutating func setRatio() {
        let ratio = exp2(pitch / 1_200)
        shifter.setRatio(to: ratio)
        stretcher.tempo = rate / ratio
    }
}

extension ClosedRange<Double> {
    /// Returns the nearest value in the range; the lower bound for NaN.
    fileprivate func nearest(to value: Double) -> Double {
        value >= lowerBound ? Swift.min(value, upperBound) : lowerBound
    }
}
