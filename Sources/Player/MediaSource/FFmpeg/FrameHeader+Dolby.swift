// AC-3 and E-AC-3 differ in all but the place of the bitstream identification (ATSC A/52 sections 5.3 and E.1.2).
extension FrameHeader {
    init?(dolby bytes: Span<UInt8>, at offset: Int) {
        let identification = Int(bytes[offset + 5] >> 3)
        switch identification {
        case ...10: self.init(ac3: bytes, at: offset, halvings: max(identification - 8, 0))
        case 11...16: self.init(eac3: bytes, at: offset)
        default: return nil
        }
    }

    /// `halvings` is the number of times by which the sample rate and the bit rate are halved.
    private init?(ac3 bytes: Span<UInt8>, at offset: Int, halvings: Int) {
        let (fourth, sixth) = (bytes[offset + 4], bytes[offset + 6])
        let (rateIndex, sizeCode) = (Int(fourth >> 6), Int(fourth & 0x3F))
        guard rateIndex < 3, sizeCode < 2 * Self.bitRatesOfAC3.count else { return nil }
        let bitRate = Self.bitRatesOfAC3[sizeCode / 2] * 1_000
        let rate = Self.ratesOfAC3[rateIndex]
        // At 44.1 kHz the size is no whole number of words, so that every other frame has a word more.
        let words = bitRate * 96 / rate + (rateIndex == 1 ? sizeCode & 1 : 0)
        let mode = Int(sixth >> 5)
        // The levels of the downmix lie between the mode and the LFE bit.
        var place = 4
        if mode & 1 != 0, mode != 1 { place -= 2 }
        if mode & 4 != 0 { place -= 2 }
        if mode == 2 { place -= 2 }
        self.init(
            coding: .ac3, rate: rate >> halvings, channelCount: Self.channels[mode] + Int(sixth >> UInt8(place) & 1),
            byteCount: 2 * words, frameCount: 1_536, bitRate: bitRate >> halvings,
            signature: UInt32(rateIndex) << 16 | UInt32(bytes[offset + 5]) << 8 | UInt32(mode))
    }

    private init?(eac3 bytes: Span<UInt8>, at offset: Int) {
        let (second, fourth) = (bytes[offset + 2], bytes[offset + 4])
        let (type, programme, rateIndex) = (second >> 6, second >> 3 & 7, Int(fourth >> 6))
        guard type < 3 else { return nil }
        let byteCount = 2 * ((Int(second & 7) << 8 | Int(bytes[offset + 3])) + 1)
        guard byteCount > Self.headerByteCount else { return nil }
        let detail = Int(fourth >> 4 & 3)
        // With half the sample rate, two further bits are the rate, and a frame has six blocks.
        guard rateIndex < 3 || detail < 3 else { return nil }
        let rate = rateIndex < 3 ? Self.ratesOfAC3[rateIndex] : Self.ratesOfAC3[detail] / 2
        let frameCount = rateIndex < 3 ? [1, 2, 3, 6][detail] * 256 : 1_536
        let isAddition = type == 1 || programme > 0
        let (bitRate, remainder) = (byteCount * 8 * rate).quotientAndRemainder(dividingBy: frameCount)
        self.init(
            coding: .eac3, rate: rate, channelCount: Self.channels[Int(fourth >> 1 & 7)] + Int(fourth & 1),
            byteCount: byteCount, frameCount: isAddition ? 0 : frameCount,
            bitRate: isAddition || remainder != 0 ? nil : bitRate,
            signature: UInt32(fourth & 0xF0) << 8 | UInt32(bytes[offset + 5] >> 3))
    }

    private static let ratesOfAC3 = [48_000, 44_100, 32_000]
    private static let bitRatesOfAC3 = [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
    ]
    /// The number of channels without LFE, by the audio coding mode.
    private static let channels = [2, 1, 2, 3, 3, 4, 4, 5]
}
