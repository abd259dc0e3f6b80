public import TenfourAudioCore

/// An Opus packet, the payload of one RTP packet (RFC 7587 section 4.2), parsed into its frames (RFC 6716 section 3).
///
/// An *Opus frame* is the unit of one decoder call: 2.5…60 ms of audio. If its `byteCount` is zero, it has no audio: it
/// was lost, or was silence that was not sent. Each Opus frame is a `PacketDescription` here.
///
/// It may be used on any thread, including audio threads, because it neither allocates nor locks.
public struct OpusPacket: Sendable {
    public let toc: OpusTOC
    /// The number of Opus frames, 1…48.
    public let count: Int
    /// The number of padding bytes at the end. The bytes that state this number are not counted.
    public let paddingByteCount: Int

    /// The offset of the first Opus frame in the payload. The other frames follow without space between them.
    private var start: Int
    /// The end of each Opus frame, in bytes after `start`: at most 48 × 1275.
    private var ends: InlineArray<48, UInt16>

    /// The maximum length of an Opus frame, in bytes (R2).
    public static let maximumFrameByteCount = 1275
    /// The maximum duration of a packet: 120 ms (R5).
    public static let maximumFrameCount = FrameCount(5760)

    /// The Opus frame at `index`, `0..<count`.
    public subscript(index: Int) -> PacketDescription {
        @_noAllocation @_noLocks get {
            precondition(index >= 0 && index < count, "an Opus packet has no such frame")
            let begin = index == 0 ? 0 : Int(ends[index - 1])
            return PacketDescription(
                offset: start + begin, byteCount: Int(ends[index]) - begin, frameCount: toc.frameCount)
        }
    }

    /// The duration of the packet at 48 000 Hz: 120…5760 frames.
    public var frameCount: FrameCount {
        @_noAllocation @_noLocks get { FrameCount(toc.frameCount.rawValue * count) }
    }

    /// Parses a payload. Total: for any bytes it returns a packet, or throws the rule of RFC 6716 section 3.4 that the
    /// bytes break.
    @_noAllocation @_noLocks
    public init(parsing payload: borrowing Span<UInt8>) throws(OpusPacketError) {
        guard payload.count >= 1 else { throw .empty }
        toc = OpusTOC(rawValue: payload[0])
        ends = InlineArray(repeating: 0)
        start = 1
        var end = payload.count
        var padding = 0
        var explicitCount = 0  // the number of Opus frames, from the first on, whose size is explicit
        switch toc.code {
        case 0: count = 1
        case 1: count = 2
        case 2:
            count = 2
            explicitCount = 1
        default:
            guard end >= 2 else { throw .noFrameCount }
            let octet = payload[1]
            count = Int(octet & 0x3F)
            guard count > 0 else { throw .noFrames }
            let sound = FrameCount(toc.frameCount.rawValue * count)
            guard sound <= Self.maximumFrameCount else { throw .tooLong(sound) }
            start = 2
            if octet & 0x40 != 0 { padding = try Self.readPadding(of: payload, at: &start) }
            guard padding <= end - start else { throw .paddingExceedsPacket(byteCount: padding) }
            end -= padding
            if octet & 0x80 != 0 { explicitCount = count - 1 }
        }
        paddingByteCount = padding
        for index in 0..<explicitCount {
            let byteCount = try Self.readLength(of: payload, at: &start, before: end)
            ends[index] = (index == 0 ? 0 : ends[index - 1]) + UInt16(byteCount)
        }
        try shareOut(upTo: end, after: explicitCount)
    }

    /// Divides the bytes before `end` equally among the Opus frames without an explicit length. The first
    /// `explicitCount` frames have an explicit length, and their bytes are not divided.
    @_noAllocation @_noLocks
    private mutating func shareOut(upTo end: Int, after explicitCount: Int) throws(OpusPacketError) {
        let told = explicitCount == 0 ? 0 : Int(ends[explicitCount - 1])
        let rest = end - start - told
        guard rest >= 0 else { throw .framesExceedPacket(byteCount: told) }
        let shareCount = count - explicitCount
        guard rest % shareCount == 0 else {
            throw toc.code == 1 ? .unevenHalves(byteCount: rest) : .unevenFrames(byteCount: rest, count: shareCount)
        }
        let share = rest / shareCount
        guard share <= Self.maximumFrameByteCount else { throw .frameTooLong(byteCount: share) }
        for index in 0..<shareCount { ends[explicitCount + index] = UInt16(told + (index + 1) * share) }
    }

    /// Reads a length of 0…1275 from one or two bytes (RFC 6716 section 3.2.1).
    @_noAllocation @_noLocks
    private static func readLength(
        of payload: Span<UInt8>, at position: inout Int, before end: Int
    ) throws(OpusPacketError) -> Int {
        guard position < end else { throw .truncatedLength }
        let first = Int(payload[position])
        position += 1
        guard first >= 252 else { return first }
        guard position < end else { throw .truncatedLength }
        let second = Int(payload[position])
        position += 1
        return 4 * second + first
    }

    /// Reads the number of padding bytes. A byte of 255 stands for 254 padding bytes, and the number continues in the
    /// next byte.
    @_noAllocation @_noLocks
    private static func readPadding(of payload: Span<UInt8>, at position: inout Int) throws(OpusPacketError) -> Int {
        var total = 0
        while position < payload.count {
            let byte = Int(payload[position])
            position += 1
            guard byte == 255 else { return total + byte }
            total += 254
        }
        throw .truncatedPadding
    }
}

/// The reason why a payload is not an Opus packet: rules R1…R7 of RFC 6716 section 3.4.
public enum OpusPacketError: Error, Hashable, Sendable {
    /// R1: the payload is empty.
    case empty
    /// R2: an Opus frame is longer than 1275 bytes.
    case frameTooLong(byteCount: Int)
    /// R3: the packet has two frames of equal size (code 1), but an odd number of bytes for them.
    case unevenHalves(byteCount: Int)
    /// R4, R7: the packet ends within the one or two bytes that state a frame's length (codes 2 and 3).
    case truncatedLength
    /// R4, R7: the lengths add up to more bytes than the packet has.
    case framesExceedPacket(byteCount: Int)
    /// R6, R7: the packet ends before the byte that states the number of frames (code 3).
    case noFrameCount
    /// R5: the number of frames (code 3) is zero.
    case noFrames
    /// R5: the packet contains more than 120 ms of audio.
    case tooLong(FrameCount)
    /// R6, R7: the packet ends within the bytes that state the length of the padding.
    case truncatedPadding
    /// R6, R7: the padding is longer than the packet.
    case paddingExceedsPacket(byteCount: Int)
    /// R6: the frames have equal length (code 3), but the number of bytes is not a multiple of the number of frames.
    case unevenFrames(byteCount: Int, count: Int)
}
