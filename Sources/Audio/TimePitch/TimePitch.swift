internal import Glibc
public import TenfourAudioCore

/// Plays sound faster or slower and, apart from that, higher or lower; both may change while it runs, without a click or a gap.
///
/// At rate 1 and pitch 0 every sample passes as it is and without delay. Takes no more input than it needs for what is asked,
/// so that a new setting is heard at once. One thread at a time; nothing is allocated after `init`.
public struct TimePitch: ~Copyable, AudioEffect, Sendable {
    public let format: LPCMFormat

    /// How fast the sound goes, within `rates`: what is beyond is brought to the next of them. Takes hold with the next splice.
    public var rate: Double = 1 {
        didSet {
            rate = Self.rates.nearest(to: rate)
            turn()
        }
    }
    /// How much higher it sounds, in cents, within `pitches`. Takes hold within 10 ms.
    public var pitch: Double = 0 {
        didSet {
            pitch = Self.pitches.nearest(to: pitch)
            turn()
        }
    }

    /// Above 4 is skimming: what is heard are pieces.
    public static var rates: ClosedRange<Double> { 0.25...32 }
    /// Two octaves down and up.
    public static var pitches: ClosedRange<Double> { -2_400...2_400 }

    private var stretch: TimeStretcher
    private var transposer: PitchShifter

    public init(format: LPCMFormat) {
        self.format = format
        stretch = TimeStretcher(channelCount: format.channelCount, lengths: TimeStretcherLengths(format.rate))
        transposer = PitchShifter(format)
    }

    /// Where in its input, in frames since the beginning or the last `clear`, the next frame of output comes from.
    public var position: Double { transposer.input.position ?? stretch.position }

    public var latency: Double { Double(stretch.taken) - position }

    public mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        let (frames, room) = (input.count / format.channelCount, output.count / format.channelCount)
        var (consumed, produced) = (0, 0)
        while true {
            produced += transposer.give(into: &output, from: produced, isLast: false)
            guard produced < room else { break }
            if fill(atMost: room - produced, isLast: false) { continue }
            guard consumed < frames else { break }
            // At tempo 1 it needs one frame at a time, and takes what will be needed.
            let wanted =
                stretch.tempo == 1 ? max(stretch.need, min(room - produced, PitchShifterInput.block)) : stretch.need
            consumed += stretch.take(input, from: consumed, atMost: max(wanted, 1))
        }
        return EffectProgress(consumed: FrameCount(consumed), produced: FrameCount(produced))
    }

    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
        let room = output.count / format.channelCount
        var produced = 0
        repeat {
            produced += transposer.give(into: &output, from: produced, isLast: stretch.isEmpty)
        } while produced < room && fill(atMost: room - produced, isLast: true)
        if produced == 0, room > 0 { clear() }
        return FrameCount(produced)
    }

    public mutating func clear() {
        stretch.clear()
        transposer.clear()
    }

    /// Returns whether there was anything.
    private mutating func fill(atMost room: Int, isLast: Bool) -> Bool {
        transposer.input.makeRoom()
        let count = min(max(transposer.need, room), PitchShifterInput.block)
        return stretch.give(count, to: &transposer.input, isLast: isLast) > 0
    }

    private mutating func turn() {
        let ratio = exp2(pitch / 1_200)
        transposer.turn(to: ratio)
        stretch.tempo = rate / ratio
    }
}

extension ClosedRange<Double> {
    /// What is no number is brought to where it begins.
    fileprivate func nearest(to value: Double) -> Double {
        value >= lowerBound ? Swift.min(value, upperBound) : lowerBound
    }
}
