/// The parameters of an Opus stream that both ends exchange by `a=fmtp` (RFC 7587 section 6.1).
///
/// A receiver may ignore all of them, because a decoder accepts any Opus stream.
public struct OpusParameters: Hashable, Sendable {
    /// `minptime`: the shortest packet wanted, 3…120 ms.
    public var minimumPacketTime: Int?
    /// `useinbandfec`: the receiver can use in-band FEC, the coarse copy of a packet in the next packet.
    public var usesInBandFEC = false
    /// `usedtx`: wants no packets during silence.
    public var usesDTX = false
    /// `cbr`: wants packets of constant size.
    public var usesConstantBitRate = false
    /// `stereo`: prefers to receive two channels.
    public var prefersStereo = false
    /// `sprop-stereo`: is likely to send two channels.
    public var sendsStereo = false
    /// `maxplaybackrate`: plays at most this sample rate in hertz, 8000…48 000.
    public var maximumPlaybackRate: Int?
    /// `sprop-maxcapturerate`: captures at most this sample rate in hertz, 8000…48 000.
    public var maximumCaptureRate: Int?
    /// `maxaveragebitrate`: wants at most this bit rate in bit/s, 6000…510 000.
    public var maximumAverageBitRate: Int?

    public init() {}

    /// Parses the text of `a=fmtp`. Total: unknown and invalid parameters are ignored, as RFC 7587 requires.
    public init(parsing text: String) {
        for field in text.fields(separator: ";") {
            let pair = field.fields(separator: "=")
            guard pair.count == 2, let name = pair[0].fields(separator: " ").first,
                let value = pair[1].fields(separator: " ").first.flatMap({ Int($0) })
            else { continue }
            switch name.lowercased() {
            case "minptime": minimumPacketTime = value.within(3...120)
            case "useinbandfec": usesInBandFEC = value == 1
            case "usedtx": usesDTX = value == 1
            case "cbr": usesConstantBitRate = value == 1
            case "stereo": prefersStereo = value == 1
            case "sprop-stereo": sendsStereo = value == 1
            case "maxplaybackrate": maximumPlaybackRate = value.within(8_000...48_000)
            case "sprop-maxcapturerate": maximumCaptureRate = value.within(8_000...48_000)
            case "maxaveragebitrate": maximumAverageBitRate = value.within(6_000...510_000)
            default: continue
            }
        }
    }

    /// The text for `a=fmtp`. Stereo is always stated, because `opus/48000/2` does not show it.
    public var text: String {
        var fields: [String] = []
        if let minimumPacketTime { fields.append("minptime=\(minimumPacketTime)") }
        if usesInBandFEC { fields.append("useinbandfec=1") }
        if usesDTX { fields.append("usedtx=1") }
        if usesConstantBitRate { fields.append("cbr=1") }
        if let maximumPlaybackRate { fields.append("maxplaybackrate=\(maximumPlaybackRate)") }
        if let maximumCaptureRate { fields.append("sprop-maxcapturerate=\(maximumCaptureRate)") }
        if let maximumAverageBitRate { fields.append("maxaveragebitrate=\(maximumAverageBitRate)") }
        if prefersStereo { fields.append("stereo=1") }
        fields.append(sendsStereo ? "sprop-stereo=1" : "sprop-stereo=0")
        return fields.joined(separator: ";")
    }
}

extension Int {
    fileprivate func within(_ range: ClosedRange<Int>) -> Int? { range.contains(self) ? self : nil }
}
