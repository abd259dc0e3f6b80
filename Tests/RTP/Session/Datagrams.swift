import TenfourAudioCore
import TenfourPackets
import TenfourSession
import TestSupport

// Datagrams as others would send them, and the places they come from.

let alice = Endpoint(.v4(0xC000_0201), port: 5_004)
let bob = Endpoint(.v4(0xC000_0202), port: 5_004)
let carol = Endpoint(.v4(0xC000_0203), port: 5_004)

/// 20 ms of Opus.
let opusPacket: [UInt8] = [0xF8] + [UInt8](repeating: 7, count: 79)

func media(
    _ ssrc: SSRC, _ number: Int = 0, payloadType: UInt8 = 111, payload: [UInt8] = opusPacket
) -> [UInt8] {
    [UInt8](capacity: 12 + payload.count) { datagram in
        RTPHeader(
            marker: number == 0, payloadType: payloadType,
            sequenceNumber: SequenceNumber(rawValue: 65_535).advanced(by: number),
            timestamp: RTPTimestamp(rawValue: .max - 100).advanced(by: FrameCount(number * 960)), ssrc: ssrc
        ).write(into: &datagram)
        for byte in payload { datagram.append(byte) }
    }
}

/// An empty receiver report, and what follows it.
func report(
    _ ssrc: SSRC, _ blocks: [ReportBlock] = [], canonicalName: String? = nil, name: String? = nil,
    goodbye: Goodbye? = nil
) -> [UInt8] {
    [UInt8](capacity: 1_500) { datagram in
        ReceiverReport(ssrc: ssrc, blocks: blocks).write(into: &datagram)
        let canonicalName = canonicalName ?? "station \(ssrc.rawValue)"
        SourceDescription(ssrc: ssrc, canonicalName: canonicalName, name: name).write(into: &datagram)
        goodbye?.write(into: &datagram)
    }
}

func goodbye(_ ssrc: SSRC, reason: String? = nil) -> [UInt8] {
    report(ssrc, goodbye: Goodbye(sources: [ssrc], reason: reason))
}

func session(_ ssrc: UInt32 = 1, _ configuration: RTPSessionConfiguration = .init()) -> RTPSession {
    RTPSession(identity: Identity(ssrc: SSRC(ssrc), seed: UInt64(ssrc)), configuration: configuration, at: .start)
}

extension RTPSession {
    mutating func receive(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) -> Reception {
        receive(datagram.span, from: sender, at: now)
    }

    mutating func send(_ number: Int, startsTalkspurt: Bool = false, at now: Instant) {
        let payload = opusPacket
        send(payload.span, at: FrameCount(number * 960), startsTalkspurt: startsTalkspurt, now: now)
    }

    /// All that waits to be sent.
    mutating func takeDatagrams(at now: Instant = .start) -> [SentDatagram] {
        var all: [SentDatagram] = []
        while true {
            var destination: Destination?
            let bytes = [UInt8](capacity: Self.maximumDatagramByteCount) { destination = nextDatagram(into: &$0) }
            guard let destination else { return all }
            all.append(SentDatagram(at: now, destination, bytes))
        }
    }

    mutating func takeEvents() -> [Event] {
        var all: [Event] = []
        while let event = nextEvent() { all.append(event) }
        return all
    }

    /// Lets all deadlines until `end` come.
    mutating func wait(until end: Instant) {
        while let deadline = nextDeadline, deadline <= end { timeElapsed(at: deadline) }
    }
}

func seconds(_ seconds: Double) -> Instant { .start + .seconds(seconds) }
