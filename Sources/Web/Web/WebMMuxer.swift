internal import TenfourAudioCore
internal import TenfourOggOpus

/// Makes live WebM with one Opus track: a header, then clusters, each with the packets of about 100 ms. A listener begins
/// with any cluster.
///
/// It is written by hand, because the libraries of Debian (libwebm, libmatroska, libavformat) write files that they seek
/// in, or bring a whole framework for the dozen elements below.
public struct WebMMuxer: LiveMuxer {
    public let header: [UInt8]

    /// The duration of a tick, the unit of all times: 0.5 ms, so that the times of Opus packets are whole numbers.
    private static let framesPerTick = 24
    private static let tickNanoseconds: UInt64 = 500_000

    public init(title: String) {
        let ebml = EBML.element(
            0x1A45_DFA3,
            [
                EBML.number(0x4286, 1), EBML.number(0x42F7, 1), EBML.number(0x42F2, 4), EBML.number(0x42F3, 8),
                EBML.text(0x4282, "webm"), EBML.number(0x4287, 4), EBML.number(0x4285, 2),
            ].flatMap(\.self))
        let info = EBML.element(
            0x1549_A966,
            [
                EBML.number(0x2AD7B1, Self.tickNanoseconds), EBML.text(0x7BA9, title),
                EBML.text(0x4D80, "tenfour"), EBML.text(0x5741, "tenfour"),
            ].flatMap(\.self))
        let audio = EBML.element(0xE1, EBML.decimal(0xB5, 48_000) + EBML.number(0x9F, 2))
        // Number, unique id, type (audio), no lacing, codec with its private data, codec delay, seek pre-roll of 80 ms.
        let track = EBML.element(
            0xAE,
            [
                EBML.number(0xD7, 1), EBML.number(0x73C5, 1), EBML.number(0x83, 2), EBML.number(0x9C, 0),
                EBML.text(0x86, "A_OPUS"), EBML.element(0x63A2, OpusIdentificationHeader.live.bytes),
                EBML.number(0x56AA, 0), EBML.number(0x56BB, 80_000_000), audio,
            ].flatMap(\.self))
        header = ebml + EBML.endless(0x1853_8067) + info + EBML.element(0x1654_AE6B, track)
    }

    public func append(_ packets: [LivePacket]) -> [UInt8] {
        guard let first = packets.first else { return [] }
        let time = first.start.rawValue / Self.framesPerTick
        var content = EBML.number(0xE7, UInt64(time))
        for packet in packets {
            let ticks = packet.start.rawValue / Self.framesPerTick - time
            // Track 1, the time after the cluster's, and the flag of a packet that needs no other to be decoded.
            let head: [UInt8] = [0x81, UInt8(truncatingIfNeeded: ticks >> 8), UInt8(truncatingIfNeeded: ticks), 0x80]
            content += EBML.element(0xA3, head + packet.payload)
        }
        return EBML.element(0x1F43_B675, content)
    }
}
