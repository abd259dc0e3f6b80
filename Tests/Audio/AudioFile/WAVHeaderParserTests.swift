import Testing

@testable import TenfourAudioFile

struct WAVHeaderParserTests {
    @Test func chunksAreToldByTheirNames() {
        func chunk(_ name: String, _ size: [UInt8]) -> (kind: WAVHeaderParser.Chunk, byteCount: Int) {
            let header = Array(name.utf8) + size
            return WAVHeaderParser.chunk(header.span)
        }
        #expect(chunk("fmt ", [16, 0, 0, 0]) == (.format, 16))
        #expect(chunk("data", [0, 0, 0, 0x80]) == (.samples, 0x8000_0000))
        #expect(chunk("ds64", [28, 0, 0, 0]) == (.sizes, 28))
        #expect(chunk("cue ", [1, 2, 0, 0]) == (.other, 513))
    }

    @Test func theSubformatOfAnExtensibleFormatCounts() throws {
        var body: [UInt8] = [0xFE, 0xFF, 2, 0, 0x80, 0xBB, 0, 0, 0, 0, 0, 0, 8, 0, 32, 0, 22, 0, 24, 0, 3, 0, 0, 0]
        var parser = WAVHeaderParser()
        let whole = body + [3, 0]
        let isWhole = parser.parseFormat(whole.span)
        #expect(isWhole)
        let format = try #require(parser.format)
        #expect(format.tag == 3 && format.isExtensible && format.channelCount == 2 && format.hertz == 48_000)
        #expect(format.frameByteCount == 8 && format.bitsPerSample == 32)
        body.removeLast(10)
        let isShort = !parser.parseFormat(body.span)
        #expect(isShort)
    }

    /// The sizes that programs write as long as the length is unknown.
    @Test(arguments: [0, 0x7FFF_0000, 0x7FFF_FFFE, 0xFFFF_FFB9, 0xFFFF_FFFF])
    func aPlaceholderIsNoSize(stated: Int) {
        #expect(WAVHeaderParser().sampleByteCount(stated: stated) == nil)
        #expect(WAVHeaderParser().sampleByteCount(stated: stated, available: 1_000) == nil)
        // Almost 2 GiB may be true. Almost 4 GiB with more behind them are a size that was never filled in.
        let isLong = stated == 0 || stated >= 0xFFFF_0000
        #expect(WAVHeaderParser().sampleByteCount(stated: stated, available: .max) == (isLong ? nil : stated))
        // A size that is followed by another chunk is true.
        #expect(WAVHeaderParser().sampleByteCount(stated: 0xFFFF_2000, available: 0xFFFF_2000 + 500) == 0xFFFF_2000)
    }

    @Test func aLongSizeIsThatOfRF64() {
        var parser = WAVHeaderParser()
        let short = [UInt8](repeating: 0, count: 8)
        parser.parseSizes(short.span)
        #expect(parser.sampleByteCount(stated: 0xFFFF_FFFF) == nil, "the ds64 chunk is too short")
        let sizes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]
        parser.parseSizes(sizes.span)
        #expect(parser.sampleByteCount(stated: 0xFFFF_FFFF) == 0x2_0000_0000)
        #expect(parser.sampleByteCount(stated: 4_096) == 4_096)
    }
}
