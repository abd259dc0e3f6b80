internal import Glibc
public import TenfourAudioCore

/// Processes a microphone's audio in this order: microphone gain, high-pass, echo cancellation, noise suppression, gain
/// control.
///
/// The echo must be removed first, while the path from the loudspeaker is still linear: a noise suppressor or a gain
/// that changes is no path that a filter can learn. Gain control is last, so that it neither amplifies noise nor echo.
///
/// Unless only the gain is changed, it works on the mean of all channels, in blocks of 480 frames, at the capture
/// card's sample rate; 44 100 and 48 000 Hz are what it was tuned for. Use it on one thread at a time. Nothing is
/// allocated after `init`.
public struct VoiceProcessor: ~Copyable, Sendable {
    /// By how much the audio is delayed.
    public let delay: FrameCount
    /// The judgement of the microphone's level; nil if it is good, or nobody has talked for long enough.
    public private(set) var levelAdvice: LevelAdvice?
    /// The alignment of the reference; nil without echo cancellation.
    public var driftPartsPerMillion: Double? {
        switch reference {
        case .none: nil
        case .some(let reference): reference.driftPartsPerMillion
        }
    }

    /// The number of times at which the reference was moved, because a card stood still or its delay changed.
    public var referenceJumpCount: Int {
        switch reference {
        case .none: 0
        case .some(let reference): reference.jumpCount
        }
    }

    private static var blockLength: Int { EchoCanceller.blockLength }

    /// Whether more is changed than the gain.
    private let changesBlocks: Bool
    private let channelCount: Int
    private let gain: Float
    /// Whether pieces are whole numbers of blocks, so that no piece waits for the next.
    private let isWhole: Bool
    private var reference: EchoReference?
    private var highPass: HighPass
    private var canceller: EchoCanceller?
    private var gate = ResidualEchoGate()
    private var preprocessor: SpeexPreprocessor?
    private var monitor: LevelMonitor
    private var block = FixedBuffer<Float>(repeating: 0, count: blockLength)
    private var played = FixedBuffer<Float>(repeating: 0, count: blockLength)
    private var echo = FixedBuffer<Float>(repeating: 0, count: blockLength)
    private var filled = 0

    /// Creates a processor for pieces of `piece` frames of `format`. `reference` is needed for echo cancellation.
    public init(
        format: LPCMFormat, piece: FrameCount, settings: VoiceSettings, reference: consuming EchoReference? = nil
    ) {
        channelCount = format.channelCount
        let rate = format.rate.hertz
        gain = powf(10, max(-20, min(settings.microphoneGain, 30)) / 20)
        isWhole = piece.rawValue % Self.blockLength == 0
        let cancels = settings.cancelsEcho && reference != nil
        changesBlocks = cancels || settings.suppressesNoise || settings.controlsGain
        self.reference = reference
        canceller = cancels ? EchoCanceller() : nil
        highPass = HighPass(rate: Float(rate))
        let preprocesses = settings.suppressesNoise || settings.controlsGain
        preprocessor =
            preprocesses
            ? SpeexPreprocessor(
                rate: rate, blockLength: Self.blockLength, suppressesNoise: settings.suppressesNoise,
                controlsGain: settings.controlsGain) : nil
        monitor = LevelMonitor(rate: rate)
        let waits = changesBlocks && !isWhole
        delay = FrameCount((waits ? Self.blockLength : 0) + (preprocesses ? Self.blockLength : 0))
    }

    /// Processes the first `frameCount` frames of `sound` (interleaved) in place. The first frame was at the microphone
    /// at `time`; nil if that is not known, which leaves the alignment of the reference as it is.
    @_noAllocation @_noLocks
    public mutating func process(_ sound: inout FixedBuffer<Float>, frameCount: FrameCount, capturedAt time: Instant?) {
        guard let time else { return process(&sound, frameCount.rawValue) }
        begin(at: time)
        process(&sound, frameCount.rawValue)
    }

    /// Records that the card missed `frameCount` frames.
    @_noAllocation @_noLocks
    public mutating func skip(_ frameCount: FrameCount) { reference?.skip(frameCount) }

    @_noAllocation @_noLocks
    private mutating func begin(at time: Instant) {
        // The reference is read block by block, so it belongs to the frames that wait.
        reference?.begin(at: time, waiting: filled)
    }

