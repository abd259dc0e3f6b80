internal import Glibc

/// Adds a signal tone to audio on its way to a loudspeaker.
///
/// For one thread at a time, which may be an audio thread: no function allocates or blocks.
public struct SignalToneGenerator: BitwiseCopyable, Sendable {
    /// The tone that is being played; nil if none is.
    public private(set) var tone: SignalTone?

    private let format: LPCMFormat
    private let amplitude: Float
    /// The index of the note that is being played.
    private var index = 0
    /// The number of frames of it that were played.
    private var played = 0

    /// The time in which a note begins and ends, so that it does not click: 5 ms.
    private static var rampMilliseconds: Int { 5 }

    /// Creates a generator of silence. `decibels` is the level of a note's peak relative to full scale; default: −15,
    /// about as loud as speech.
    public init(format: LPCMFormat, decibels: Float = -15) {
        self.format = format
        amplitude = powf(10, decibels / 20)
    }

    /// Begins a tone. It replaces a tone that is being played.
    @_noAllocation @_noLocks
    public mutating func begin(_ tone: SignalTone) {
        self.tone = tone
        index = 0
        played = 0
    }

    /// Adds the next part of the tone to `samples`: interleaved frames of `format`. Sums beyond full scale are limited
    /// to it.
    @_noAllocation @_noLocks
    public mutating func add(to samples: inout MutableSpan<Float>) {
        guard let tone else { return }
        var position = 0
        while let note = tone.note(index) {
            let length = note.milliseconds * format.rate.hertz / 1_000
            while played < length {
                guard position + format.channelCount <= samples.count else { return }
                if note.hertz > 0 {
                    let sample = sample(of: note, length)
                    for channel in 0..<format.channelCount {
                        samples[position + channel] = max(min(samples[position + channel] + sample, 1), -1)
                    }
                }
                played += 1
                position += format.channelCount
            }
            index += 1
            played = 0
        }
        self.tone = nil
    }

    /// The sample at `played` in a note of `length` frames.
    @_noAllocation @_noLocks
    private func sample(of note: SignalNote, _ length: Int) -> Float {
        let ramp = Self.rampMilliseconds * format.rate.hertz / 1_000
        let edge = Float(min(min(played, length - 1 - played), ramp)) / Float(ramp)
        // Leaves out whole periods, so that the phase stays exact.
        let periods = Float(played) * note.hertz / Float(format.rate.hertz)
        let phase = periods - Float(Int(periods))
        return amplitude * edge * Self.sine(phase)
    }

    /// The sine of `phase` periods. Exempt from the compiler's allocation check, which knows nothing of C's `sinf`. It
    /// neither allocates nor locks.
    @_semantics("no_performance_analysis")
    private static func sine(_ phase: Float) -> Float { sinf(2 * .pi * phase) }
}
