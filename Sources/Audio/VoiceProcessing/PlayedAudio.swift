public import TenfourAudioCore
public import TenfourSystem

/// Audio that was written to the playback card, on its way to the capture thread.
public struct PlayedAudio: BitwiseCopyable, Sendable {
    /// The number of frames before this audio since the start, those that found no room in the ring buffer included.
    var position = 0
    var count = 0
    /// The time at which the card plays the first frame.
    var playedAt = Instant.start
    /// The mean of all channels.
    var samples = InlineArray<240, Float>(repeating: 0)

    public init() {}

    /// The number of slots that hold half a second at 48 000 Hz.
    public static var ringCapacity: Int { 128 }
}

/// The playback thread's end: passes on what the playback card plays.
public struct PlayedAudioWriter: ~Copyable, Sendable {
    private let ring: RingBufferProducer<PlayedAudio>
    private let channelCount: Int
    private let rate: Int
    private var position = 0
    private var slot = PlayedAudio()

    /// `format` is the playback card's.
    public init(_ ring: consuming RingBufferProducer<PlayedAudio>, format: LPCMFormat) {
        self.ring = ring
        channelCount = format.channelCount
        rate = format.rate.hertz
    }

    /// Passes on `sound` (interleaved), whose first frame the card plays at `time`.
    @_noAllocation @_noLocks
    public mutating func write(_ sound: borrowing FixedBuffer<Float>, playedAt time: Instant) {
        let frameCount = sound.count / channelCount
        var start = 0
        while start < frameCount {
            let count = frameCount - start < 240 ? frameCount - start : 240
            slot.position = position
            slot.count = count
            slot.playedAt = Instant(nanoseconds: time.nanoseconds &+ Int64(start) * 1_000_000_000 / Int64(rate))
            for index in 0..<count {
                var sum: Float = 0
                for channel in 0..<channelCount { sum += sound[(start + index) * channelCount + channel] }
                slot.samples[index] = sum / Float(channelCount)
            }
            _ = ring.push(slot)
            position += count
            start += count
        }
    }
}
