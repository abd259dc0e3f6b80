import Glibc
public import TenfourAudioCore
public import TenfourJitterBuffer

/// A decoder that plays a voiced tone and records its calls, so that a test can check how a jitter buffer fills the
/// time.
public struct RecordingDecoder: AudioDecoder, ~Copyable {
    /// One call of the jitter buffer.
    public enum Call: Equatable {
        /// A packet with this payload was decoded.
        case decode([UInt8])
        /// A loss of this number of frames was recovered from the in-band FEC of the next packet.
        case recover(FrameCount)
        case conceal(FrameCount)
    }

    /// The calls since the last `takeCalls`, oldest first.
    private var calls: [Call] = []
    private let frameCount: (Span<UInt8>) -> FrameCount?
    /// Whole periods of a tone of 150 Hz with harmonics. Time-scaling finds a period at any position of it.
    private let tone: [Float]
    private var position = 0

    private static let period = 320

    /// Creates a mono decoder. `frameCount` returns the number of frames of a payload, or nil if the decoder shall
    /// refuse it.
    public init(frameCount: @escaping (Span<UInt8>) -> FrameCount?) {
        self.frameCount = frameCount
        let longest = EncodedPacket.longestDuration.rawValue + Self.period
        tone = (0..<longest).map { frame in
            let phase = 2 * Float.pi * Float(frame % Self.period) / Float(Self.period)
            return 0.2 * sinf(phase + 0.3) + 0.1 * sinf(2 * phase + 1) + 0.05 * sinf(3 * phase + 2)
        }
    }

    /// Removes and returns the recorded calls.
    public mutating func takeCalls() -> [Call] {
        defer { calls.removeAll(keepingCapacity: true) }
        return calls
    }

    /// Pulls `frameCount` frames into the front of `output` from a buffer that decodes with `self`.
    public mutating func pull(
        _ frameCount: Int, from buffer: inout JitterBuffer, at position: FrameCount, into output: inout [Float]
    ) -> Bool {
        var span = output.mutableSpan
        var part = span._mutatingExtracting(0..<frameCount)
        return buffer.pull(into: &part, at: position, with: &self)
    }

    public mutating func decode(
        _ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> FrameCount? {
        let payload = packet.bytes
        calls.append(.decode((0..<payload.count).map { payload[$0] }))
        guard let frames = frameCount(payload) else { return nil }
        play(frames, into: &samples)
        return frames
    }

    public mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> Bool {
        calls.append(.recover(frameCount))
        play(frameCount, into: &samples)
        return true
    }

    public mutating func conceal(
        _ frameCount: FrameCount, into samples: inout MutableSpan<Float>
    ) -> ConcealmentMethod? {
        calls.append(.conceal(frameCount))
        play(frameCount, into: &samples)
        return .plain
    }

    public mutating func reset() { position = 0 }

    private mutating func play(_ frames: FrameCount, into samples: inout MutableSpan<Float>) {
        precondition(frames.rawValue <= samples.count, "the jitter buffer lends less space than it asks for")
        unsafe samples.withUnsafeMutableBufferPointer { output in
            unsafe tone.withUnsafeBufferPointer { tone in
                unsafe output.baseAddress!.update(from: tone.baseAddress! + position, count: frames.rawValue)
            }
        }
        position = (position + frames.rawValue) % Self.period
    }
}
