public import Feed
import Synchronization

/// A download of bytes that are all here. Its length may be kept to itself, and that it can go anywhere.
public final class StoredBytes: Downloading {
    public let bytes: [UInt8]
    private let knowsLength: Bool
    private let isSeekable: Bool
    private let isInterrupted = Mutex(false)
    private let counts = Mutex((read: 0, jumps: 0, end: 0))

    public init(_ bytes: [UInt8], knowsLength: Bool = true, isSeekable: Bool = true) {
        self.bytes = bytes
        self.knowsLength = knowsLength
        self.isSeekable = isSeekable
    }

    public var state: DownloadState {
        DownloadState(
            phase: .ended, byteCount: knowsLength ? bytes.count : nil, available: 0..<bytes.count, isSeekable: isSeekable)
    }

    /// How many bytes were read, and how often at another place than where the last ended.
    public var readByteCount: Int { counts.withLock { $0.read } }
    public var jumpCount: Int { counts.withLock { $0.jumps } }

    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(DownloadError) -> Int {
        if isInterrupted.withLock({ $0 }) { throw .interrupted }
        let end = counts.withLock { $0.end }
        if offset < end, !isSeekable { throw .failed("these bytes cannot be had again") }
        let count = unsafe min(max(bytes.count - offset, 0), buffer.count)
        bytes.withUnsafeBytes { source in
            guard count > 0, let from = unsafe source.baseAddress, let to = unsafe buffer.baseAddress else { return }
            unsafe to.copyMemory(from: from + offset, byteCount: count)
        }
        counts.withLock { $0 = ($0.read + count, $0.jumps + (offset == $0.end ? 0 : 1), offset + count) }
        return count
    }

    public func interrupt() { isInterrupted.withLock { $0 = true } }
    public func resume() { isInterrupted.withLock { $0 = false } }
    public func pause(_ isPaused: Bool) {}
    public func stop() {}
}
