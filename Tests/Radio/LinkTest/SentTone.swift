import Foundation
import TenfourAudioCore
import TenfourLinkTest
import TenfourPackets
import TenfourSession

@testable import TenfourRadio

/// A packet on its way to a receiver.
struct SentPacket {
    var at: Duration
    var sender: Endpoint
    var bytes: [UInt8]
}

/// A sender of a tone of amplitude 0.3 in PCMU or PCMA, in packets of one length.
struct SentTone {
    var sender = Endpoint(.v4(0xC000_0201), port: 40_000)
    var frequency = 440.0
    var ssrc = SSRC(9)
    var firstSequenceNumber: UInt16 = 65_400
    var firstTimestamp: UInt32 = .max - 9_000
    /// The duration of a packet in samples at 8000 Hz.
    var length = 160
    var encoding = AudioEncoding.pcmu
    var payloadType: UInt8 = 0

    /// Returns `count` packets. `at` is the time at which a packet arrives; `jump` is added to its timestamp.
    func packets(
        _ count: Int, at: (Int) -> Duration, jump: (Int) -> UInt32 = { _ in 0 }
    ) throws -> [SentPacket] {
        var coding = CodingSettings()
        coding.encoding = encoding
        var encoder = try StreamEncoder(coding)
        return try (0..<count).map { number in
            var payload: [UInt8] = []
            for start in stride(from: 0, to: length, by: 160) {
                var piece = [UInt8](repeating: 0, count: 160)
                var space = piece.mutableSpan
                let tone = (0..<160).map {
                    Float(0.3 * sin(2 * .pi * frequency * Double(number * length + start + $0) / 8_000))
                }
                _ = try encoder.encode(tone.span, into: &space)
                payload += piece
            }
            let header = RTPHeader(
                marker: number == 0, payloadType: payloadType,
                sequenceNumber: SequenceNumber(rawValue: firstSequenceNumber).advanced(by: number),
                timestamp: RTPTimestamp(rawValue: firstTimestamp &+ UInt32(number * length) &+ jump(number)),
                ssrc: ssrc)
            let bytes = [UInt8](capacity: 12 + payload.count) { datagram in
                header.write(into: &datagram)
                for byte in payload { datagram.append(byte) }
            }
            return SentPacket(at: at(number), sender: sender, bytes: bytes)
        }
    }
}

/// The audio that a receiver played.
struct HeardTone {
    var samples: [Float] = []

    /// Plays packets in the order of their arrival.
    init(_ packets: [SentPacket], through receiver: inout SimulatedReceiver) {
        for packet in packets.enumerated().sorted(by: { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }) {
            let now = Instant.start + .seconds(100) + packet.element.at
            receiver.play(until: now) { sound, _ in append(sound) }
            receiver.receive(packet.element.bytes.span, from: packet.element.sender, at: now)
        }
        receiver.finish { sound, _ in append(sound) }
    }

    private mutating func append(_ sound: Span<Float>) { for index in sound.indices { samples.append(sound[index]) } }

    /// Whether each window of 10 ms is louder than -34 dB.
    var windows: [Bool] {
        stride(from: 0, to: samples.count - 479, by: 480).map { start in
            samples[start..<start + 480].reduce(0) { $0 + $1 * $1 } / 480 > 0.0004
        }
    }

    /// The time that is heard, in seconds.
    var seconds: Double { Double(windows.count(where: \.self)) / 100 }

    /// The longest silence between two windows that are heard, in windows of 10 ms, in the first `seconds`.
    func longestGap(inFirst seconds: Double = .infinity) -> Int {
        let heard = windows.prefix(Int(min(seconds * 100, 1e9)))
        guard let first = heard.firstIndex(of: true), let last = heard.lastIndex(of: true) else { return heard.count }
        return heard[first...last].split(separator: true, omittingEmptySubsequences: true).map(\.count).max() ?? 0
    }
}
