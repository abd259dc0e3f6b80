public import TenfourAudioCore
public import TenfourPackets

/// Opus packets that fill the time in which no packet of a talker is to be heard.
public enum FillingPacket {
    /// The duration of the shortest Opus packet. All positions in a live stream are multiples of it.
    public static let step = FrameCount(120)
    /// The duration of the packets while nobody talks: three Opus frames of 20 ms in one packet.
    public static let longest = FrameCount(2_880)

    /// Returns the longest packet of encoded silence that is not longer than `limit`, which must be at least `step`.
    public static func silence(atMost limit: FrameCount) -> (payload: [UInt8], frameCount: FrameCount) {
        // A packet of the transform codec (CELT) at full bandwidth, mono. The first bit of its frame is the silence
        // flag, which FF FE sets.
        if limit >= longest { return ([celt(3) | 3, 3, 0xFF, 0xFE, 0xFF, 0xFE, 0xFF, 0xFE], longest) }
        var size = 3
        while size > 0, frameCount(size) > limit { size -= 1 }
        return ([celt(size), 0xFF, 0xFE], frameCount(size))
    }

    /// Returns a packet whose only Opus frame is empty, so that a decoder conceals its duration (RFC 6716 sections 3.2.1
    /// and 3.4). It has the configuration of `toc` or a shorter one of the same mode and bandwidth. Returns nil if all
    /// of them are longer than `limit`.
    public static func concealment(
        after toc: OpusTOC, atMost limit: FrameCount
    ) -> (payload: [UInt8], frameCount: FrameCount)? {
        var toc = OpusTOC(rawValue: toc.rawValue & ~3)
        let sizeMask: UInt8 = toc.mode == .hybrid ? 1 : 3
        while toc.frameCount > limit {
            guard toc.configuration & sizeMask > 0 else { return nil }
            toc.rawValue -= 1 << 3
        }
        return ([toc.rawValue], toc.frameCount)
    }

    private static func celt(_ size: Int) -> UInt8 { UInt8(28 + size) << 3 }

    private static func frameCount(_ size: Int) -> FrameCount { FrameCount(120 << size) }
}
