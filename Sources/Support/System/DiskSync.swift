internal import Glibc

/// Waits for the disk, so that a power cut does not take what was written. For threads that may block for seconds.
package enum DiskSync {
    /// Waits until the content of a file, or the names in a folder, are on the disk. Returns 0 or an `errno`. A pipe, a
    /// device, a read-only file system and one that cannot be asked have nothing to wait for. The C function is `fsync`.
    package static func wait(for descriptor: Int32) -> Int32 {
        while fsync(descriptor) != 0 {
            switch errno {
            case EINTR: continue
            case EINVAL, EROFS, ENOTSUP, ENOSYS: return 0
            case let code: return code
            }
        }
        return 0
    }

    /// Waits until the names in the folder of the file at `path` are on the disk. Returns 0 or an `errno`.
    package static func wait(forFolderOf path: String) -> Int32 {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that may be written but not read cannot be waited for.
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        return wait(for: descriptor)
    }
}
