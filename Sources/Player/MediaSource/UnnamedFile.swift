internal import Glibc

/// A temporary file without a name, deleted with its owner, for data too large for memory.
struct UnnamedFile: ~Copyable {
    private let descriptor: Int32

    /// Creates the file in `$TMPDIR`, or in `/var/tmp`, which unlike `/tmp` is never a RAM disk. The C function is
    /// `mkstemp`.
    init() throws(ByteSourceError) {
        let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        let place = folder.isEmpty ? "/var/tmp" : folder
        var path = Array("\(place)/tenfour-XXXXXX".utf8CString)
        descriptor = unsafe path.withUnsafeMutableBufferPointer { name in
            let descriptor = unsafe mkstemp(name.baseAddress!)
            if descriptor >= 0 {
                unsafe unlink(name.baseAddress!)
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            }
            return descriptor
        }
        if descriptor < 0 {
            throw .failed(
                "no temporary file can be created in \(place) (\(text(of: errno))); set TMPDIR to another directory, or buffer less",
                kind: MediaErrorKind(errno: errno))
        }
    }

    deinit { close(descriptor) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(ByteSourceError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, offset + done)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 {
                throw .failed(
                    "the buffer cannot be written to disk (\(text(of: errno))); free disk space, or buffer less",
                    kind: MediaErrorKind(errno: errno))
            }
            done += count
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(ByteSourceError) -> Int {
        while true {
            let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, offset)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 {
                throw .failed("the buffer cannot be read from disk (\(text(of: errno))); check the disk")
            }
            return count
        }
    }
}

/// The system's message for an `errno`. The C function is `strerror_r`.
func text(of code: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count) == 0 else {
            return "\(code)"
        }
        return unsafe String(cString: start)
    }
}
