import TenfourG711Codec
import Testing

/// The mapping of bytes to samples, against values of ITU-T G.711.
struct G711LawTests {
    @Test func bytesStandForTheSamplesOfTheTables() {
        #expect([0x00, 0x80, 0x0F, 0x7F, 0xFF].map { G711Law.mu.decode($0) } == [-32_124, 32_124, -16_764, 0, 0])
        #expect([0x2A, 0xAA, 0x55, 0xD5].map { G711Law.a.decode($0) } == [-32_256, 32_256, -8, 8])
    }

    @Test(arguments: G711Law.allCases) func eachByteComesBack(law: G711Law) {
        for byte in UInt8.min ... .max {
            // µ-law has two codes for zero.
            let expected = law == .mu && byte == 0x7F ? 0xFF : byte
            #expect(law.encode(law.decode(byte)) == expected)
        }
    }

    @Test(arguments: G711Law.allCases) func theErrorIsAtMostAThirtiethOfTheSample(law: G711Law) {
        for sample in stride(from: -32_768, through: 32_767, by: 7) {
            let error = abs(law.decode(law.encode(sample)) - sample)
            #expect(error <= max(abs(sample) / 30, 16) || abs(sample) > 32_000, "\(sample)")
        }
    }

    @Test(arguments: G711Law.allCases) func samplesBeyondFullScaleAreClipped(law: G711Law) {
        #expect(law.decode(law.encode(1_000_000)) == law.decode(law.encode(32_767)))
        #expect(law.decode(law.encode(-1_000_000)) == law.decode(law.encode(-32_768)))
    }
}
