import TenfourAudioCore
import TenfourPackets
import TenfourWeb

/// A timeline whose clock is a tick of 100 ms, or of 20 ms, and the packets that it has put out.
struct Scene {
    var timeline = LiveTimeline(at: .start)
    var now = Instant.start
    var packets: [LivePacket] = []

    private var tick = Instant.start

    /// Adds a packet and returns its payload. Then time passes.
    @discardableResult
    mutating func insert(
        _ packet: SimulatedTalker.Packet, isOriginal: Bool = true, after pause: Duration = .zero
    ) -> [UInt8] {
        timeline.insert(
            packet.payload.span, from: packet.ssrc, SequenceNumber(rawValue: packet.sequenceNumber),
            RTPTimestamp(rawValue: packet.timestamp), marker: packet.marker, isOriginal: isOriginal, at: now)
        run(for: pause)
        return packet.payload
    }

    mutating func run(for time: Duration) {
        let end = now + time
        while tick <= end {
            now = tick
            timeline.advance(to: now) { packets.append($0) }
            tick = tick + .milliseconds(20)
        }
        now = end
    }

    var audio: [[UInt8]] { packets.filter { $0.content == .audio }.map(\.payload) }

    func count(_ content: LivePacket.Content) -> Int { packets.count { $0.content == content } }

    /// How far the sequence reaches beyond the present.
    var ahead: Duration { timeline.cursor.duration() - (now - .start) }

    /// Whether each packet begins where the one before it ended, and is as long as its payload says.
    var isGapless: Bool {
        var cursor = FrameCount.zero
        for packet in packets {
            guard packet.start == cursor, let opus = try? OpusPacket(parsing: packet.payload.span),
                opus.frameCount == packet.frameCount
            else { return false }
            cursor = packet.end
        }
        return cursor == timeline.cursor
    }
}

/// A talker whose payloads all differ.
struct SimulatedTalker {
    struct Packet {
        var ssrc: SSRC
        var sequenceNumber: UInt16
        var timestamp: UInt32
        var marker: Bool
        var payload: [UInt8]
    }

    var sequenceNumber: UInt16
    var timestamp: UInt32

    private let ssrc: SSRC
    private let frameCount: FrameCount
    private var count = 0

    init(
        _ ssrc: UInt32, frameCount: FrameCount = FrameCount(960), sequenceNumber: UInt16 = 0, timestamp: UInt32 = 0
    ) {
        self.ssrc = SSRC(ssrc)
        self.frameCount = frameCount
        (self.sequenceNumber, self.timestamp) = (sequenceNumber, timestamp)
    }

    mutating func next() -> Packet {
        defer {
            count += 1
            sequenceNumber &+= 1
            timestamp &+= UInt32(frameCount.rawValue)
        }
        return Packet(
            ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: timestamp, marker: count == 0, payload: payload)
    }

    /// Lets the talker's clock run on without packets.
    mutating func skip(_ frames: FrameCount) { timestamp &+= UInt32(frames.rawValue) }

    /// An Opus packet of the talker's duration with its number in the audio; 120 ms are two frames of 60 ms (code 3).
    private var payload: [UInt8] {
        let number: [UInt8] = [UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
        let content = number + [UInt8(truncatingIfNeeded: ssrc.rawValue), 7]
        return switch frameCount.rawValue {
        case 120: [28 << 3] + content
        case 240: [29 << 3] + content
        case 480: [30 << 3] + content
        case 960: [9 << 3] + content
        case 1_920: [10 << 3] + content
        case 2_880: [11 << 3] + content
        default: [11 << 3 | 3, 2] + content
        }
    }
}
