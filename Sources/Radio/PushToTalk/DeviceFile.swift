internal import CLinux
internal import Glibc
internal import TenfourAudioCore
internal import TenfourClocks

/// A file whose bytes come from a device, or from a pipe or a recording that takes its place. The C functions are
/// `open` and `read`.
final class DeviceFile {
    enum Kind {
        case device, pipe, recording
    }

    enum Result {
        /// Bytes were there, or none were.
        case read
        /// As many bytes were there as one read takes.
        case full
        /// The device was unplugged, the pipe's writer has closed it, or the recording has ended.
        case ended
    }

    let descriptor: Int32
    let kind: Kind
    private var buffer = [UInt8](repeating: 0, count: byteCount)

    /// The most bytes that one read takes: 170 input events.
    static let byteCount = 4_096

    /// Opens the file without waiting. Throws the errno; EINVAL for a file of another kind, such as a folder.
    init(_ path: String) throws(SystemError) {
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(code: errno) }
        var status = stat()
        let kind: Kind? =
            if unsafe fstat(descriptor, &status) != 0 { nil } else {
                switch status.st_mode & S_IFMT {
                case S_IFCHR: .device
                case S_IFIFO: .pipe
                case S_IFREG: .recording
                default: nil
                }
            }
        guard let kind else {
            close(descriptor)
            throw SystemError(code: EINVAL)
        }
        (self.descriptor, self.kind) = (descriptor, kind)
    }

    deinit { close(descriptor) }

    /// Reads once, and passes the bytes to `take`. Does not wait.
    func read(_ take: (Span<UInt8>) -> Void) -> Result {
        let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
        if count > 0 {
            take(buffer.span.extracting(0..<count))
            return count == buffer.count ? .full : .read
        }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .read : .ended
    }

    /// Whether there is a file at a path. The C function is `access`.
    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether this user may not read the file at a path.
    static func isRefused(_ path: String) -> Bool {
        unsafe access(path, R_OK) != 0 && SystemError(code: errno).isRefused
    }

    /// Returns at most `limit` bytes of a small file, such as one of sysfs; nil if it cannot be read.
    static func contents(of path: String, limit: Int = byteCount) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var end = 0
        while end < limit {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress! + end, limit - end)
            }
            guard count > 0 else { break }
            end += count
        }
        return Array(bytes[..<end])
    }

    /// Returns the text of a small file without spaces and line ends around it, such as one of sysfs; nil if it cannot
    /// be read.
    static func line(of path: String) -> String? {
        guard let bytes = contents(of: path) else { return nil }
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x0A }
        let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<end].drop(while: isSpace), as: UTF8.self)
    }
}

/// An errno.
struct SystemError: Error, Hashable {
    var code: Int32

    /// The C library's text, as the end of a sentence.
    var text: String { unsafe String(cString: strerror(code)) }
    var isMissing: Bool { [ENOENT, ENODEV, ENXIO, ENOTDIR].contains(code) }
    var isRefused: Bool { code == EACCES || code == EPERM }
}

/// What a descriptor is ready for.
struct PollResult: OptionSet {
    let rawValue: UInt8

    static let readable = Self(rawValue: 1)
    /// The other end is closed, or the device is gone.
    static let hungUp = Self(rawValue: 2)

    /// Waits until one of the descriptors is ready, at most until `deadline`; nil for no limit. The C function is
    /// `poll`.
    static func wait(for descriptors: [Int32], until deadline: Instant?) -> [Self] {
        let timeout = PollTimeout.milliseconds(until: deadline)
        var states = [UInt8](repeating: 0, count: descriptors.count)
        _ = unsafe clinux_wait_any(descriptors, &states, Int32(descriptors.count), timeout)
        return states.map { Self(rawValue: $0) }
    }
}
