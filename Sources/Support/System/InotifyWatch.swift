internal import Glibc

/// A watch of one folder. The C functions are `inotify_init1`, `inotify_add_watch` and `read`.
///
/// One thread at a time may use it.
package final class InotifyWatch {
    /// The descriptor to `poll`: it is readable while there are events.
    package let descriptor: Int32

    /// Begins to watch the folder at `path` for these kinds of events. Throws the errno: ENOENT if there is no folder,
    /// ENOSPC or EMFILE if the user has too many watches.
    package init(_ path: String, for kinds: InotifyEvent.Kinds) throws(InotifyError) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { throw InotifyError(code: errno) }
        guard unsafe inotify_add_watch(descriptor, path, kinds.rawValue | UInt32(IN_ONLYDIR)) >= 0 else {
            throw InotifyError(code: errno)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns events that have happened since the last call, oldest first: as many as 16 KiB hold. Does not wait.
    package func events() -> [InotifyEvent] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return count > 0 ? InotifyEvent.all(in: buffer.span.extracting(0..<count)) : []
    }
}

/// The system could not watch a folder; `code` is the errno.
package struct InotifyError: Error, Hashable, Sendable {
    package let code: Int32
}
