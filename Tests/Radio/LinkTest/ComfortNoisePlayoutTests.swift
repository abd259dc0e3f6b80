import Foundation
import TenfourAudioCore
import TenfourCallQuality
import TenfourJitterBuffer
import TenfourLinkTest
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourRadio

/// The noise in a talker's pauses (RFC 3389), from datagrams to audio.
struct ComfortNoisePlayoutTests {
    /// Two seconds of a tone, a pause of two seconds with these packets of comfort noise, and a second of the tone.
    private func hear(
        _ noise: [(packet: Int, payload: [UInt8])], delayingLastAudio delay: Duration = .zero
    ) throws -> (heard: HeardTone, whole: QualitySummary) {
        var tone = SentTone()
        func at(_ packet: Int) -> Duration { .milliseconds(20 * packet) }
        var packets = try tone.packets(100, at: at)
        packets[99].at += delay
        for (number, (packet, payload)) in noise.enumerated() {
            let header = RTPHeader(
                marker: false, payloadType: 13,
                sequenceNumber: SequenceNumber(rawValue: tone.firstSequenceNumber &+ UInt16(100 + number)),
                timestamp: RTPTimestamp(rawValue: tone.firstTimestamp &+ UInt32((100 + packet) * 160)), ssrc: tone.ssrc)
            let bytes = [UInt8](capacity: 12 + payload.count) { datagram in
                header.write(into: &datagram)
                for byte in payload { datagram.append(byte) }
            }
            packets.append(SentPacket(at: at(100 + packet), sender: tone.sender, bytes: bytes))
        }
        tone.firstSequenceNumber &+= UInt16(100 + noise.count)
        tone.firstTimestamp &+= 200 * 160
        packets += try tone.packets(50) { at(200 + $0) }
        var receiver = try SimulatedReceiver(of: tone.ssrc)
        let heard = HeardTone(packets, through: &receiver)
        return (heard, receiver.report().whole)
    }

