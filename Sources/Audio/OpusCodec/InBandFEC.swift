extension OpusDecoder {
    /// Whether `packet` carries a coarser copy (LBRR) of the frame before it, for `recover` to use. Bytes that are no packet
    /// carry none. Audio thread.
    ///
    /// Only SILK and hybrid frames have copies. Their first bits are, for each channel, one voice activity flag for each
    /// 20 ms and then the flag sought (RFC 6716 sections 4.2.3 and 4.2.4). The range coder gives both values of a flag half
    /// its range, so the flags are the plain top bits of the first byte; 60 ms in stereo fill it exactly.
    @_noAllocation @_noLocks
    public static func hasInBandFEC(_ packet: Span<UInt8>) -> Bool {
        guard !packet.isEmpty, let silk = SilkLayout(toc: packet[0]) else { return false }
        // A frame of one byte or none stands for silence (DTX) and is concealed.
        guard let firstByte = callFirstByteOfFrame(in: packet, longerThan: 1) else { return false }
        let bitsPerChannel = silk.frameCount + 1
        for channel in 1...silk.channelCount where firstByte & 0x80 >> (channel * bitsPerChannel - 1) != 0 {
            return true
        }
        return false
    }
}

/// What the first byte of a packet, the TOC, says of the SILK part of every frame in it (RFC 6716 section 3.1).
private struct SilkLayout {
    /// A SILK frame lasts 20 ms, or 10 ms alone.
    let frameCount: Int
    let channelCount: Int

    /// nil where the frames have no SILK part.
    @_noAllocation @_noLocks
    init?(toc: UInt8) {
        switch toc >> 3 {
        // SILK only, in three bandwidths: 10, 20, 40, 60 ms.
        case let configuration where configuration < 12: frameCount = max(Int(configuration % 4), 1)
        // Hybrid, in two bandwidths: 10, 20 ms.
        case let configuration where configuration < 16: frameCount = 1
        default: return nil
        }
        channelCount = toc & 0x04 == 0 ? 1 : 2
    }
}
