public import TenfourMediaSource
import TenfourRings

/// A download of bytes that are all here. Its length may be kept to itself, that it can go anywhere, and that all is here.
public final class StoredBytes: ByteSource {
    public let bytes: [UInt8]
    private let knowsLength: Bool
    private let isSeekable: Bool
    private let isHere: Bool
    private let isInterrupted = Locked(false)
    private let isHeld = Locked(false)
    private let counts = Locked((read: 0, jumps: 0, end: 0))

    /// What is not `isHere` can be had all the same, as from a server near by.
    public init(_ bytes: [UInt8], knowsLength: Bool = true, isSeekable: Bool = true, isHere: Bool = true) {
        self.bytes = bytes
        self.knowsLength = knowsLength
        self.isSeekable = isSeekable
        self.isHere = isHere
    }

    /// All is kept.
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

    /// How many bytes were read, how often at another place than where the last ended, and where that was.
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
