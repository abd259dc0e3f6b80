import TenfourMediaSource
import TenfourSystem
import Testing

struct PeekingByteSourceTests {
    /// A download whose last bytes arrive, and which ends, right after it was looked at for them.
    private final class LateEnd: PeekableByteSource {
        private let peekCount = Locked(0)

        var state: ByteSourceState {
            let hasEnded = peekCount.withLock { $0 > 0 }
            return ByteSourceState(phase: hasEnded ? .ended : .receiving, available: 0..<(hasEnded ? 4 : 0))
        }

        func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int { 0 }

        func peek(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int? {
            let count = peekCount.withLock { count in
                count += 1
                return count
            }
            return count > 1 ? min(buffer.count, 4) : nil
        }
    }

    @Test func theLastBytesAreNotMissed() throws {
        let bytes = try PeekingByteSource(LateEnd())
        var room = [UInt8](repeating: 0, count: 16)
        let count = try unsafe room.withUnsafeMutableBytes { try unsafe bytes.read(at: 0, into: $0) }
        #expect(count == 4)
    }
}
