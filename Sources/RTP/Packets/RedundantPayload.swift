public import TenfourAudioCore

/// A payload that carries copies of earlier payloads in addition to its own, so that a lost packet is recovered from
/// the next (RED, RFC 2198).
///
/// On the wire, the headers of the copies come first, oldest copy first. Each states payload type, age and length. Then
/// comes one header byte with the type of the primary payload. Then come all payloads in the same order.
public struct RedundantPayload: Sendable {
    /// One payload within the packet.
    public struct Block: Hashable, BitwiseCopyable, Sendable {
        /// The payload type of the block, 0…127.
        public var payloadType: UInt8
        /// The time from the start of this block to the start of the primary payload, 0…16 383 ticks of the payload's
        /// clock. Zero for the primary payload.
        public var age: FrameCount
        /// The offset of the block in the packet's payload.
        public var offset: Int
        public var byteCount: Int

        @_noAllocation @_noLocks
        public init(payloadType: UInt8, age: FrameCount = FrameCount(0), offset: Int = 0, byteCount: Int) {
            self.payloadType = payloadType
            self.age = age
            self.offset = offset
            self.byteCount = byteCount
        }
    }

    /// The maximum number of blocks: the primary payload and seven copies.
    public static var maximumCount: Int { 8 }
    /// The maximum length of a copy, in bytes. The header has ten bits for it.
    public static var maximumByteCount: Int { 1_023 }
    /// The maximum age of a copy: 341 ms at 48 000 Hz. The header has fourteen bits for it.
    public static var maximumAge: FrameCount { FrameCount(16_383) }

    /// The number of blocks, 1…8. The primary payload is the last block.
    public private(set) var count = 0
    private var blocks = InlineArray<8, Block>(repeating: Block(payloadType: 0, byteCount: 0))

    public subscript(index: Int) -> Block {
        precondition(index >= 0 && index < count, "a redundant payload has no such block")
        return blocks[index]
    }

    /// The primary payload, which is the packet's own.
    public var primary: Block { blocks[count - 1] }

    /// Parses a payload. Total: for any bytes it returns blocks or throws a reason.
    public init(parsing payload: borrowing Span<UInt8>) throws(RedundantPayloadError) {
        var position = 0
        var length = 0
        while true {
            guard position < payload.count else { throw .truncated(byteCount: payload.count) }
            guard count < Self.maximumCount else { throw .tooManyBlocks }
            let type = payload[position] & 0x7F
            guard payload[position] & 0x80 != 0 else {
                position += 1
                let rest = payload.count - position - length
                guard rest >= 0 else { throw .truncated(byteCount: payload.count) }
                blocks[count] = Block(payloadType: type, byteCount: rest)
                count += 1
                break
            }
            guard position + 4 <= payload.count else { throw .truncated(byteCount: payload.count) }
            let word = payload.uint32(at: position)
            blocks[count] = Block(
                payloadType: type, age: FrameCount(Int(word >> 10 & 0x3FFF)), byteCount: Int(word & 0x3FF))
            length += blocks[count].byteCount
            count += 1
            position += 4
        }
        for index in 0..<count {
            blocks[index].offset = position
            position += blocks[index].byteCount
        }
    }

    /// Returns the length in bytes of all headers, those of `copies` copies and that of the primary payload.
    public static func headerByteCount(copies: Int) -> Int { 4 * copies + 1 }

    /// Appends the header of a copy; `block.offset` is not written. The copies follow all headers, in the same order.
    public static func writeHeader(ofCopy block: Block, into payload: inout OutputSpan<UInt8>) {
        precondition(
            block.byteCount <= maximumByteCount && block.age <= maximumAge && block.age > .zero,
            "a copy that RED can tell of")
        payload.append(
            bigEndian: 0x8000_0000 | UInt32(block.payloadType & 0x7F) << 24 | UInt32(block.age.rawValue) << 10
                | UInt32(block.byteCount))
    }

    /// Appends the header of the primary payload, which follows the headers of the copies.
    public static func writeHeader(ofPrimary payloadType: UInt8, into payload: inout OutputSpan<UInt8>) {
        payload.append(payloadType & 0x7F)
    }
}

/// The reason why a payload is not redundant coding (RFC 2198).
public enum RedundantPayloadError: Error, Hashable, Sendable {
    /// A header, or a block that a header announces, runs past the end of the payload.
    case truncated(byteCount: Int)
    case tooManyBlocks
}
