/// The identification header of an Ogg Opus stream (RFC 7845 section 5.1).
struct OpusHead: Equatable {
    var channelCount: Int
    /// The number of frames at 48 kHz to discard at the start of the decoder's output.
    var preSkip: Int
    /// The factor by which all samples are multiplied.
    var gain: Float

    init(_ packet: Span<UInt8>) throws(DemuxerError) {
        guard packet.count >= 19, packet.holds("OpusHead", at: 0) else {
            throw .malformed("the Opus header of this file is damaged: download it again")
        }
        guard packet[8] & 0xF0 == 0 else {
            throw .malformed(
                "this file uses a later version of Ogg Opus, which is not supported: convert it with ffmpeg first",
                kind: .unsupportedFormat)
        }
        channelCount = Int(packet[9])
        preSkip = Int(packet.littleEndian16(at: 10))
        gain = Self.factor(decibels: Double(Int16(bitPattern: packet.littleEndian16(at: 16))) / 256)
        guard 1...2 ~= channelCount, packet[18] <= 1 else {
            throw .malformed(
                "the channels of this Opus file (\(channelCount), mapping family \(packet[18])) cannot be played: convert it to stereo with ffmpeg first",
                kind: .unsupportedFormat)
        }
    }

    /// Returns 10^(`decibels` / 20), by the series of the exponential function: exact to a Float within ±128 dB.
    private static func factor(decibels: Double) -> Float {
        let exponent = decibels / 20 * 2.302_585_092_994_046
        // Computes (1 + f + f²/2 + f³/6)^65 536 with f = `exponent` / 65 536, which is exact to far more digits than a
        // Float has.
        var factor = exponent / 65_536
        factor = 1 + factor + factor * factor / 2 + factor * factor * factor / 6
        for _ in 0..<16 { factor *= factor }
        return Float(factor)
    }
}

/// Returns the number of frames at 48 kHz in an Opus packet, from its first two bytes (RFC 6716 section 3.1); nil if
/// the packet is empty or longer than the permitted 120 ms.
func opusFrameCount(_ packet: Span<UInt8>) -> Int? {
    guard let first = packet.isEmpty ? nil : packet[0] else { return nil }
    let configuration = Int(first >> 3)
    let length =
        switch configuration {
        case 0..<12: [480, 960, 1_920, 2_880][configuration & 3]
        case 12..<16: [480, 960][configuration & 1]
        default: [120, 240, 480, 960][configuration & 3]
        }
    let count: Int
    switch first & 3 {
    case 0: count = 1
    case 1, 2: count = 2
    default:
        guard packet.count > 1 else { return nil }
        count = Int(packet[1] & 0x3F)
    }
    return 1...5_760 ~= length * count ? length * count : nil
}
