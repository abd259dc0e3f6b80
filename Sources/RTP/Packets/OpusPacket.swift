public import TenfourAudioCore

/// An Opus packet, the payload of one RTP packet (RFC 7587 section 4.2), taken apart into its frames as RFC 6716
/// section 3 says.
///
/// An *Opus frame* is what one decoder call restores: 2.5…60 ms of sound, or nothing at all where `byteCount` is zero
/// (lost, or silence that was not sent). Each of them is a `PacketDescription` here.
///
/// Any thread, the audio thread too: reading and asking neither allocate nor lock.
public struct OpusPacket: Sendable {
    public let toc: OpusTOC
    /// How many Opus frames there are, 1…48.
    public let count: Int
    /// The bytes at the end that mean nothing, without those that count them.
    public let paddingByteCount: Int

    /// Where the first Opus frame begins in the payload. They all follow each other.
    private var start: Int
    /// Where each Opus frame ends, counted from `start`: 48 × 1275 bytes at most, which fit.
    private var ends: InlineArray<48, UInt16>

    /// No Opus frame is longer (R2).
    public static let maximumFrameByteCount = 1275
    /// 120 ms, the most that one packet holds (R5).
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

    /// All the sound in the packet, at 48 000 Hz: 120…5760 frames.
    public var frameCount: FrameCount {
        @_noAllocation @_noLocks get { FrameCount(toc.frameCount.rawValue * count) }
    }

    /// Takes a payload apart. Total: any bytes give a packet or the rule of RFC 6716 section 3.4 that they break.
    @_noAllocation @_noLocks
    public init(parsing payload: borrowing Span<UInt8>) throws(OpusPacketError) {
        guard payload.count >= 1 else { throw .empty }
        toc = OpusTOC(rawValue: payload[0])
        ends = InlineArray(repeating: 0)
        start = 1
        var end = payload.count
        var padding = 0
        var toldCount = 0  // how many Opus frames, from the first on, have their size told
        switch toc.code {
        case 0: count = 1
        case 1: count = 2
        case 2:
            count = 2
            toldCount = 1
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
            if octet & 0x80 != 0 { toldCount = count - 1 }
        }
        paddingByteCount = padding
        for index in 0..<toldCount {
            let byteCount = try Self.readLength(of: payload, at: &start, before: end)
            ends[index] = (index == 0 ? 0 : ends[index - 1]) + UInt16(byteCount)
        }
        try shareOut(upTo: end, after: toldCount)
    }

    /// Gives the bytes before `end` that no told size covers to the Opus frames from `toldCount` on, in equal parts:
    /// to all of them where no size is told, only to the last where the others are.
    @_noAllocation @_noLocks
    private mutating func shareOut(upTo end: Int, after toldCount: Int) throws(OpusPacketError) {
        let told = toldCount == 0 ? 0 : Int(ends[toldCount - 1])
        let rest = end - start - told
        guard rest >= 0 else { throw .framesExceedPacket(byteCount: told) }
        let shareCount = count - toldCount
        guard rest % shareCount == 0 else {
            throw toc.code == 1 ? .unevenHalves(byteCount: rest) : .unevenFrames(byteCount: rest, count: shareCount)
        }
        let share = rest / shareCount
        guard share <= Self.maximumFrameByteCount else { throw .frameTooLong(byteCount: share) }
        for index in 0..<shareCount { ends[toldCount + index] = UInt16(told + (index + 1) * share) }
    }

    /// One or two bytes that tell a size of 0…1275 (RFC 6716 section 3.2.1).
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

    /// How many bytes of padding end the packet: 255 stands for 254 and another byte that tells more.
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

/// Why a payload is not an Opus packet: the rules R1…R7 of RFC 6716 section 3.4.
public enum OpusPacketError: Error, Hashable, Sendable {
    /// R1: no byte at all.
    case empty
    /// R2: an Opus frame of more than 1275 bytes.
    case frameTooLong(byteCount: Int)
    /// R3: two frames of equal size (code 1) in an odd number of bytes.
    case unevenHalves(byteCount: Int)
    /// R4, R7: the bytes that tell a frame's size (code 2 and 3) run past the end.
    case truncatedLength
    /// R4, R7: the sizes told add up to more than there is.
    case framesExceedPacket(byteCount: Int)
    /// R6, R7: code 3 without the byte that tells the number of frames.
    case noFrameCount
    /// R5: code 3 with zero frames.
    case noFrames
    /// R5: more than 120 ms of sound.
    case tooLong(FrameCount)
    /// R6, R7: the bytes that tell the padding run past the end.
    case truncatedPadding
    /// R6, R7: more padding than there are bytes.
    case paddingExceedsPacket(byteCount: Int)
    /// R6: frames of equal size (code 3) in a number of bytes that they do not divide.
    case unevenFrames(byteCount: Int, count: Int)
}
