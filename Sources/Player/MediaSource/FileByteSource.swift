internal import Glibc
internal import Synchronization
internal import TenfourAudioCore

/// Reads a regular file in place.
public final class FileByteSource: PeekableByteSource {
    private let descriptor: Int32
    private let resource: Resource
    /// The size in bytes at the last call of `fstat`.
    private let lastByteCount: Atomic<Int>
    private let place = Atomic(0)
    private let isInterrupted = Atomic(false)
    private let isStopped = Atomic(false)
    /// The offset of the end, if the file is not to be followed beyond it.
    private let end = Atomic(Int.max)

    /// Opens `path`: a regular file as `FileByteSource`, a pipe, terminal or device as `PipeByteSource`; `-` is
    /// standard input. If it cannot be read, throws a sentence that includes the remedy.
    public static func open(
        _ path: String, limits: BufferLimits = BufferLimits()
    ) throws(ByteSourceError) -> any ByteSource {
        if path.utf8.contains(0) {
            throw .failed("the path contains a NUL character; check its spelling", kind: .invalidAddress)
        }
        // Duplicates the descriptor of standard input, so that stopping this source leaves standard input open. Opens a
        // path with O_NONBLOCK, so that a FIFO without a writer does not block here: `read` waits for the writer, and
        // `stop` can end that wait.
        let descriptor =
            unsafe path == "-"
            ? fcntl(0, F_DUPFD_CLOEXEC, 0)
            : path.withPath { unsafe Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard descriptor >= 0 else { throw refusal(of: path, errno) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            close(descriptor)
            throw refusal(of: path, errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return FileByteSource(descriptor, path, Int(status.st_size))
        case S_IFDIR:
            close(descriptor)
            throw refusal(of: path, EISDIR)
        default: return try PipeByteSource(descriptor, named: path, limits: limits)
        }
    }

    /// Creates a source that owns `descriptor` and closes it.
    private init(_ descriptor: Int32, _ path: String, _ byteCount: Int) {
        self.descriptor = descriptor
        lastByteCount = Atomic(byteCount)
        resource = path == "-" ? .standardInput : .file(path: path)
    }

    deinit { close(descriptor) }

    public var state: ByteSourceState {
        let byteCount = byteCount
        let offset = min(place.load(ordering: .relaxed), byteCount)
        return ByteSourceState(
            phase: .ended, byteCount: byteCount, available: offset..<byteCount, held: 0..<byteCount, isSeekable: true,
            resource: resource)
    }

    /// Tells the file from others; nil if the disk does not answer any more.
    package var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    /// Lets the file end where it ends now, also if a program goes on writing it. For any thread.
    public func endHere() { end.store(byteCount, ordering: .relaxed) }

    /// The current size, since a program may be writing the file, or less after `endHere`.
    private var byteCount: Int { min(fileByteCount, end.load(ordering: .relaxed)) }

    /// The C function is `fstat`.
    private var fileByteCount: Int {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return lastByteCount.load(ordering: .relaxed) }
        lastByteCount.store(Int(status.st_size), ordering: .relaxed)
        return Int(status.st_size)
    }

    /// No limits, since the kernel's page cache keeps the bytes. Setting limits has no effect.
    public var limits: BufferLimits {
        get { .all }
        set {}
    }

    /// Implements `ByteSource.read`. The C function is `pread`.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        let count = try unsafe copy(from: offset, into: buffer) {
            isInterrupted.load(ordering: .acquiring) || isStopped.load(ordering: .acquiring)
        }
        place.store(min(offset, Int.max - count) + count, ordering: .relaxed)
        return count
    }

    package func peek(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int? {
        try unsafe copy(from: offset, into: buffer) { isStopped.load(ordering: .acquiring) }
    }

    private func copy(
        from offset: Int, into buffer: UnsafeMutableRawBufferPointer, unless isEnded: () -> Bool
    ) throws(ByteSourceError) -> Int {
        // Refuses a negative offset, and treats an offset that the kernel cannot count as the end: a damaged file may
        // lead to both.
        if offset < 0 {
            throw .failed(
                "the file refers to bytes before its start; it is damaged, so download it again",
                kind: .damaged)
        }
        if offset > Int.max - buffer.count { return 0 }
        let wanted = min(buffer.count, max(end.load(ordering: .relaxed) - offset, 0))
        while true {
            if isEnded() { throw .interrupted }
            let count = unsafe pread(descriptor, buffer.baseAddress, wanted, offset)
            if count < 0 && errno == EINTR { continue }
            if count < 0 {
                throw .failed(
                    "the file cannot be read any further (\(text(of: errno))); check the disk or the network share",
                    kind: MediaErrorKind(errno: errno))
            }
            return count
        }
    }

    public func interrupt() { isInterrupted.store(true, ordering: .releasing) }
    public func resume() { isInterrupted.store(false, ordering: .releasing) }
    public func pause(_ isPaused: Bool) {}
    public func stop() { isStopped.store(true, ordering: .releasing) }

    private static func refusal(of path: String, _ code: Int32) -> ByteSourceError {
        let name = path == "-" ? "the standard input" : String(fromPeer: Resource.shown(path))
        let sentence =
            switch code {
            case ENOENT: "there is no file \(name); check the spelling, or write an address as https://…"
            case EACCES: "you may not read \(name); ask its owner, or `chmod` it"
            case EISDIR: "\(name) is a directory; name a file in it"
            case EBADF: "the standard input is closed; connect a file or a pipe to it"
            default: "\(name) cannot be read (\(text(of: code))); name another file"
            }
        return .failed(sentence, kind: MediaErrorKind(errno: code))
    }
}
