internal import TenfourAudioCore

/// Fades out the end of audio whose length is not known in advance, by holding back as much as fades.
///
/// For one thread at a time.
struct EndFade: ~Copyable, Sendable {
    private let channelCount: Int
    /// The duration of the fade in frames; 0 for none.
    private let length: Int
    /// The frames held back, in a ring.
    private var held: FixedBuffer<Float>
    private var first = 0
    private var count = 0

    /// The longest fade.
    static let longest = Duration.seconds(60)

    init(_ duration: Duration, format: LPCMFormat) {
        channelCount = format.channelCount
        length = FrameCount(min(max(duration, .zero), Self.longest), at: format.rate).rawValue
        held = FixedBuffer(repeating: 0, count: max(length, 1) * channelCount)
    }

    /// Replaces the first frames of `samples` by those that need not be held back any more. Returns their number, at
    /// most `frameCount`.
    mutating func process(_ samples: inout FixedBuffer<Float>, frameCount: Int) -> Int {
        guard length > 0 else { return frameCount }
        var produced = 0
        for frame in 0..<frameCount {
            let isFull = count == length
            let place = (first + count) % length
            for channel in 0..<channelCount {
                let new = samples[frame * channelCount + channel]
                if isFull { samples[produced * channelCount + channel] = held[first * channelCount + channel] }
                held[place * channelCount + channel] = new
            }
            if isFull {
                first = (first + 1) % length
                produced += 1
            } else {
                count += 1
            }
        }
        return produced
    }

    /// Returns the frames held back, interleaved, which fade out to silence.
    mutating func finish() -> [Float] {
        var samples: [Float] = []
        samples.reserveCapacity(count * channelCount)
        for frame in 0..<count {
            let gain = Float(count - 1 - frame) / Float(count)
            let place = (first + frame) % length * channelCount
            for channel in 0..<channelCount { samples.append(held[place + channel] * gain) }
        }
        count = 0
        return samples
    }
}
