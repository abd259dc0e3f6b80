internal import Glibc
internal import TenfourUV

/// Folders of device files and of sysfs.
enum DeviceFolder {
    /// Returns the names in a folder; empty if it does not exist.
    static func names(in folder: String) -> [String] {
        Directory.names(in: folder).filter { !$0.hasPrefix(".") }
    }

    /// Returns the file that a path of symbolic links leads to; the path itself if there is none. The C function is
    /// `realpath`.
    static func target(of path: String) -> String {
        guard let target = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(target) }
        return unsafe String(cString: target)
    }
}
