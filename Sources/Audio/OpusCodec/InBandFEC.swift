extension OpusDecoder {
    /// Returns whether `packet` carries a coarser copy (LBRR) of the frame before it, which `recover` can use; false
    /// for bytes that are no Opus packet. May be called on an audio thread.
    ///
    /// Only SILK and hybrid frames have copies. Their first bits are, for each channel, one voice activity flag for
    /// each 20 ms and then the LBRR flag (RFC 6716 sections 4.2.3 and 4.2.4). The range coder assigns half its range to
    /// each value of a flag, so the flags are the top bits of the first byte; the flags of 60 ms in stereo fill this
    /// byte exactly.
    @_noAllocation @_noLocks
    public static func hasInBandFEC(_ packet: Span<UInt8>) -> Bool {
        guard !packet.isEmpty, let silk = SilkLayout(toc: packet[0]) else { return false }
        // Returns false for a frame of at most one byte: such a frame is silence (DTX) and has no copy.
        guard let firstByte = callFirstByteOfFrame(in: packet, longerThan: 1) else { return false }
        let bitsPerChannel = silk.frameCount + 1
        for channel in 1...silk.channelCount where firstByte & 0x80 >> (channel * bitsPerChannel - 1) != 0 {
            return true
        }
        return false
    }
}

/// The layout of the SILK part of every frame in a packet, from the packet's first byte, the TOC (RFC 6716 section
/// 3.1).
private struct SilkLayout {
    /// The number of SILK frames per Opus frame. A SILK frame lasts 20 ms; only a single one may last 10 ms.
    let frameCount: Int
    let channelCount: Int

    /// Parses the TOC byte. Returns nil if the frames have no SILK part.
    @_noAllocation @_noLocks
    init?(toc: UInt8) {
        switch toc >> 3 {
        // Configurations 0…11 are SILK only, in three bandwidths, with frames of 10, 20, 40 or 60 ms.
        case let configuration where configuration < 12: frameCount = max(Int(configuration % 4), 1)
        // Configurations 12…15 are hybrid, in two bandwidths, with frames of 10 or 20 ms.
        case let configuration where configuration < 16: frameCount = 1
        default: return nil
        }
        channelCount = toc & 0x04 == 0 ? 1 : 2
    }
}
