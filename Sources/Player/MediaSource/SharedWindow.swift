internal import Glibc

/// Where the thread that fetches bytes and the one that reads them meet: the bytes between them, and how far each has come.
///
/// `read` waits on the reader's thread; all else is short, and for any thread.
@safe package final class SharedWindow: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    // Only with the mutex held.
    private var bytes = HeldBytes()
    private var current: ByteSourceState
    private var reader = 0
    private var bounds: BufferLimits
    private var holdsAll = false
    /// What the reader waits for and nobody has begun to fetch.
    private var wanted: Int?
    private var isInterrupted = false
    private var isStopped = false
    private var titles: [(offset: Int, text: String)] = []

    /// So far ahead of what is here the reader waits for what comes anyhow, rather than have it asked for anew: about what
    /// a line of 10 Mbit/s brings in the time that a new connection takes.
    private static let nearby = 256 << 10
    private static let maximumTitleCount = 64
    private static let allOfALiveStream = BufferLimits(ahead: 8 << 20, behind: 8 << 20)

    package init(_ state: ByteSourceState, limits: BufferLimits) {
        current = state
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

    /// As `ByteSource.holdAll`. What has been forgotten by now is gone.
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

    // MARK: The reader's thread

    /// As `ByteSource.read`. Calls `demand` where there is room again, or something else is wanted than what comes.
    package func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer, demand: () -> Void
    ) throws(ByteSourceError) -> Int {
        // What a file says of itself may lead anywhere.
        if offset < 0 {
            throw .failed("what lies before the first byte was asked for; the sound is damaged, get it anew")
        }
        if unsafe buffer.isEmpty { return 0 }
        var isDemanding = false
        // Without the lock, since whoever is woken takes it.
        defer { if isDemanding { demand() } }
        return try withLock { () throws(ByteSourceError) in
            while true {
                if isInterrupted || isStopped { throw .interrupted }
                move(to: offset)
                if let count = try unsafe take(into: buffer) {
                    isDemanding = current.phase == .full && hasRoomAgain
                    return count
                }
                if mustDemand(offset) {
                    unsafe pthread_mutex_unlock(mutex)
                    demand()
                    unsafe pthread_mutex_lock(mutex)
                    continue
                }
                unsafe pthread_cond_wait(changed, mutex)
            }
        }
    }

    /// As `read`, but nil where that would have to wait.
    func readIfHere(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int? {
        if unsafe buffer.isEmpty { return 0 }
        return try withLock { () throws(ByteSourceError) in
            if isInterrupted || isStopped { throw .interrupted }
            move(to: offset)
            return try unsafe take(into: buffer)
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

    /// What is here from the reader on; 0 at the end, nil where that must be waited for.
    private func take(into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int? {
        let count = try unsafe bytes.copy(from: reader, into: buffer)
        if count > 0 {
            move(to: reader + count)
            return count
        }
        if let end = current.byteCount, reader >= end { return 0 }
        if reader >= bytes.held.upperBound {
            if current.phase == .ended { return 0 }
        } else if !current.isRepeatable, current.phase != .connecting {
            throw .failed("what is gone by cannot be heard again, as this comes but once; save it to a file first")
        }
        if case .failed(let error) = current.phase { throw error }
        return nil
    }

    /// Whether somebody must be told that the reader waits for `offset`.
    private func mustDemand(_ offset: Int) -> Bool {
        let end = bytes.held.upperBound
        let comesAnyhow = offset >= end && (offset - end <= Self.nearby || !current.isSeekable)
        if comesAnyhow {
            wanted = nil
            // But for one who has stopped, because of a reader who was further back.
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

    /// Forgets what is here for what the reader waits for and is not on its way, if anything, and returns from where on bytes
    /// are to come.
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

    /// The offset that the next byte will have.
    package var end: Int { withLock { bytes.held.upperBound } }

    package var isFull: Bool { withLock { isFullNow } }

    package var hasRoom: Bool { withLock { hasRoomAgain } }

    private var isFullNow: Bool { bytes.held.upperBound - reader >= memoryBounds.ahead }

    /// A quarter less, so that it is not stopped and started for each read.
    private var hasRoomAgain: Bool { bytes.held.upperBound - reader < memoryBounds.ahead / 4 * 3 }

    /// All of what has no end would fill any disk.
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

    /// What comes next is called so.
    package func add(title: String) {
        withLock {
            if titles.count == Self.maximumTitleCount { titles.removeFirst() }
            titles.append((bytes.held.upperBound, title))
        }
    }

    /// No more bytes come: what is here ends where the whole ends.
    package func finish() {
        withLock {
            current.byteCount = bytes.held.upperBound
            current.phase = .ended
            wakeReader()
        }
    }
}
