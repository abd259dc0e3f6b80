internal import TenfourMediaSource

/// What the first frame of an MP3 holds in place of sound when its encoder wrote it: how long it is, a rough table of contents,
/// and how much of its beginning and end is no sound. The tags are called Xing or Info, with LAME's behind it.
package struct VBRHeader: Equatable {
    /// Of sound, in MP3 frames.
    package var packetCount: Int?
    /// From this frame on, and with it.
    package var byteCount: Int?
    /// 100 of them: at so many percent of the time the byte lies at so many 256ths of `byteCount`.
    package var contents: [UInt8] = []
    /// All frames are of one rate.
    package var isConstantRate: Bool
    /// Frames (of sound) that the encoder put in front, and behind.
    package var delay: (front: Int, behind: Int)? = nil

    /// What a decoder of layer 3 adds in front of what the encoder did.
    static let decoderDelay = 529

    package static func == (left: Self, right: Self) -> Bool {
        left.packetCount == right.packetCount && left.byteCount == right.byteCount && left.contents == right.contents
            && left.isConstantRate == right.isConstantRate && left.delay?.front == right.delay?.front
            && left.delay?.behind == right.delay?.behind
    }

    /// Of the bytes of a whole frame; nil where it holds sound.
    package init?(_ frame: Span<UInt8>, _ header: FrameHeader) {
        guard header.coding == .layer3 else { return nil }
        // Behind the header and the side information, whose length follows from version and channels.
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
        // LAME's part: nine characters of a name, then, twelve bytes on, two numbers of twelve bits.
        guard frame.count >= offset + 24, frame[offset] >= 0x20, frame[offset] < 0x7F else { return }
        let first = Int(frame[offset + 21]) << 4 | Int(frame[offset + 22] >> 4)
        let second = Int(frame[offset + 22] & 0xF) << 8 | Int(frame[offset + 23])
        if first > 0 || second > 0 { delay = (first, second) }
    }
}
