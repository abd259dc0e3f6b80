import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TestSupport

/// Feeds a jitter buffer with steps of eleven bytes: a packet or another event. Audio is pulled after each step.
func feedPlayout(_ bytes: Span<UInt8>) {
    guard bytes.count > 0 else { return }
    var trial = PlayoutTrial(
        PlayoutConfiguration(playoutDelay: bytes[0] & 1 == 0 ? .adaptive : .fixed(FrameCount(2_880))))
    for start in stride(from: 1, to: bytes.count - 10, by: 11) {
        switch bytes[start] {
        case 0..<4: trial.buffer.end()
        case 4..<8: trial.skip(FrameCount(Int(bytes.uint16(at: start + 1))))
        case 8: trial.begin()
        case 9..<12:
            trial.buffer.setRecoveryDemand(
                RecoveryDemand(
                    lookAhead: FrameCount(Int(bytes.uint16(at: start + 1))),
                    retransmissionTime: FrameCount(Int(bytes.uint16(at: start + 3))),
                    limit: FrameCount(Int(bytes.uint16(at: start + 5)))))
        default: trial.insert(bytes, at: start)
        }
        for _ in 0..<Int(bytes[start + 10] & 7) { trial.pull(bytes[start + 10] & 8 == 0 ? 240 : 1_024) }
    }
}

/// A jitter buffer, and the time. A payload holds its sequence number and the duration that the decoder finds in it,
/// which may differ from the duration that the packet claims.
private struct PlayoutTrial: ~Copyable {
    var buffer: JitterBuffer
    private var decoder = RecordingDecoder { bytes in
        bytes.count > 2 ? FrameCount(120 * (1 + Int(bytes[2]) % 48)) : nil
    }
    private var now = FrameCount.zero
    private var lastSequenceNumber: SequenceNumber?
    private var output = [Float](repeating: 0, count: 1_024)

    init(_ configuration: PlayoutConfiguration) {
        do {
            buffer = try JitterBuffer(format: .mono, configuration: configuration)
        } catch {
            preconditionFailure("\(error)")
        }
        buffer.begin(SSRC(1))
    }

    mutating func begin() {
        buffer.begin(SSRC(1))
        lastSequenceNumber = nil
    }

    /// Inserts a packet whose sequence number and timestamp are either near the current ones or arbitrary.
    mutating func insert(_ bytes: Span<UInt8>, at start: Int) {
        let kind = bytes[start]
        var (sequence, timestamp) = (bytes.uint16(at: start + 1), bytes.uint32(at: start + 3))
        if kind & 1 == 0 {
            sequence = UInt16(truncatingIfNeeded: now.rawValue / 960 + Int(sequence & 15)) &- 8
            timestamp = UInt32(truncatingIfNeeded: now.rawValue / 960 * 960 + Int(timestamp & 15) * 960) &- 7_680
        }
        var payload = [UInt8](repeating: 0xF8, count: kind & 0xC0 == 0 ? Int(bytes[start + 7]) * 8 : 20)
        if payload.count > 2 {
            (payload[0], payload[1], payload[2]) = (UInt8(sequence >> 8), UInt8(sequence & 255), bytes[start + 8])
        }
        let late = Int(Int16(bitPattern: bytes.uint16(at: start + 8))) / 4
        let arrival = buffer.insert(
            payload.span,
            PacketInfo(
                sequenceNumber: SequenceNumber(rawValue: sequence), timestamp: RTPTimestamp(rawValue: timestamp),
                frameCount: FrameCount(120 * (1 + Int(kind >> 2) % 48)), carriesFEC: kind & 2 != 0,
                origin: PacketOrigin(rawValue: kind >> 6) ?? .original),
            arrivedAt: now - FrameCount(late))
        if arrival == .resynchronised { lastSequenceNumber = nil }
        precondition(arrival != .queued || payload.count <= PacketQueue.maximumByteCount)
    }

    mutating func skip(_ frames: FrameCount) {
        buffer.skip(frames)
        now += frames
    }

    mutating func pull(_ frameCount: Int) {
        _ = decoder.pull(frameCount, from: &buffer, at: now, into: &output)
        now += FrameCount(frameCount)
        let calls = decoder.takeCalls()
        precondition(calls.count <= 300, "no audio comes of the calls")
        for call in calls {
            switch call {
            case .conceal(let frames):
                precondition(frames > .zero && frames <= FrameCount(960) && frames.rawValue % 120 == 0)
            case .recover(let frames):
                precondition(frames > .zero && frames <= FrameCount(5_760) && frames.rawValue % 120 == 0)
            case .decode(let payload):
                guard payload.count > 2 else { continue }
                let number = SequenceNumber(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
                precondition(lastSequenceNumber.map { number != $0 } ?? true, "decoded twice")
                lastSequenceNumber = number
            }
        }
    }
}