    /// Returns the level between two times, in dB below full scale. The pause is heard from 2.3 to 3.9 s.
    private func level(_ heard: HeardTone, from begin: Double, to end: Double) -> Double {
        let samples = heard.samples[Int(begin * 48_000)..<Int(end * 48_000)]
        return -10 * log10(samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count) + 1e-20)
    }

    @Test(arguments: [30, 45, 60, 78]) func thePauseHasTheLevelOfTheNoise(decibels: Int) throws {
        let (heard, whole) = try hear([(0, [UInt8(decibels)])])
        #expect(abs(level(heard, from: 2.3, to: 3.9) - Double(decibels)) < 0.5)
        // The concealment of G.711 fades out in the first 60 ms.
        for begin in stride(from: 2.12, to: 3.9, by: 0.02) {
            #expect(abs(level(heard, from: begin, to: begin + 0.02) - Double(decibels)) < 4, "\(begin) s")
        }
        // The tone is the same before and after.
        for begin in [0.5, 4.3] { #expect(abs(level(heard, from: begin, to: begin + 0.4) - 13.5) < 0.3) }
        #expect(whole.lost == 0 && whole.playout.resyncs == 0 && whole.concealedShare ?? 1 <= 0.01)
    }

    @Test func noiseIsNeverLoud() throws {
        #expect(abs(level(try hear([(0, [0])]).heard, from: 2.3, to: 3.9) - 30) < 0.5)
    }

    @Test(arguments: [1, 10]) func repeatedDescriptionsDoNotRepeatTheNoise(interval: Int) throws {
        let noise = stride(from: 0, to: 100, by: interval).map { (packet: $0, payload: [40 as UInt8]) }
        let samples = try hear(noise).heard.samples[110_400..<187_200]
        let power = samples.reduce(0) { $0 + $1 * $1 }
        let product = zip(samples, samples.dropFirst(interval * 960)).reduce(0) { $0 + $1.0 * $1.1 }
        #expect(abs(product / power) < 0.1)
    }

    /// The last packet of audio arrives after the packet of noise.
    @Test func audioThatIsOvertakenDoesNotEndTheNoise() throws {
        let heard = try hear([(0, [40])], delayingLastAudio: .milliseconds(25)).heard
        #expect(abs(level(heard, from: 2.3, to: 3.9) - 40) < 0.5)
    }

    @Test func noiseEndsAfterAMinuteAndWithTheTalker() throws {
        guard let noise = ComfortNoise(parsing: [40 as UInt8].span) else { preconditionFailure("a level") }
        for leaves in [true, false] {
            var buffer = try JitterBuffer(format: .mono)
            var decoder = try RadioDecoder(DecoderConfiguration(PlayoutSettings().decoder))
            buffer.begin(SSRC(9))
            let number = SequenceNumber(rawValue: 7)
            let info = PacketInfo(
                sequenceNumber: number, timestamp: RTPTimestamp(rawValue: 0), frameCount: FrameCount(960),
                encoding: .pcmu)
            buffer.insert([UInt8](repeating: 0xFF, count: 160).span, info, arrivedAt: .zero)
            buffer.setComfortNoise(noise, after: number)
            var output = [Float](repeating: 0, count: 480)
            var noisyCount = 0
            for pull in 0..<6_200 {
                if leaves, pull == 100 { buffer.end() }
                var space = output.mutableSpan
                if buffer.pull(into: &space, at: FrameCount(480 * pull), with: &decoder) { noisyCount += 1 }
            }
            #expect((leaves ? 80...110 : 5_990...6_020).contains(noisyCount), "\(noisyCount) of 6200 pulls")
        }
    }

    @Test func withoutNoiseThePauseIsSilent() throws {
        let heard = try hear([]).heard
        #expect(level(heard, from: 2.3, to: 3.9) > 150)
    }

    @Test func aLaterPacketChangesTheNoise() throws {
        let heard = try hear([(0, [40]), (50, [60])]).heard
        #expect(abs(level(heard, from: 2.3, to: 2.9) - 40) < 0.5)
        #expect(abs(level(heard, from: 3.2, to: 3.9) - 60) < 0.5)
    }

    /// The interpolation makes low frequencies louder by 1.7 dB, and high ones quieter by 3.1 dB.
    @Test(arguments: 1...16 as ClosedRange<UInt64>) func aFilterShapesTheNoiseAndKeepsItsLevel(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let coefficients = (0..<Int.random(in: 1...10, using: &random)).map { _ in
            UInt8.random(in: 60...194, using: &random)
        }
        let heard = try hear([(0, [50] + coefficients)]).heard
        let found = level(heard, from: 2.3, to: 3.9)
        #expect((47.5...54).contains(found), "\(found) dB with \(coefficients)")
    }

    /// A single coefficient of 0.9 or -0.9 makes noise of low or high frequencies.
    @Test func theSignOfACoefficientIsThatOfTheFilter() throws {
        func steps(_ coefficient: UInt8) throws -> Double {
            let samples = try hear([(0, [40, coefficient])]).heard.samples[110_400..<187_200]
            let power = samples.reduce(0) { $0 + $1 * $1 }
            return Double(zip(samples, samples.dropFirst(6)).reduce(0) { $0 + $1.0 * $1.1 } / power)
        }
        #expect(try steps(241) < -0.4)
        #expect(try steps(13) > 0.8)
    }

    @Test(arguments: 1...16 as ClosedRange<UInt64>) func anyBytesGiveNoiseWithinFullScale(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let noise = [0, 10, 20, 50].map { packet in
            (
                packet,
                (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            )
        }
        let (heard, whole) = try hear(noise)
        #expect(heard.samples.allSatisfy { abs($0) <= 1 })
        #expect(whole.lost == 0 && abs(level(heard, from: 4.3, to: 4.7) - 13.5) < 0.3)
    }

    @Test func noiseBeforeTheFirstAudioIsNotPlayed() throws {
        let tone = SentTone()
        var receiver = try SimulatedReceiver(of: tone.ssrc)
        let header = RTPHeader(
            marker: false, payloadType: 13, sequenceNumber: SequenceNumber(rawValue: 1),
            timestamp: RTPTimestamp(rawValue: 1),
            ssrc: tone.ssrc)
        let bytes = [UInt8](capacity: 13) { datagram in
            header.write(into: &datagram)
            datagram.append(0)
        }
        let heard = HeardTone([SentPacket(at: .zero, sender: tone.sender, bytes: bytes)], through: &receiver)
        #expect(heard.samples.isEmpty)
    }
}
