internal import Glibc

/// A file descriptor: the bytes of a file or pipe, all or none. Waits for them; interruptions are not shown.
internal struct Descriptor {
    let number: Int32
    let name: String

    /// In milliseconds.
    private static let patience: Int32 = 1_000

    init(number: Int32, name: String) {
        self.number = number
        self.name = name
    }

    /// What is written at once, at the most: a pipe that is ready takes so much without waiting (`PIPE_BUF`).
    static let pieceByteCount = 4_096

    /// Opens the file at `path` to be written, and makes it where there is none.
    init(writing path: String) throws(AudioFileError) {
        number = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        name = path
        guard number >= 0 else { throw AudioFileError(errno: errno, in: "open", name: path, isWriting: true) }
    }

    /// Empties a file; a device or a pipe has nothing to be emptied of.
    func empty() throws(AudioFileError) {
        guard isRegularFile else { return }
        guard ftruncate(number, 0) == 0
        else { throw AudioFileError(errno: errno, in: "ftruncate", name: name, isWriting: true) }
    }

    /// Fills `range` of `bytes` and returns how many there were: fewer only at the end.
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

    /// As many as there are, up to `count`.
    func read(_ count: Int) throws(AudioFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        let got = try read(into: &span, 0..<count)
        bytes.removeLast(count - got)
        return bytes
    }

    /// Writes the first `count` of `bytes`. A reader who takes nothing for a second is given up where `isHopeless`.
    func write(_ count: Int, of bytes: Span<UInt8>, unless isHopeless: () -> Bool = { false }) throws(AudioFileError) {
        precondition(count <= bytes.count, "there are not so many bytes")
        var done = 0
        while done < count {
            try waitForReader(unless: isHopeless)
            let result = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(number, $0.baseAddress! + done, min(count - done, Self.pieceByteCount))
            }
            if result >= 0 { done += result } else { try waitAfterFailure(of: "write", for: POLLOUT) }
        }
    }

    private func waitForReader(unless isHopeless: () -> Bool) throws(AudioFileError) {
        var state = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        while unsafe poll(&state, 1, Self.patience) == 0 {
            if isHopeless() { throw AudioFileError(.readerIsStuck, name: name) }
        }
    }

    /// Returns when the call is worth another try.
    private func waitAfterFailure(of call: String, for events: Int32) throws(AudioFileError) {
        switch errno {
        case EINTR: return
        case EAGAIN:
            // Someone else's pipe may be set not to wait.
            var state = pollfd(fd: number, events: Int16(events), revents: 0)
            _ = unsafe poll(&state, 1, -1)
        case let code: throw AudioFileError(errno: code, in: call, name: name, isWriting: events == POLLOUT)
        }
    }

    /// Closes it and says what the last bytes came to.
    func close() throws(AudioFileError) {
        guard Glibc.close(number) == 0
        else { throw AudioFileError(errno: errno, in: "close", name: name, isWriting: true) }
    }

    var isRegularFile: Bool {
        var status = stat()
        return unsafe fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
