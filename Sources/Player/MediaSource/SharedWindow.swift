internal import Glibc

/// The buffer between the thread that fetches bytes and the thread that reads them.
///
/// `read` blocks the reader's thread; all other calls are short, and any thread may make them.
@safe package final class SharedWindow: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    // The properties below may be accessed only with the mutex held.
    private var bytes = HeldBytes()
    private var current: ByteSourceState
    private var reader = 0
    private var bounds: BufferLimits
    private var holdsAll = false
    /// The offset that the reader waits for and that no request covers yet.
    private var wanted: Int?
    private var isInterrupted = false
    private var isStopped = false
    private var titles: [(offset: Int, text: String)] = []

    /// The distance, in bytes, between the end of the buffer and the reader up to which the reader waits for the
    /// present transfer. For a greater distance a new request is sent. 256 KiB take 200 ms on a line of 10 Mbit/s, as
    /// long as a new request.
    private static let nearby = 256 << 10
    private static let maximumTitleCount = 64
    private static let allOfALiveStream = BufferLimits(ahead: 8 << 20, behind: 8 << 20)

    /// Creates an empty window whose first byte will be the one at `offset`.
    package init(_ state: ByteSourceState, limits: BufferLimits, from offset: Int = 0) {
        current = state
        reader = offset
        bytes.restart(at: offset)
        bounds = limits
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    private func withLock<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body()
    }

    private func wakeReader() { unsafe pthread_cond_broadcast(changed) }

    // MARK: Any thread

    package var state: ByteSourceState {
        withLock {
            var state = current
            state.available = min(reader, bytes.held.upperBound)..<bytes.held.upperBound
            state.held = bytes.held
            return state
        }
    }

    package var limits: BufferLimits {
        get { withLock { bounds } }
        set { withLock { bounds = newValue } }
    }

    /// Implements `ByteSource.holdAll`. Bytes dropped earlier are lost.
    package func holdAll() { withLock { holdsAll = true } }

    package func title(at offset: Int) -> String? {
        withLock { titles.last { $0.offset <= offset }?.text }
    }

    package func interrupt(_ isInterrupted: Bool) {
        withLock {
            self.isInterrupted = isInterrupted
            wakeReader()
        }
    }

    package func stop() {
        withLock {
            isStopped = true
            bytes.restart(at: bytes.held.upperBound)
            wakeReader()
        }
    }

    /// Implements `PeekableByteSource.peek`.
    package func peek(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int? {
        try withLock { () throws(ByteSourceError) in
            if isStopped { throw .interrupted }
            let count = try unsafe bytes.copy(from: offset, into: buffer)
            if unsafe count > 0 || buffer.isEmpty { return count }
            let isEnd = current.byteCount.map { offset >= $0 } ?? (current.phase == .ended)
            return isEnd && offset >= bytes.held.upperBound ? 0 : nil
        }
    }

    // MARK: The reader's thread

    /// Implements `ByteSource.read`. Calls `demand` when the buffer has space again, or when the reader needs bytes
    /// that the present request will not deliver.
    package func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer, demand: () -> Void
    ) throws(ByteSourceError) -> Int {
        // Refuses a negative offset, to which a damaged file may lead.
        if offset < 0 {
            throw .failed(
                "the file refers to bytes before its start; it is damaged, so download it again", kind: .damaged)
        }
        if unsafe buffer.isEmpty { return 0 }
        var isDemanding = false
        // Called without the lock, because the thread that it wakes takes the lock.
        defer { if isDemanding { demand() } }
        return try withLock { () throws(ByteSourceError) in
            while true {
                if isInterrupted || isStopped { throw .interrupted }
                move(to: offset)
                if let count = try unsafe copyBuffered(into: buffer) {
                    isDemanding = current.phase == .full && hasSpaceAgain
                    return count
                }
                if needsDemand(offset) {
                    unsafe pthread_mutex_unlock(mutex)
                    demand()
                    unsafe pthread_mutex_lock(mutex)
                    continue
                }
                unsafe pthread_cond_wait(changed, mutex)
            }
        }
    }

    /// Like `read`, but returns nil instead of blocking.
    func readIfHere(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int? {
        if unsafe buffer.isEmpty { return 0 }
        return try withLock { () throws(ByteSourceError) in
            if isInterrupted || isStopped { throw .interrupted }
            move(to: offset)
            return try unsafe copyBuffered(into: buffer)
        }
    }

    private func move(to offset: Int) {
        reader = offset
        forget()
    }

    private func forget() {
        let behind = memoryBounds.behind
        if reader > behind { bytes.forget(before: reader - behind) }
    }

    /// Copies buffered bytes from the reader's position on. Returns 0 at the end, nil if the caller would have to wait.
    private func copyBuffered(into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int? {
        let count = try unsafe bytes.copy(from: reader, into: buffer)
        if count > 0 {
            move(to: reader + count)
            return count
        }
        if let end = current.byteCount, reader >= end { return 0 }
        if reader >= bytes.held.upperBound {
            if current.phase == .ended { return 0 }
        } else if !current.isRepeatable, current.phase != .connecting {
            throw .failed(
                "this stream cannot be rewound that far; save the stream to a file first", kind: .notSeekable)
        }
        if case .failed(let error) = current.phase { throw error }
        return nil
    }

    /// Returns whether the fetcher must be notified that the reader waits for `offset`.
    private func needsDemand(_ offset: Int) -> Bool {
        let end = bytes.held.upperBound
        let comesAnyhow = offset >= end && (offset - end <= Self.nearby || !current.isSeekable)
        if comesAnyhow {
            wanted = nil
            // Notifies the fetcher only if it has paused, because the buffer was full while the reader was further
            // back.
            guard current.phase == .full else { return false }
            current.phase = .receiving
            return true
        }
        if wanted == offset { return false }
        wanted = offset
        return true
    }

    // MARK: The fetcher's thread

    package func update(_ change: (inout ByteSourceState) -> Void) {
        withLock {
            change(&current)
            wakeReader()
        }
    }

    /// If the reader waits for bytes that the present request will not deliver, drops the buffer and returns the offset
    /// from which to fetch. Returns nil if the reader does not wait for such bytes.
    package func restartWhereWanted() -> Int? {
        withLock {
            guard let offset = wanted else { return nil }
            wanted = nil
            current.phase = .connecting
            titles.removeAll()
            bytes.restart(at: offset)
            return offset
        }
    }

    /// The offset of the next byte to append.
    package var end: Int { withLock { bytes.held.upperBound } }

    package var isFull: Bool { withLock { isFullNow } }

    package var hasRoom: Bool { withLock { hasSpaceAgain } }

    private var isFullNow: Bool { bytes.held.upperBound - reader >= memoryBounds.ahead }

    /// Whether less than three quarters of the limit are buffered ahead of the reader. A paused transfer is resumed
    /// only then, since it would otherwise be paused and resumed for each read.
    private var hasSpaceAgain: Bool { bytes.held.upperBound - reader < memoryBounds.ahead / 4 * 3 }

    /// The limits in effect: `.all` after `holdAll`, otherwise the requested limits. The requested limit `.all` is
    /// reduced for a live stream, which would fill any disk.
    private var memoryBounds: BufferLimits {
        if holdsAll { return .all }
        return current.isLive && bounds == .all ? Self.allOfALiveStream : bounds
    }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(ByteSourceError) {
        try withLock { () throws(ByteSourceError) in
            if isStopped { return }
            if memoryBounds == .all, !self.bytes.isInFile { try self.bytes.moveToFile() }
            try unsafe self.bytes.append(bytes)
            forget()
            wakeReader()
        }
    }

    /// Sets the title for the audio that is appended from now on.
    package func add(title: String) {
        withLock {
            if titles.count == Self.maximumTitleCount { titles.removeFirst() }
            titles.append((bytes.held.upperBound, title))
        }
    }

    /// Records that the stream has ended, so the bytes buffered so far are the last.
    package func finish() {
        withLock {
            current.byteCount = bytes.held.upperBound
            current.phase = .ended
            wakeReader()
        }
    }
}
