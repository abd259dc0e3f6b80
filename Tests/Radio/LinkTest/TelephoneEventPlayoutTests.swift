import Foundation
import TenfourAudioCore
import TenfourCallQuality
import TenfourJitterBuffer
import TenfourLinkTest
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourRadio

/// G.711 with telephone events and comfort noise in the same sequence, from datagrams to audio.
struct TelephoneEventPlayoutTests {
    /// The kind of packets that are sent in the place of some packets of audio.
    enum Other: CaseIterable {
        /// Events of 15 packets, while the timestamps go on.
        case event
        /// Events of 15 packets, while the timestamps stand still.
        case eventWithStoppedClock
        /// A pause of a second, with a packet of comfort noise every 200 ms.
        case comfortNoise
        /// Events between packets of audio, which goes on.
        case eventBesideAudio
    }

    private struct Stream {
        var datagrams: [(at: Duration, bytes: [UInt8])] = []
        var number = 0
        var samples: [UInt8] = []

        mutating func append(_ type: UInt8, timestamp: Int, _ payload: some Collection<UInt8>, at: Duration) {
            let header = RTPHeader(
                marker: number == 0, payloadType: type,
                sequenceNumber: SequenceNumber(rawValue: 65_400).advanced(by: number),
                timestamp: RTPTimestamp(rawValue: .max - 9_000).advanced(by: FrameCount(timestamp)), ssrc: SSRC(9))
            let bytes = [UInt8](capacity: 12 + payload.count) { datagram in
                header.write(into: &datagram)
                for byte in payload { datagram.append(byte) }
            }
            datagrams.append((at, bytes))
            number += 1
        }
    }

    /// Returns ten seconds of a tone, with three places in which `other` is.
    private func stream(_ other: Other) throws -> (Stream, audioCount: Int) {
        var coding = CodingSettings()
        coding.encoding = .pcmu
        var encoder = try StreamEncoder(coding)
        var stream = Stream()
        var (timestamp, audioCount) = (0, 0)
        for slot in 0..<500 {
            let at = Duration.milliseconds(20 * slot)
            let place = slot >= 100 ? slot % 100 : 99
            let length = other == .comfortNoise ? 50 : 15
            if place < length, other != .eventBesideAudio || place % 3 == 0 {
                if other == .comfortNoise {
                    if place % 10 == 0 { stream.append(13, timestamp: timestamp, [60], at: at) }
                } else {
                    let begin = other == .eventWithStoppedClock ? timestamp : (slot - place) * 160
                    stream.append(101, timestamp: begin, [7, 10, 0, UInt8(place)], at: at)
                }
                if other != .eventBesideAudio {
                    if other != .eventWithStoppedClock { timestamp += 160 }
                    continue
                }
            }
            var packet = [UInt8](repeating: 0, count: 160)
            var space = packet.mutableSpan
            let tone = (0..<160).map { Float(0.3 * sin(2 * .pi * 440 * Double(timestamp + $0) / 8_000)) }
            _ = try encoder.encode(tone.span, into: &space)
            stream.append(0, timestamp: timestamp, packet, at: at)
            timestamp += 160
            audioCount += 1
        }
        return (stream, audioCount)
    }

    @Test(arguments: Other.allCases) func nothingIsLostOrConcealed(other: Other) throws {
        let (stream, audioCount) = try stream(other)
        var receiver = try SimulatedReceiver(of: SSRC(9))
        var audible = 0
        func hear(_ sound: Span<Float>) {
            for index in sound.indices where abs(sound[index]) > 0.02 { audible += 1 }
        }
        for datagram in stream.datagrams {
            let now = Instant.start + datagram.at
            receiver.play(until: now) { sound, _ in hear(sound) }
            receiver.receive(datagram.bytes.span, from: Endpoint(.v4(1), port: 1), at: now)
        }
        receiver.finish { sound, _ in hear(sound) }
        let whole = receiver.report().whole
        #expect(whole.lost == 0 && whole.playout.discarded == 0 && whole.playout.resyncs == 0)
        let concealed = try #require(whole.concealedShare)
        #expect(concealed <= 0.01 && (whole.score ?? 0) >= 4.3, "\(concealed)")
        #expect((whole.delays.maximum ?? .zero) <= .milliseconds(60), "\(String(describing: whole.delays.maximum))")
        // A tone of amplitude 0.3 is louder than 0.02 in 95.8 % of its samples.
        let seconds = Double(audible) / 0.958 / 48_000
        #expect(abs(seconds - Double(audioCount) * 0.02) < 0.3, "\(seconds) s of \(audioCount) packets")
    }
}
