public import TenfourMediaSource
import TenfourSystem

/// A byte source whose bytes are in memory. It can pretend that the length is unknown, that seeking is impossible, or
/// that not all bytes are available yet.
public final class StoredBytes: ByteSource {
    public let bytes: [UInt8]
    private let knowsLength: Bool
    private let isSeekable: Bool
    private let isHere: Bool
    private let isInterrupted = Locked(false)
    private let isHeld = Locked(false)
    private let counts = Locked((read: 0, jumps: 0, end: 0))

    /// With `isHere` false, only the next 64 KiB are reported as available, but all bytes can be read, as from a fast
    /// server.
    public init(_ bytes: [UInt8], knowsLength: Bool = true, isSeekable: Bool = true, isHere: Bool = true) {
        self.bytes = bytes
        self.knowsLength = knowsLength
        self.isSeekable = isSeekable
        self.isHere = isHere
    }

    /// The limits have no effect, since all bytes are kept.
    public var limits: BufferLimits {
        get { .all }
        set {}
    }

    public var state: ByteSourceState {
        let end = readEnd
        return ByteSourceState(
            phase: .ended, byteCount: knowsLength ? bytes.count : nil,
            available: isHere ? 0..<bytes.count : end..<min(end + 65_536, bytes.count), isSeekable: isSeekable)
    }

    /// The number of bytes read, the number of reads that did not start at the end of the previous read, and the end of
    /// the last read.
    public var readByteCount: Int { counts.withLock { $0.read } }
    public var jumpCount: Int { counts.withLock { $0.jumps } }
    public var readEnd: Int { counts.withLock { $0.end } }

    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        if isInterrupted.withLock({ $0 }) { throw .interrupted }
        if offset != readEnd, !isSeekable, !isHeld.withLock({ $0 }) { throw .failed("these bytes cannot be had again") }
        let count = min(max(bytes.count - offset, 0), buffer.count)
        if count > 0 { unsafe buffer.copyBytes(from: bytes[offset..<offset + count]) }
        counts.withLock { $0 = ($0.read + count, $0.jumps + (offset == $0.end ? 0 : 1), offset + count) }
        return count
    }

    public func holdAll() { isHeld.withLock { $0 = true } }

    public func interrupt() { isInterrupted.withLock { $0 = true } }
    public func resume() { isInterrupted.withLock { $0 = false } }
    public func pause(_ isPaused: Bool) {}
    public func stop() {}
}
