import Synchronization
public import TenfourAudioCore
import TenfourSoundCard
import TenfourSystem

/// Samples that tell their position in the second: 0.1 to 0.9.
public enum CodedPosition {
    /// Returns the sample of a frame. The precision of 16 bits is a thirtieth of a millisecond.
    public static func value(at frame: Int, rate: Int) -> Float { 0.1 + 0.8 * Float(frame % rate) / Float(rate) }

    /// Returns the position in its second that a sample stands for; nil for silence and fades.
    public static func fraction(of value: Float) -> Double? { value < 0.099 ? nil : Double((value - 0.1) / 0.8) }
}

/// Captures a loopback card, which plays the samples of `CodedPosition` at 48 kHz, until `finish`.
public final class LoopbackEar {
    private let isOver = Flag()
    private let heard = Locked(Heard())
    private var thread: AudioThread?

    public init(_ device: String) throws {
        let card = try CaptureCard(device: device, period: FrameCount(480))
        let (isOver, heard) = (isOver, heard)
        thread = try AudioThread("ear", priority: 60, work: card) { card, _ in
            var card = card
            var samples = [Float](repeating: 0, count: card.frame.rawValue)
            while !isOver.value.load(ordering: .acquiring) {
                var span = samples.mutableSpan
                guard case .captured(let at) = card.read(into: &span) else { continue }
                heard.withLock { heard in
                    heard.start = heard.start ?? at
                    // Inserts silence for the frames lost in an overrun.
                    let due = FrameCount(at - (heard.start ?? at)).rawValue
                    if due > heard.samples.count + 48 {
                        heard.samples += [Float](repeating: 0, count: due - heard.samples.count)
                    }
                    heard.samples += samples
                }
            }
        }
    }

    /// Ends the capture and returns what was heard.
    public func finish() -> Heard {
        isOver.value.store(true, ordering: .releasing)
        thread.take()?.join()
        return heard.withLock { $0 }
    }

    private final class Flag: Sendable { let value = Atomic(false) }

    /// The captured output of a card and its time.
    public struct Heard: Sendable {
        public fileprivate(set) var samples: [Float] = []
        /// The time of the first sample.
        fileprivate var start: Instant?

        /// Returns the position in its second that is heard at `moment`; nil for silence, fades and splices.
        public func fraction(at moment: Instant) -> Double? {
            guard let start else { return nil }
            let index = FrameCount(moment - start).rawValue
            guard index >= 100, index + 100 < samples.count,
                let fraction = CodedPosition.fraction(of: samples[index])
            else { return nil }
            // Requires the surrounding samples to be consecutive.
            for distance in [-96, -48, 48, 96] {
                let expected = Double(distance) / 48_000
                guard let other = CodedPosition.fraction(of: samples[index + distance]),
                    abs(other - fraction - expected) < 0.0002
                else { return nil }
            }
            return fraction
        }
    }
}