    @_noAllocation @_noLocks
    private mutating func process(_ sound: inout FixedBuffer<Float>, _ frameCount: Int) {
        guard changesBlocks else { return amplify(&sound, frameCount) }
        var start = 0
        while start < frameCount {
            let count = frameCount - start < Self.blockLength - filled ? frameCount - start : Self.blockLength - filled
            for index in 0..<count {
                let frame = (start + index) * channelCount
                var sum: Float = 0
                for channel in 0..<channelCount { sum += sound[frame + channel] }
                let sample = Self.limited(sum / Float(channelCount) * gain)
                if !isWhole { for channel in 0..<channelCount { sound[frame + channel] = block[filled + index] } }
                block[filled + index] = sample
            }
            filled += count
            start += count
            guard filled == Self.blockLength else { continue }
            filled = 0
            Self.measure(block, with: &monitor, &levelAdvice)
            Self.filter(&block, with: &highPass)
            Self.cancelEcho(of: &played, in: &block, &reference, &canceller, &gate, through: &echo)
            Self.filter(&block, with: &preprocessor)
            guard isWhole else { continue }
            for index in 0..<Self.blockLength {
                let frame = (start - Self.blockLength + index) * channelCount
                for channel in 0..<channelCount { sound[frame + channel] = block[index] }
            }
        }
    }

    /// Changes the gain only, of each channel, and without delay.
    @_noAllocation @_noLocks
    private mutating func amplify(_ sound: inout FixedBuffer<Float>, _ frameCount: Int) {
        for frame in 0..<frameCount {
            var sum: Float = 0
            for channel in 0..<channelCount {
                let place = frame * channelCount + channel
                if gain != 1 { sound[place] = Self.limited(sound[place] * gain) }
                sum += sound[place]
            }
            block[filled] = Self.limited(sum / Float(channelCount))
            filled += 1
            guard filled == Self.blockLength else { continue }
            filled = 0
            Self.measure(block, with: &monitor, &levelAdvice)
        }
    }

    /// Limits a sample to full scale. A card may deliver numbers that are none; they become silence.
    @_noAllocation @_noLocks
    private static func limited(_ sample: Float) -> Float {
        sample >= -1 ? (sample <= 1 ? sample : 1) : (sample < -1 ? -1 : 0)
    }

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private static func measure(
        _ block: borrowing FixedBuffer<Float>, with monitor: inout LevelMonitor, _ advice: inout LevelAdvice?
    ) {
        monitor.record(block.span)
        advice = monitor.advice
    }

    /// Exempt from the compiler's allocation check, like `measure`.
    @_semantics("no_performance_analysis")
    private static func filter(_ block: inout FixedBuffer<Float>, with highPass: inout HighPass) {
        var samples = block.mutableSpan
        highPass.process(&samples)
    }

    /// Exempt from the compiler's allocation check, like `measure`.
    @_semantics("no_performance_analysis")
    private static func cancelEcho(
        of played: inout FixedBuffer<Float>, in block: inout FixedBuffer<Float>, _ reference: inout EchoReference?,
        _ canceller: inout EchoCanceller?, _ gate: inout ResidualEchoGate, through echo: inout FixedBuffer<Float>
    ) {
        guard canceller != nil else { return }
        var room = played.mutableSpan
        reference?.read(into: &room)
        var samples = block.mutableSpan
        var estimate = echo.mutableSpan
        canceller?.process(&samples, reference: played.span, echo: &estimate)
        gate.process(&samples, echo: echo.span)
    }

    /// Exempt from the compiler's allocation check, like `measure`.
    @_semantics("no_performance_analysis")
    private static func filter(_ block: inout FixedBuffer<Float>, with preprocessor: inout SpeexPreprocessor?) {
        var samples = block.mutableSpan
        preprocessor?.process(&samples)
    }
}

/// A high-pass of the second order at 80 Hz (Butterworth), against rumble and a card's offset.
struct HighPass: Sendable {
    private let b: Float
    private let a1: Float
    private let a2: Float
    private var z1: Float = 0
    private var z2: Float = 0

    init(rate: Float) {
        let k = tanf(.pi * 80 / rate)
        let norm = 1 / (1 + k * Float(2).squareRoot() + k * k)
        b = norm
        a1 = 2 * (k * k - 1) * norm
        a2 = (1 - k * Float(2).squareRoot() + k * k) * norm
    }

    mutating func process(_ samples: inout MutableSpan<Float>) {
        for index in samples.indices {
            let sample = samples[index]
            let result = b * sample + z1
            z1 = -2 * b * sample - a1 * result + z2
            z2 = b * sample - a2 * result
            samples[index] = result
        }
    }
}
