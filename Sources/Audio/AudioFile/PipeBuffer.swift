internal import Glibc

/// An unnamed file with the content of a pipe, for formats that libsndfile reads only with seeking.
internal struct PipeBuffer {
    /// The descriptor of the unnamed file, which the caller closes.
    let descriptor: Descriptor

    /// The maximum number of bytes copied: 1 GiB. If the pipe sends more, `init` throws, so that an endless pipe does
    /// not fill the disk.
    private static let maximumByteCount = 1 << 30

    /// Copies `start`, which was read from `pipe` before, and then the rest of `pipe`.
    init(_ pipe: Descriptor, after start: [UInt8]) throws(AudioFileError) {
        let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var path = Array("\(folder)/tenfour-XXXXXX".utf8CString)
        let number = unsafe mkstemp(&path)
        guard number >= 0 else { throw AudioFileError(errno: errno, in: "mkstemp", name: folder, isWriting: true) }
        unsafe unlink(path)
        descriptor = Descriptor(number: number, name: pipe.name)
        do throws(AudioFileError) {
            try descriptor.write(start.count, of: start.span)
            var byteCount = start.count
            while true {
                let bytes = try pipe.read(65_536)
                if bytes.isEmpty { break }
                byteCount += bytes.count
                guard byteCount <= Self.maximumByteCount
                else {
                    throw AudioFileError(
                        .isNotSound("The pipe sends more than 1 GiB; save it to a file first."), name: pipe.name)
                }
                try descriptor.write(bytes.count, of: bytes.span)
            }
            lseek(number, 0, SEEK_SET)
        } catch {
            close(number)
            throw error
        }
    }
}
