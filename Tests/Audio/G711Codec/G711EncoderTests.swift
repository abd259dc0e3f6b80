import Foundation
import TenfourAudioCore
import TenfourG711Codec
import Testing

/// Decoding the encoder's output gives the samples back, within the quantisation steps of the law.
struct G711EncoderTests {
    private func encode(_ samples: [Float], _ law: G711Law) -> [UInt8] {
        var encoder = G711Encoder(law: law)
        var packet = [UInt8](repeating: 0, count: samples.count + 5)
        var space = packet.mutableSpan
        let count = encoder.encode(samples.span, into: &space)
        return Array(packet[..<count])
    }

    @Test(arguments: G711Law.allCases) func aByteStandsForEachSample(law: G711Law) {
        let samples = (0..<480).map { Float(0.9 * sin(Double($0) * 0.3)) }
        let packet = encode(samples, law)
        #expect(packet.count == 480)
        for (sample, byte) in zip(samples, packet) {
            let heard = Float(law.decode(byte)) / 32_768
            #expect(abs(heard - sample) <= max(abs(sample) / 30, 0.001), "\(sample) became \(heard)")
        }
    }

    @Test(arguments: G711Law.allCases) func anySampleIsEncoded(law: G711Law) {
        let loudest = law.decode(encode([1], law)[0])
        #expect(
            encode([2, .infinity, .greatestFiniteMagnitude], law).map { law.decode($0) } == [loudest, loudest, loudest])
        #expect(encode([-2, -.infinity], law).allSatisfy { law.decode($0) < -30_000 })
        #expect(encode([.nan, -.nan], law) == encode([0, 0], law))
    }

    @Test func theEncodingIsThatOfItsPayloadType() {
        #expect(G711Encoder(law: .mu).encoding.staticPayloadType == 0)
        #expect(G711Encoder(law: .a).encoding.staticPayloadType == 8)
        #expect(G711Encoder(law: .a).format == LPCMFormat(rate: SampleRate(hertz: 8_000)))
    }
}
