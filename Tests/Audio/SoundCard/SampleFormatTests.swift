import Testing

@testable import TenfourSoundCard

@Suite struct SampleFormatTests {
    @Test func everySixteenBitSampleSurvivesTheWayThroughFloat() {
        for sample in Int16.min...Int16.max {
            var back: Int16 = 0
            back.level = sample.level
            #expect(back == sample)
        }
    }

    @Test(
        arguments: [
            (1.0, 32_767), (-1.0, -32_768), (2.0, 32_767), (-2.0, -32_768), (.infinity, 32_767), (-.infinity, -32_768),
            (.nan, 0), (0.0, 0), (-0.0, 0),
            // Half a step rounds to the even value, more than half away from zero.
            (0.5 / 32_768, 0), (1.5 / 32_768, 2), (-1.5 / 32_768, -2), (0.51 / 32_768, 1), (-0.51 / 32_768, -1),
            (32_766.6 / 32_768, 32_767), (32_767.4 / 32_768, 32_767),
        ] as [(Float, Int16)])
    func sixteenBitsRoundAndSaturate(level: Float, sample: Int16) {
        var coded: Int16 = 99
        coded.level = level
        #expect(coded == sample)
    }

    @Test(
        arguments: [
            (1.0, .max), (-1.0, .min), (7.0, .max), (-7.0, .min), (.nan, 0), (0.0, 0), (0.5, 1 << 30),
            (-0.25, -(1 << 29)),
            (1 / 2_147_483_648, 1), (0.4 / 2_147_483_648, 0), (0.6 / 2_147_483_648, 1),
            // The largest float below one.
            (0.999_999_94, 2_147_483_520),
        ] as [(Float, Int32)])
    func thirtyTwoBitsRoundAndSaturate(level: Float, sample: Int32) {
        var coded: Int32 = 99
        coded.level = level
        #expect(coded == sample)
    }

    private static let steps24: [(Float, Int32)] = [
        (1.0, 8_388_607), (-1.0, -8_388_608), (-3.0, -8_388_608), (.nan, 0), (1 / 8_388_608, 1), (-1 / 8_388_608, -1),
        (0.5, 4_194_304),
    ]

    @Test(arguments: steps24) func twentyFourBitsLieLowestFirst(level: Float, sample: Int32) {
        var coded = Packed24(low: 9, middle: 9, high: 9)
        coded.level = level
        #expect(Int32(coded.high) << 16 | Int32(coded.middle) << 8 | Int32(coded.low) == sample)
        #expect(coded.level == Float(sample) / 8_388_608)
        #expect(MemoryLayout<Packed24>.stride == 3)
    }

    @Test(arguments: steps24) func twentyFourBitsInFourBytesCarryTheirSign(level: Float, sample: Int32) {
        var coded = Low24(bits: 9)
        coded.level = level
        #expect(coded.bits == sample)
        #expect(coded.level == Float(sample) / 8_388_608)
        // A capturing card may leave any value in the highest byte.
        for highest in [0, 0x55, 0x80, 0xFF] as [UInt32] {
            let found = Low24(bits: Int32(bitPattern: UInt32(bitPattern: sample) & 0xFF_FFFF | highest << 24))
            #expect(found.level == coded.level)
        }
        #expect(MemoryLayout<Low24>.stride == 4)
    }

    @Test(arguments: [(1.0, 1.0), (1.5, 1.0), (-1.5, -1.0), (.nan, 0.0), (0.3, 0.3)] as [(Float, Float)])
    func floatsStayWithinFullScale(level: Float, sample: Float) {
        var coded: Float = 99
        coded.level = level
        #expect(coded == sample)
    }

    @Test(arguments: SampleFormat.allCases)
    func soundThatEveryFormatHoldsComesBackAsItWas(format: SampleFormat) {
        let sound = (-240..<240).map { Float($0) / 256 }
        #expect(carry(sound, channels: 1, over: format, cardChannels: 1, back: 1) == sound)
        #expect(carry(sound, channels: 2, over: format, cardChannels: 2, back: 2) == sound)
    }

    @Test(arguments: SampleFormat.allCases)
    func channelsAreMixedUpAndDown(format: SampleFormat) {
        #expect(carry([0.5, -0.25], channels: 1, over: format, cardChannels: 2, back: 2) == [0.5, 0.5, -0.25, -0.25])
        #expect(carry([0.5, -0.25], channels: 2, over: format, cardChannels: 1, back: 1) == [0.125])
        #expect(carry([0.5, -0.25], channels: 2, over: format, cardChannels: 1, back: 2) == [0.125, 0.125])
        #expect(carry([0.5], channels: 1, over: format, cardChannels: 4, back: 4) == [0.5, 0.5, 0, 0])
        #expect(carry([0.5, -0.25], channels: 2, over: format, cardChannels: 8, back: 2) == [0.5, -0.25])
        #expect(carry([0.5, -0.25], channels: 2, over: format, cardChannels: 8, back: 1) == [0.125])
        #expect(carry([0.5, -0.25, 0.75], channels: 3, over: format, cardChannels: 2, back: 3) == [0.5, -0.25, 0])
    }

    @Test func aPartOfTheSoundGoesToTheFrontOfTheCard() {
        #expect(
            carry([0, 0.125, 0.25, 0.5, 0.75, 0], channels: 2, from: 1, over: .int16, cardChannels: 2, back: 2)
                == [9, 9, 0.25, 0.5, 0.75, 0])
    }

    /// Encodes `sound` from frame `first` on for a card with `cardChannels`, and decodes it again to the same frame.
    /// Samples that are not carried over keep the value 9.
    private func carry(
        _ sound: [Float], channels: Int, from first: Int = 0, over format: SampleFormat, cardChannels: Int, back: Int
    ) -> [Float] {
        let frames = sound.count / channels
        var heard = [Float](repeating: 9, count: frames * back)
        let byteCount = (frames - first) * cardChannels * format.byteCount
        let card = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        defer { unsafe card.deallocate() }
        unsafe card.initializeMemory(as: UInt8.self, repeating: 0x55, count: byteCount)
        unsafe format.encode(
            sound.span, channelCount: channels, from: first, frameCount: frames - first, into: card,
            cardChannelCount: cardChannels)
        var span = heard.mutableSpan
        unsafe format.decode(
            card, cardChannelCount: cardChannels, into: &span, channelCount: back, from: first,
            frameCount: frames - first)
        return heard
    }
}
