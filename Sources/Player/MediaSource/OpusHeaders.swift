/// The identification header of an Ogg Opus stream (RFC 7845 section 5.1).
struct OpusHead: Equatable {
    var channelCount: Int
    /// The number of frames at 48 kHz to discard at the start of the decoder's output.
    var preSkip: Int
    /// The factor by which all samples are multiplied.
    var gain: Float

    init(_ packet: Span<UInt8>) throws(DemuxerError) {
        guard packet.count >= 19, packet.holds("OpusHead", at: 0) else {
            throw .malformed("the Opus header of this file is damaged")
        }
        guard packet[8] & 0xF0 == 0 else {
            throw .malformed(
                "this file uses a later version of Ogg Opus, which is not supported: convert it with ffmpeg first")
        }
        channelCount = Int(packet[9])
        preSkip = Int(packet.littleEndian16(at: 10))
        gain = Self.factor(decibels: Double(Int16(bitPattern: packet.littleEndian16(at: 16))) / 256)
        guard 1...2 ~= channelCount, packet[18] <= 1 else {
            throw .malformed(
                "this file has \(channelCount) channels, and only Opus with one or two channels is supported: mix it down first"
            )
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

/// The title and artist among the comments of an Ogg Opus stream (RFC 7845 section 5.2). Pictures and all other
/// comments are skipped.
struct OpusTags: Equatable {
    var title: String?
    var artist: String?

    /// Parses the tags. `packet` may contain only the beginning of them.
    init(_ packet: Span<UInt8>) {
        guard packet.count >= 16, packet.holds("OpusTags", at: 0) else { return }
        var offset = 12 + Int(packet.littleEndian32(at: 8))
        guard offset + 4 <= packet.count else { return }
        let count = packet.littleEndian32(at: offset)
        offset += 4
        for _ in 0..<min(count, 1_000) {
            guard offset + 4 <= packet.count else { return }
            let length = Int(packet.littleEndian32(at: offset))
            offset += 4
            guard length <= packet.count - offset else { return }
            let comment = packet.extracting(offset..<offset + length)
            offset += length
            if title == nil { title = Self.value(of: "title=", in: comment) }
            if artist == nil { artist = Self.value(of: "artist=", in: comment) }
        }
    }

    private static func value(of name: StaticString, in comment: Span<UInt8>) -> String? {
        guard comment.count <= 4_096, comment.holds(name, at: 0, ignoringCase: true) else { return nil }
        let start = name.utf8CodeUnitCount
        return shown(String(decoding: (start..<comment.count).map { comment[$0] }, as: UTF8.self))
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
