import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets

/// Feeds a playout controller with steps of eleven bytes: a packet or another event. Audio is pulled after each step.
func feedPlayout(_ bytes: Span<UInt8>) {
    guard bytes.count > 0 else { return }
    var trial = PlayoutTrial(
        PlayoutConfiguration(playoutDelay: bytes[0] & 1 == 0 ? .adaptive : .fixed(FrameCount(2_880))))
    for start in stride(from: 1, to: bytes.count - 10, by: 11) {
        switch bytes[start] {
        case 0..<4: trial.controller.end()
        case 4..<8: trial.skip(FrameCount(Int(bytes.uint16(at: start + 1))))
        case 8: trial.reset()
        case 9..<12:
            trial.repair(
                RecoveryDemand(
                    lookAhead: FrameCount(Int(bytes.uint16(at: start + 1))),
                    retransmissionTime: FrameCount(Int(bytes.uint16(at: start + 3))),
                    limit: FrameCount(Int(bytes.uint16(at: start + 5)))))
        default: trial.insert(bytes, at: start)
        }
        for _ in 0..<Int(bytes[start + 10] & 7) { trial.pull(FrameCount(bytes[start + 10] & 8 == 0 ? 240 : 1_024)) }
    }
}

/// A playout controller and its clock.
private struct PlayoutTrial: ~Copyable {
    var controller: PlayoutController
    private var now = FrameCount.zero
    private var lastSequence: Int64?

    private static let capacity = 32

    init(_ configuration: PlayoutConfiguration) {
        controller = PlayoutController(configuration: configuration, capacity: Self.capacity)
    }

    /// Inserts a packet whose sequence number and timestamp are either near the current ones or arbitrary.
    mutating func insert(_ bytes: Span<UInt8>, at start: Int) {
        let kind = bytes[start]
        var (sequence, timestamp) = (bytes.uint16(at: start + 1), bytes.uint32(at: start + 3))
        if kind & 1 == 0 {
            sequence = UInt16(truncatingIfNeeded: now.rawValue / 960 + Int(sequence & 15)) &- 8
            timestamp = UInt32(truncatingIfNeeded: now.rawValue / 960 * 960 + Int(timestamp & 15) * 960) &- 7_680
        }
        let payload = [UInt8](repeating: 0xF8, count: kind & 0xC0 == 0 ? Int(bytes[start + 7]) * 8 : 20)
        let late = Int(Int16(bitPattern: bytes.uint16(at: start + 8))) / 4
        let arrival = controller.insert(
            payload.span,
            PacketInfo(
                sequenceNumber: SequenceNumber(rawValue: sequence), timestamp: RTPTimestamp(rawValue: timestamp),
                frameCount: FrameCount(120 * (1 + Int(kind >> 2) % 48)), carriesFEC: kind & 2 != 0,
                origin: PacketOrigin(rawValue: kind >> 6) ?? .original),
            arrivedAt: now - FrameCount(late))
        if arrival == .resynchronised { lastSequence = nil }
        precondition(arrival != .queued || payload.count <= PacketQueue.maximumByteCount)
    }

    mutating func skip(_ frames: FrameCount) {
        controller.skip(frames)
        now += frames
    }

    mutating func repair(_ needs: RecoveryDemand) { controller.setRecoveryDemand(needs) }

    mutating func reset() {
        controller.reset()
        lastSequence = nil
    }

    /// Pulls audio as a jitter buffer does: operation by operation until there are enough frames.
    mutating func pull(_ wanted: FrameCount) {
        precondition(abs(controller.ratePartsPerMillion) <= 100_000)
        var produced = FrameCount.zero
        var emptyCount = 0
        while produced < wanted {
            let frames = perform(
                controller.nextOperation(at: now + produced, wanting: wanted - produced), wanting: wanted - produced)
            precondition(frames >= .zero)
            emptyCount = frames == .zero ? emptyCount + 1 : 0
            precondition(emptyCount <= Self.capacity + 2, "sound that never comes")
            produced += frames
        }
        now += wanted
    }

    private mutating func perform(_ operation: PlayoutOperation, wanting wanted: FrameCount) -> FrameCount {
        switch operation {
        case .silence(let frames):
            precondition(frames <= wanted)
            return frames
        case .conceal(let frames):
            precondition(frames > .zero && frames <= FrameCount(960) && frames.rawValue % 120 == 0)
            return frames
        case .recover(let frames, let entry):
            precondition(frames > .zero && frames <= entry.frameCount && frames.rawValue % 120 == 0)
            return frames
        case .decode(let entry, let skipping):
            precondition(skipping >= .zero && controller.payload(of: entry).count <= PacketQueue.maximumByteCount)
            precondition(entry.sequence > lastSequence ?? .min, "played twice, or out of order")
            lastSequence = entry.sequence
            return max(entry.frameCount - skipping, .zero)
        }
    }
}
