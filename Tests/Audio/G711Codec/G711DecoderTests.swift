import Foundation
import TenfourAudioCore
import TenfourG711Codec
import Testing

/// Decodes and conceals packets of a tone, from 8000 Hz to 48 000 Hz.
struct G711DecoderTests {
    /// Returns packet `number` of a tone of 400 Hz at half of full scale: 20 ms.
    private func packet(_ number: Int, _ law: G711Law) -> [UInt8] {
        (0..<160).map { index in
            let time = Double(number * 160 + index) / 8_000
            return law.encode(Int(16_384 * sin(2 * .pi * 400 * time)))
        }
    }

    private func loudest(_ samples: ArraySlice<Float>) -> Float { samples.map(abs).max() ?? 0 }

    /// Returns the largest difference between neighbouring samples; a tone of 400 Hz at half of full scale has 0.026.
    private func greatestStep(_ samples: [Float]) -> Float {
        zip(samples, samples.dropFirst()).map { abs($1 - $0) }.max() ?? 0
    }

    private func decode(_ count: Int, _ law: G711Law, losing lost: Range<Int> = 0..<0, channelCount: Int = 1) throws
        -> [Float]
    {
        var decoder = try G711Decoder(channelCount: channelCount)
        var heard: [Float] = []
        for number in 0..<count {
            var samples = [Float](repeating: 9, count: 960 * channelCount)
            var space = samples.mutableSpan
            if lost.contains(number) {
                #expect(decoder.conceal(FrameCount(960), into: &space) == .plain)
            } else {
                let bytes = packet(number, law)
                let encoded = EncodedPacket(bytes.span, law == .a ? .pcma : .pcmu)
                #expect(decoder.decode(encoded, into: &space) == FrameCount(960))
            }
            heard += samples
        }
        return heard
    }

    @Test(arguments: G711Law.allCases) func aToneIsHeardAtItsLevel(law: G711Law) throws {
        let heard = try decode(10, law)
        #expect(abs(loudest(heard[960...]) - 0.5) < 0.02)
        #expect(greatestStep(heard) < 0.04)
    }

    @Test func allChannelsGetTheSame() throws {
        let heard = try decode(5, .mu, channelCount: 2)
        #expect(stride(from: 0, to: heard.count, by: 2).allSatisfy { heard[$0] == heard[$0 + 1] })
    }

    @Test func aLostPacketIsBridgedWithoutAClick() throws {
        let heard = try decode(10, .mu, losing: 5..<6)
        #expect(loudest(heard[5 * 960 + 100..<5 * 960 + 400]) > 0.45)
        #expect(greatestStep(heard) < 0.06)
    }

    @Test func aLongLossFadesWithinSixtyMilliseconds() throws {
        let heard = try decode(12, .a, losing: 4..<9)
        #expect(loudest(heard[6 * 960..<6 * 960 + 480]) < 0.3)
        #expect(loudest(heard[7 * 960 + 200..<9 * 960]) < 0.001)
        #expect(abs(loudest(heard[10 * 960..<12 * 960]) - 0.5) < 0.02)
    }

    @Test func noPacketTraps() throws {
        var decoder = try G711Decoder()
        var samples = [Float](repeating: 0, count: 5_760)
        for count in [0, 1, 7, 160, 960, 961, 1_440] {
            let bytes = [UInt8](repeating: 0x5A, count: count)
            var space = samples.mutableSpan
            let frames = decoder.decode(EncodedPacket(bytes.span, .pcmu), into: &space)
            #expect(frames == ((1...960).contains(count) ? FrameCount(count * 6) : nil))
        }
        var space = samples.mutableSpan
        #expect(decoder.conceal(FrameCount(120), into: &space) == .plain)
        #expect(decoder.conceal(FrameCount(9_600), into: &space) == nil)
    }
}
