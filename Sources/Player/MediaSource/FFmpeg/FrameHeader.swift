/// The header of a frame of MPEG audio (ISO 11172-3 and 13818-3 section 2.4.1.3), of AAC in ADTS (ISO 13818-7 section
/// 6.2), or of AC-3 and E-AC-3 (ATSC A/52 section 5.3 and annex E.1.2).
package struct FrameHeader: Equatable {
    package enum Coding: Hashable { case layer1, layer2, layer3, adts, ac3, eac3 }

    package var coding: Coding
    /// The sample rate in hertz. With SBR, the decoder's rate is twice this.
    package var rate: Int
    package var channelCount: Int
    /// The size of the frame with its header, in bytes.
    package var byteCount: Int
    /// The number of samples per channel in the frame; 0 for a frame of E-AC-3 that adds channels or another programme
    /// to the frame before it.
    package var frameCount: Int
    /// The bit rate in bit/s; nil in ADTS, whose frames vary in size.
    package var bitRate: Int?
    /// Fields that are constant within a stream; they distinguish real headers from similar bytes.
    private let signature: UInt32

    package static let longest = 8_192
    static let headerByteCount = 7
    /// The unit of durations and positions: a multiple of every sample rate in hertz, since the rate may change within
    /// a stream.
    static let ticksPerSecond = 28_224_000

    /// The duration of one sample in ticks.
    var sampleDuration: Int { Self.ticksPerSecond / rate }
    /// The duration of the frame in ticks.
    var duration: Int { frameCount * sampleDuration }

    /// Parses the header at `offset`. Returns nil if no frame begins there.
    package init?(_ bytes: Span<UInt8>, at offset: Int = 0) {
        guard offset >= 0, bytes.count - offset >= Self.headerByteCount else { return nil }
        let (first, second) = (bytes[offset], bytes[offset + 1])
        if first == 0x0B, second == 0x77 {
            self.init(dolby: bytes, at: offset)
            return
        }
        guard first == 0xFF, second >= 0xE0 else { return nil }
        if second & 0xF6 == 0xF0 {
            self.init(adts: bytes, at: offset)
        } else {
            self.init(mpeg: bytes, at: offset)
        }
    }

    /// The size in bytes of the longest frame of this coding.
    var longestFrame: Int {
        switch coding {
        case .layer1, .layer2, .layer3: 1_792
        case .ac3, .eac3: 4_096
        case .adts: Self.longest
        }
    }

    /// Returns whether both headers may belong to one stream whose rate and channels do not change.
    func fits(_ other: FrameHeader) -> Bool { signature == other.signature && coding == other.coding }

    init(
        coding: Coding, rate: Int, channelCount: Int, byteCount: Int, frameCount: Int, bitRate: Int?, signature: UInt32
    ) {
        self.coding = coding
        self.rate = rate
        self.channelCount = channelCount
        self.byteCount = byteCount
        self.frameCount = frameCount
        self.bitRate = bitRate
        self.signature = signature
    }

    private init?(adts bytes: Span<UInt8>, at offset: Int) {
        let third = bytes[offset + 2]
        let fourth = bytes[offset + 3]
        let rateIndex = Int(third >> 2 & 0xF)
        guard rateIndex < Self.ratesOfADTS.count else { return nil }
        byteCount = Int(fourth & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5] >> 5)
        let hasChecksum = bytes[offset + 1] & 1 == 0
        guard byteCount > (hasChecksum ? 9 : 7) else { return nil }
        coding = .adts
        rate = Self.ratesOfADTS[rateIndex]
        let configuration = Int(third & 1) << 2 | Int(fourth >> 6)
        channelCount = configuration == 7 ? 8 : max(configuration, 1)
        frameCount = 1_024 * (Int(bytes[offset + 6] & 3) + 1)
        bitRate = nil
        signature = UInt32(bytes[offset + 1] & 0xFE) << 16 | UInt32(third & 0xFD) << 8 | UInt32(fourth & 0xC0)
    }

    private init?(mpeg bytes: Span<UInt8>, at offset: Int) {
        let (second, third) = (bytes[offset + 1], bytes[offset + 2])
        let version = second >> 3 & 3
        let layer = second >> 1 & 3
        let bitRateIndex = Int(third >> 4)
        let rateIndex = Int(third >> 2 & 3)
        // Refuses reserved values, and the unused "free format", which states no bit rate.
        guard version != 1, layer != 0, 1...14 ~= bitRateIndex, rateIndex < 3, bytes[offset + 3] & 3 != 2 else {
            return nil
        }
        let isFirst = version == 3
        rate = Self.ratesOfMPEG[rateIndex] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        let table = isFirst ? 3 - Int(layer) : layer == 3 ? 3 : 4
        let bitRate = Self.bitRates[table][bitRateIndex - 1] * 1_000
        self.bitRate = bitRate
        let padding = Int(third >> 1 & 1)
        switch layer {
        case 3:
            coding = .layer1
            frameCount = 384
            byteCount = (12 * bitRate / rate + padding) * 4
        case 2:
            coding = .layer2
            frameCount = 1_152
            byteCount = 144 * bitRate / rate + padding
        default:
            coding = .layer3
            frameCount = isFirst ? 1_152 : 576
            byteCount = (isFirst ? 144 : 72) * bitRate / rate + padding
        }
        let isMono = bytes[offset + 3] >> 6 == 3
        channelCount = isMono ? 1 : 2
        // The signature omits the checksum bit and the joint-stereo mode, which may change within a stream. It contains
        // the channel count, which may not change.
        signature = UInt32(second & 0xFE) << 16 | UInt32(third & 0x0C) << 8 | (isMono ? 1 : 0)
    }

    private static let ratesOfADTS = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]
    private static let ratesOfMPEG = [44_100, 48_000, 32_000]
    /// Bit rates in kbit/s: layers I, II and III of version 1, then layer I and layers II and III of versions 2 and
    /// 2.5.
    private static let bitRates = [
        [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}
