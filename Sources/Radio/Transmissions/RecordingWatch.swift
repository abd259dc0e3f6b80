internal import CLinux
internal import Glibc

/// Waits for recordings that are completed in a directory. The C functions are `inotify_add_watch` and `read`.
///
/// One thread at a time may use it.
public final class RecordingWatch {
    private let descriptor: Int32

    public enum News: Equatable, Sendable {
        /// Files with the names of recordings were closed or moved into the directory, each named once.
        case completed([String])
        /// More happened than the system could remember: the directory is to be read again.
        case overflow
        /// The directory was removed or moved away.
        case isGone
    }

    /// The kinds of events: a file is complete, the directory is gone.
    private static let completion = UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO)
    private static let loss = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)

    /// Begins to watch. Throws if the directory cannot be watched.
    public init(_ path: String) throws(RecordingError) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else { throw RecordingError(reading: path, errno) }
        let events = Self.completion | Self.loss | UInt32(IN_ONLYDIR)
        guard unsafe inotify_add_watch(descriptor, path, events) >= 0 else {
            let code = errno
            close(descriptor)
            throw RecordingError(reading: path, code)
        }
    }

    deinit { close(descriptor) }

    /// Returns what has happened since the last call, after at most `milliseconds`; nil if nothing has.
    public func next(within milliseconds: Int32) -> News? {
        guard clinux_wait_readable(descriptor, milliseconds) > 0 else { return nil }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, filled in
            filled = unsafe max(read(descriptor, buffer.baseAddress, buffer.count), 0)
        }
        return Self.news(in: bytes)
    }

    /// Parses the events: number of the watch, kind, cookie and length of the name, each of 32 bits, then the name with
    /// zeros at the end.
    private static func news(in bytes: [UInt8]) -> News? {
        var names: [String] = []
        var (place, news) = (0, News?.none)
        while place + 16 <= bytes.count {
            let (kind, length) = unsafe bytes.withUnsafeBytes {
                unsafe (
                    $0.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self),
                    Int($0.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
                )
            }
            let end = min(place + 16 + length, bytes.count)
            let name = String(decoding: bytes[(place + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
            place += 16 + length
            if kind & (Self.loss | UInt32(IN_IGNORED)) != 0 { return .isGone }
            if kind & UInt32(IN_Q_OVERFLOW) != 0 { news = .overflow }
            if RecordingName(parsing: name) != nil, !names.contains(name) { names.append(name) }
        }
        return news ?? (names.isEmpty ? nil : .completed(names))
    }
}
