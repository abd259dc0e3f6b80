/// The Xing, Info or VBRI header in an MP3's first frame, with the LAME extension: duration, a coarse table of contents,
/// encoder delay and padding.
package struct VBRHeader: Equatable {
    /// The number of MP3 frames with audio.
    package var packetCount: Int?
    /// The number of bytes from this frame to the end, including this frame.
    package var byteCount: Int?
    /// The table of contents. Element i of its 100 elements is the offset at i percent of the duration, in 256ths of
    /// `byteCount`.
    package var contents: [UInt8] = []
    /// Whether all frames have one bit rate.
    package var isConstantRate: Bool
    /// The encoder delay (`front`) and the padding (`behind`), in samples; nil if they are not stated.
    package var delay: (front: Int, behind: Int)? = nil

    /// The decoder's own delay for layer III, in samples.
    static let decoderDelay = 529

    package static func == (left: Self, right: Self) -> Bool {
        left.packetCount == right.packetCount && left.byteCount == right.byteCount && left.contents == right.contents
            && left.isConstantRate == right.isConstantRate && left.delay?.front == right.delay?.front
            && left.delay?.behind == right.delay?.behind
    }

    /// Parses the header in a whole frame. Returns nil if the frame has no such header, but audio.
    package init?(_ frame: Span<UInt8>, _ header: FrameHeader) {
        guard header.coding == .layer3 else { return nil }
        if frame.holds("VBRI", at: 36), frame.count >= 54 {
            // Fraunhofer's header: version, delay and quality of two bytes each, then the numbers of bytes and frames.
            (byteCount, packetCount) = (Int(frame.bigEndian32(at: 46)), Int(frame.bigEndian32(at: 50)))
            if byteCount == 0 { byteCount = nil }
            if packetCount == 0 { packetCount = nil }
            isConstantRate = false
            return
        }
        // The Xing header follows the frame header and the side information, whose length depends on version and
        // channels.
        let isFirst = header.frameCount == 1_152
        let side = header.channelCount == 1 ? (isFirst ? 17 : 9) : (isFirst ? 32 : 17)
        var offset = 4 + side
        guard frame.holds("Xing", at: offset) || frame.holds("Info", at: offset), frame.count >= offset + 8 else {
            return nil
        }
        isConstantRate = frame.holds("Info", at: offset)
        let flags = frame.bigEndian32(at: offset + 4)
        offset += 8
        func number() -> Int? {
            guard frame.count >= offset + 4 else { return nil }
            defer { offset += 4 }
            return Int(frame.bigEndian32(at: offset))
        }
        if flags & 1 != 0 { packetCount = number().flatMap { $0 > 0 ? $0 : nil } }
        if flags & 2 != 0 { byteCount = number().flatMap { $0 > 0 ? $0 : nil } }
        if flags & 4 != 0, frame.count >= offset + 100 {
            contents = (0..<100).map { frame[offset + $0] }
            offset += 100
        }
        if flags & 8 != 0 { offset += 4 }
        // The LAME extension: nine characters of a name and, twelve bytes later, two numbers of twelve bits.
        guard frame.count >= offset + 24, frame[offset] >= 0x20, frame[offset] < 0x7F else { return }
        let first = Int(frame[offset + 21]) << 4 | Int(frame[offset + 22] >> 4)
        let second = Int(frame[offset + 22] & 0xF) << 8 | Int(frame[offset + 23])
        if first > 0 || second > 0 { delay = (first, second) }
    }
}
