internal import TenfourAudioCore

/// The audio captured while the microphone is closed: the newest frames of one packet each. It never leaves the process
/// unless the microphone is opened, and a newer frame overwrites the oldest.
///
/// Use it on the capture thread only. Nothing is allocated after `init`.
struct PreRoll: ~Copyable, Sendable {
    /// The number of frames that are kept, oldest first.
    private(set) var count = 0
    private let capacity: Int
    private let sampleCount: Int
    private var samples: FixedBuffer<Float>
    /// The index of the oldest frame in the ring.
    private var oldest = 0

    /// The longest duration that is kept.
    private static let longest = Duration.milliseconds(500)

    /// Keeps `duration` of audio, rounded up to whole frames. A frame lasts `frame` and has `sampleCount` samples.
    init(lasting duration: Duration, of frame: Duration, sampleCount: Int) {
        let kept = min(max(duration, .zero), Self.longest)
        capacity = Int((kept / frame).rounded(.up))
        self.sampleCount = sampleCount
        samples = FixedBuffer(repeating: 0, count: max(capacity, 1) * sampleCount)
    }

    /// Keeps a frame in place of the oldest if there is no more room.
    @_noAllocation @_noLocks
    mutating func append(_ frame: borrowing FixedBuffer<Float>) {
        guard capacity > 0 else { return }
        if count == capacity { removeOldest() }
        let start = (oldest + count) % capacity * sampleCount
        for index in 0..<sampleCount { samples[start + index] = frame[index] }
        count += 1
    }

    /// Exchanges the samples of the oldest frame with those of `frame`. There must be a frame.
    @_noAllocation @_noLocks
    mutating func exchangeOldest(with frame: inout FixedBuffer<Float>) {
        let start = oldest * sampleCount
        for index in 0..<sampleCount {
            let sample = frame[index]
            frame[index] = samples[start + index]
            samples[start + index] = sample
        }
    }

    /// Removes the oldest frame. There must be one.
    @_noAllocation @_noLocks
    mutating func removeOldest() {
        oldest = (oldest + 1) % capacity
        count -= 1
    }

    /// Removes the oldest frames until `limit` are left.
    @_noAllocation @_noLocks
    mutating func removeOldest(downTo limit: Int) { while count > max(limit, 0) { removeOldest() } }

    @_noAllocation @_noLocks
    mutating func removeAll() { count = 0 }
}
