import CAllocations
import Foundation
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator
import TenfourOpusCodec
import TenfourPackets
import TenfourSeededRandom
import Testing

@testable import TenfourRadio

/// Speech over a network that loses, delays, stalls and reorders packets, on a clock that only the test moves.
@Suite struct BadNetworkTests {
    @Test func nothingIsAllocatedThroughLossStretchResyncAndAnotherTalker() throws {
        // The first run may allocate: it fills the Swift runtime's caches of generic types.
        var counts: [UInt] = []
        for _ in 0..<2 {
            var hearing = try Hearing()
            hearing.hear(seconds: 24)
            counts.append(hearing.allocationCount)
            let statistics = hearing.buffer.statistics
            #expect(statistics.concealed > .zero && statistics.timeScaled > .zero)
            #expect(statistics.recovered > .zero && statistics.recoveredByCopy > .zero)
            #expect(hearing.resyncCount > 0 && hearing.talkerCount == 2)
        }
        #expect(counts[1] == 0)
    }

    @Test func theTempoStaysWithinTenPercentInAnySecondOfSpeech() throws {
        var hearing = try Hearing(losses: 0)
        hearing.stall = 250..<300
        hearing.hear(seconds: 24, upTo: 1_000)
        // Playing 10 % faster leaves out at most 4800 frames in each second.
        let timeScaled = hearing.timeScaled
        let most = timeScaled.indices.dropFirst(200).map { timeScaled[$0] - timeScaled[$0 - 200] }.max() ?? 0
        #expect(most <= 4_800, "\(most) frames")
        #expect(most > 3_600)
        #expect(hearing.buffer.statistics.delay < FrameCount(1_920), "the delay added by the stall is reduced again")
    }

    @Test func thePlayoutDelayIsReducedInAPause() throws {
        var steady = try Hearing(losses: 0)
        var halting = try Hearing(losses: 0, pauses: true)
        steady.stall = 100..<150
        halting.stall = 100..<150
        steady.hear(seconds: 8, upTo: 400)
        halting.hear(seconds: 8, upTo: 400)
        let (later, sooner) = (steady.buffer.statistics.delay, halting.buffer.statistics.delay)
        #expect(sooner < later, "\(sooner) and \(later)")
    }
}

/// A jitter buffer with its decoder, fed over a bad network.
private struct Hearing: ~Copyable {
    var buffer: JitterBuffer
    private var decoder: RadioDecoder
    /// The numbers of the packets that are held back and arrive together, with the last of them.
    var stall = 0..<0
    private(set) var allocationCount: UInt = 0
    private(set) var resyncCount = 0
    private(set) var talkerCount = 1
    /// The total number of time-scaled frames after each pull of 5 ms.
    private(set) var timeScaled: [Int] = []

    private let losses: Double
    private let packets: [[UInt8]]
    private var arriving: [(at: Int, packet: IncomingPacket)] = []

    private static let period = 240

    init(losses: Double = 0.1, pauses: Bool = false) throws {
        let spoken = try Self.speech(pauses: pauses)
        let buffer = try JitterBuffer(format: .mono)
        let decoder = try RadioDecoder()
        self.buffer = buffer
        self.decoder = decoder
        self.losses = losses
        packets = spoken
    }

    /// Returns encoded vowels of changing pitch: FEC is used for such speech, and its pitch periods can be found.
    private static func speech(pauses: Bool) throws -> [[UInt8]] {
        var settings = OpusEncoderSettings()
        settings.inBandFEC = true
        settings.expectedLoss = 20
        settings.signal = .speech
        var encoder = try OpusEncoder(settings: settings)
        var phase = 0.0
        return try (0..<1_200).map { number in
            let frame = (0..<960).map { index -> Float in
                let time = Double(number) * 0.02 + Double(index) / 48_000
                phase += 2 * .pi * (140 + 40 * sin(time * 2)) / 48_000
                let isPause = pauses && time.truncatingRemainder(dividingBy: 1) > 0.7
                let loudness = isPause ? 0.0001 : 0.2 + 0.1 * sin(time * 19)
                return Float(loudness * (sin(phase) + 0.5 * sin(2 * phase) + 0.3 * sin(5 * phase)))
            }
            var packet = [UInt8](repeating: 0, count: 1_276)
            var bytes = packet.mutableSpan
            let length = try encoder.encode(frame.span, into: &bytes)
            packet.removeSubrange(length...)
            return packet
        }
    }

    /// Plays for this duration. With `upTo`, packets are sent up to this number and only the stall happens; without
    /// it, all kinds of damage happen.
    mutating func hear(seconds: Int, upTo last: Int? = nil) {
        send(everything: last == nil, count: last ?? packets.count)
        var sound = [Float](repeating: 0, count: Self.period)
        buffer.begin(SSRC(1))
        for position in stride(from: 0, to: seconds * 48_000, by: Self.period) {
            while let next = arriving.last, next.at <= position {
                arriving.removeLast()
                let before = allocations_of_this_thread()
                take(next.packet, arrivedAt: FrameCount(next.at))
                allocationCount += allocations_of_this_thread() - before
            }
            let before = allocations_of_this_thread()
            var room = sound.mutableSpan
            _ = buffer.pull(into: &room, at: FrameCount(position), with: &decoder)
            allocationCount += allocations_of_this_thread() - before
            timeScaled.append(buffer.statistics.timeScaled.rawValue)
        }
    }

    private mutating func take(_ packet: IncomingPacket, arrivedAt arrival: FrameCount) {
        if packet.ssrc != buffer.ssrc {
            resyncCount = buffer.statistics.resyncs
            buffer.begin(packet.ssrc)
            talkerCount += 1
        }
        buffer.insert(packet, arrivedAt: arrival)
    }

    private mutating func send(everything: Bool, count: Int) {
        var randomness = SeededRandom(seed: 3)
        for number in 0..<count {
            var packet = IncomingPacket()
            packet.ssrc = SSRC(everything && number >= 900 ? 2 : 1)
            let jump = everything && number >= 600 ? 5_000 : 0
            let payload = packets[number]
            packet.packet.fill(payload.span)
            packet.info = PacketInfo(
                sequenceNumber: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: number + jump)),
                timestamp: RTPTimestamp(rawValue: UInt32(number * 960 + jump * 960)), frameCount: FrameCount(960),
                carriesFEC: OpusDecoder.hasInBandFEC(payload.span))
            var at = (number + 1) * 960 + (everything ? Int.random(in: 0...1_500, using: &randomness) : 48)
            if stall.contains(number) { at = (stall.upperBound + 1) * 960 }
            if everything, number % 250 > 235 { at = (number / 250 + 1) * 250 * 960 + 960 }
            if everything, number % 3 == 0 {
                var copy = packet
                copy.info.origin = .copy
                arriving.append((at + 960, copy))
            }
            if !randomness.happens(losses) { arriving.append((at, packet)) }
        }
        arriving.sort { ($0.at, $0.packet.info.timestamp.rawValue) > ($1.at, $1.packet.info.timestamp.rawValue) }
    }
}
