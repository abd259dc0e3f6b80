internal import Glibc
internal import TenfourAudioCore
internal import TenfourSystem

/// A file descriptor. Reading and writing block until all bytes are transferred, and are retried after EINTR.
internal struct Descriptor {
    let number: Int32
    let name: String

    /// The time, in milliseconds, after which a reader counts as stuck if it accepts nothing.
    private static let pollTimeout: Int32 = 1_000

    init(number: Int32, name: String) {
        self.number = number
        self.name = name
    }

    /// The maximum number of bytes per `write`: a pipe that is ready accepts this many without blocking (`PIPE_BUF`).
    static let pieceByteCount = 4_096

    /// Opens the file at `path` for writing; creates it if it does not exist.
    init(writing path: String) throws(AudioFileError) {
        number = unsafe path.withPath { unsafe open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666) }
        name = path
        guard number >= 0 else { throw AudioFileError(errno: errno, in: "open", name: path, isWriting: true) }
    }

    /// Truncates a regular file; does nothing for a device or a pipe.
    func empty() throws(AudioFileError) {
        guard isRegularFile else { return }
        guard ftruncate(number, 0) == 0
        else { throw AudioFileError(errno: errno, in: "ftruncate", name: name, isWriting: true) }
    }

    /// Fills `bytes[range]` and returns the number of bytes read, which is less than requested only at the end of the
    /// file.
    func read(into bytes: inout MutableSpan<UInt8>, _ range: Range<Int>) throws(AudioFileError) -> Int {
        precondition(range.upperBound <= bytes.count, "the bytes do not fit")
        var place = range.lowerBound
        while place < range.upperBound {
            let result = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(number, $0.baseAddress! + place, range.upperBound - place)
            }
            if result == 0 { break }
            if result > 0 { place += result } else { try waitAfterFailure(of: "read", for: POLLIN) }
        }
        return place - range.lowerBound
    }

    /// Reads `count` bytes; fewer at the end of the file.
    func read(_ count: Int) throws(AudioFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        let got = try read(into: &span, 0..<count)
        bytes.removeLast(count - got)
        return bytes
    }

    /// Writes the first `count` of `bytes`. Throws if the reader accepts nothing for one second and `isAbandoned`
    /// returns true.
    func write(_ count: Int, of bytes: Span<UInt8>, unless isAbandoned: () -> Bool = { false }) throws(AudioFileError) {
        precondition(count <= bytes.count, "more bytes were requested than there are")
        var done = 0
        while done < count {
            try waitForReader(unless: isAbandoned)
            let result = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(number, $0.baseAddress! + done, min(count - done, Self.pieceByteCount))
            }
            if result >= 0 { done += result } else { try waitAfterFailure(of: "write", for: POLLOUT) }
        }
    }

    private func waitForReader(unless isAbandoned: () -> Bool) throws(AudioFileError) {
        var state = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        while unsafe poll(&state, 1, Self.pollTimeout) == 0 {
            if isAbandoned() { throw AudioFileError(.readerIsStuck, name: name) }
        }
    }

    /// Waits until a call that failed for a temporary reason can be retried. Throws if the reason is not temporary.
    private func waitAfterFailure(of call: String, for events: Int32) throws(AudioFileError) {
        switch errno {
        case EINTR: return
        case EAGAIN:
            // Waits until the descriptor is ready: it belongs to a pipe that another program has made non-blocking.
            var state = pollfd(fd: number, events: Int16(events), revents: 0)
            _ = unsafe poll(&state, 1, -1)
        case let code: throw AudioFileError(errno: code, in: call, name: name, isWriting: events == POLLOUT)
        }
    }

    /// Waits until what was written is on the disk. A pipe and a device have nothing to wait for.
    func synchronize() throws(AudioFileError) {
        let code = DiskSync.wait(for: number)
        guard code == 0 else { throw AudioFileError(errno: code, in: "fsync", name: name, isWriting: true) }
    }

    /// Closes the descriptor. Throws if the last bytes could not be written.
    func close() throws(AudioFileError) {
        guard Glibc.close(number) == 0
        else { throw AudioFileError(errno: errno, in: "close", name: name, isWriting: true) }
    }

    var isRegularFile: Bool {
        var status = stat()
        return unsafe fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
