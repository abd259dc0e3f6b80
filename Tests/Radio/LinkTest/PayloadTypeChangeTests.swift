import Foundation
import TenfourAudioCore
import TenfourCallQuality
import TenfourJitterBuffer
import TenfourLinkTest
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourRadio

/// Streams that change between Opus and G.711 while they are played, from datagrams to audio.
struct PayloadTypeChangeTests {
    /// The timestamps after the change: continued at the new clock rate, or from another origin (RFC 7160 section
    /// 3.2).
    enum Counting: CaseIterable { case on, fromAnotherOrigin }

    /// Returns the packets of a tone of four seconds, half in each encoding.
    private func stream(_ encodings: [AudioEncoding], _ counting: Counting) throws -> [[UInt8]] {
        let tone = (0..<192_000).map { Float(0.5 * sin(2 * .pi * 440 * Double($0) / 48_000)) }
        var datagrams: [[UInt8]] = []
        var timestamp = RTPTimestamp(rawValue: .max - 40_000)
        for (index, encoding) in encodings.enumerated() {
            var coding = CodingSettings()
            coding.encoding = encoding
            coding.bitRate = 64_000
            let part = Array(tone[(96_000 * index)..<(96_000 * (index + 1))])
            if index > 0, counting == .fromAnotherOrigin { timestamp = RTPTimestamp(rawValue: 1_234_567_890) }
            for payload in try packets(of: part, coding) {
                let number = datagrams.count
                let header = RTPHeader(
                    marker: number == 0, payloadType: encoding.staticPayloadType ?? 111,
                    sequenceNumber: SequenceNumber(rawValue: 65_500).advanced(by: number), timestamp: timestamp,
                    ssrc: SSRC(9))
                datagrams.append(
                    [UInt8](capacity: 12 + payload.count) { datagram in
                        header.write(into: &datagram)
                        for byte in payload { datagram.append(byte) }
                    })
                timestamp = timestamp.advanced(by: FrameCount(960 / encoding.framesPerTick))
            }
        }
        return datagrams
    }

    private func packets(of tone: [Float], _ coding: CodingSettings) throws -> [[UInt8]] {
        var encoder = try StreamEncoder(coding)
        let step = 960 / coding.encoding.framesPerTick
        let samples = coding.encoding == .opus ? tone : stride(from: 0, to: tone.count, by: 6).map { tone[$0] }
        return try stride(from: 0, to: samples.count, by: step).map { start in
            var packet = [UInt8](repeating: 0, count: 1_276)
            let frame = Array(samples[start..<start + step])
            var space = packet.mutableSpan
            let count = try encoder.encode(frame.span, into: &space)
            return Array(packet[..<count])
        }
    }

    @Test(
        arguments: [
            [AudioEncoding.opus, .pcmu], [.pcmu, .opus], [.opus, .pcma], [.pcma, .opus], [.pcmu, .pcma],
        ], Counting.allCases)
    func soundGoesOn(encodings: [AudioEncoding], counting: Counting) throws {
        // With the same clock rate, timestamps from another origin are another timeline and not a change of the clock
        // rate.
        if encodings == [.pcmu, .pcma], counting == .fromAnotherOrigin { return }
        var receiver = try SimulatedReceiver(of: SSRC(9))
        var heard: [Float] = []
        for (number, datagram) in try stream(encodings, counting).enumerated() {
            let now = Instant.start + .milliseconds(20 * number)
            receiver.play(until: now) { sound, _ in for index in sound.indices { heard.append(sound[index]) } }
            receiver.receive(datagram.span, from: Endpoint(.v4(1), port: 1), at: now)
        }
        receiver.finish { sound, _ in for index in sound.indices { heard.append(sound[index]) } }
        let whole = receiver.report().whole
        #expect(whole.playout.resyncs == 0 && whole.playout.discarded == 0 && whole.lost == 0)
        #expect(whole.playout.concealed <= FrameCount(960), "at most one packet is made up: \(whole.playout)")
        #expect(whole.playout.decoded >= FrameCount(199 * 960))
        // Every 5 ms is audible, except the 6.5 ms of look-ahead of a new Opus encoder.
        let middle = heard.dropFirst(9_600).prefix(192_000 - 19_200)
        let levels = stride(from: middle.startIndex, to: middle.endIndex - 240, by: 240).map { start in
            middle[start..<start + 240].reduce(0) { max($0, abs($1)) }
        }
        let quietCount = levels.count { $0 < 0.3 }
        #expect(quietCount <= (encodings[1] == .opus ? 2 : 0), "\(quietCount) pieces of 5 ms are quiet")
    }
}
