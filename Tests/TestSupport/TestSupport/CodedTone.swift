import TenfourOpusCodec

/// A tone as packets of 20 ms, made by libopus.
public enum CodedTone {
    public static func packets(seconds: Double) throws -> [[UInt8]] {
        var encoder = try OpusEncoder()
        let samples = Tone.samples(seconds: seconds)
        var packets: [[UInt8]] = []
        for start in stride(from: 0, to: samples.count - 959, by: 960) {
            var buffer = [UInt8](repeating: 0, count: 1_276)
            var span = buffer.mutableSpan
            let count = try encoder.encode(samples.span.extracting(start..<(start + 960)), into: &span)
            packets.append(Array(buffer[..<count]))
        }
        return packets
    }

    /// Returns a packet of one frame with padding (RFC 6716 section 3.2.5).
    public static func padded(_ packet: [UInt8], to byteCount: Int) -> [UInt8] {
        var padding = byteCount - packet.count - 2
        var head: [UInt8] = [packet[0] | 3, 0x41]
        while padding > 255 {
            head.append(255)
            padding -= 255
        }
        head.append(UInt8(padding - 1))
        let rest = head + packet.dropFirst()
        return rest + [UInt8](repeating: 0, count: byteCount - rest.count)
    }
}
