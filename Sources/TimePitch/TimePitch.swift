// Rate and pitch, apart from each other: a stretch (waveform similarity, place and length of each splice chosen together)
// before a transposer (a windowed sinc). This room never knows where sound comes from or goes to, no clock and no thread.
//
// Why it is ours. On 30 s of speech of several people, 48 kHz, stretched and stretched back by the same program, PESQ-WB; in
// brackets the mean log-spectral distance in dB from what was there, one way (less is better). With the programs of Debian 12:
//
//     rate            0.5            0.75           1.5            2
//     this            3.03 (1.10)    3.91 (0.98)    2.21 (1.22)    1.84 (1.51)
//     scaletempo2     2.99 (1.33)    3.01 (1.17)    1.98 (1.40)    1.64 (2.05)      mpv 0.35
//     SoundTouch      2.38 (1.09)    3.19 (1.01)    2.29 (1.17)    1.65 (1.37)      2.3.2; 40, 15 and 8 ms, as for speech
//     SoundTouch      1.68 (1.29)    2.40 (0.95)    1.54 (1.14)    1.22 (1.37)      as it comes
//     sonic           4.08 (1.54)    3.93 (1.14)    2.83 (1.50)    2.34 (1.88)      0.2.0; one voice only: on music it is the worst
//     music, this          (1.09)         (1.08)         (1.18)         (1.44)      chords, bass and drums, distance only
//     scaletempo2          (1.04)         (0.98)         (1.12)         (1.43)
//     SoundTouch           (1.36)         (1.03)         (1.00)         (1.27)      as it comes
//     sonic                (1.82)         (1.31)         (1.75)         (2.10)
//
// SoundTouch, besides, allocates, gives nothing for 100 ms and then changes it even at rate 1, and does not say where it comes
// from. Settings here were chosen on the same sound: more slack (25 ms, and splices of up to 25 ms) takes 0.1 dB from the
// distance on music and 0.5 from PESQ at 1.5, since speech wanders further from its place.

internal import Glibc
public import Sound

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

    private var stretch: Stretch
    private var transposer: Transposer

    public init(format: LPCMFormat) {
        self.format = format
        stretch = Stretch(channelCount: format.channelCount, lengths: StretchLengths(format.rate))
        transposer = Transposer(format)
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
                stretch.tempo == 1 ? max(stretch.need, min(room - produced, TransposerInput.block)) : stretch.need
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
        let count = min(max(transposer.need, room), TransposerInput.block)
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
