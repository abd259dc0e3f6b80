import Glibc

/// Files of tenfour's own in the user's folders, which only their owner can read. Errors are told by the results, since
/// what tenfour does never depends on these files.
enum UserFile {
    /// Returns the folder that `variable` names, or else `path` in the home folder; nil without HOME.
    static func folder(_ variable: String, otherwise path: String) -> String? {
        if let own = environment(variable), own.hasPrefix("/") { return own }
        return environment("HOME").map { "\($0)/\(path)" }
    }

    private static func environment(_ name: String) -> String? {
        let value = unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
        return value.isEmpty ? nil : value
    }

    /// Returns the bytes of the file at `path`, at most `limit`; nil if it cannot be read. The C functions are `open` and
    /// `read`.
    static func bytes(of path: String, limit: Int) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let start = count
            let got = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(file, $0.baseAddress! + start, $0.count - start)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            count += got
        }
        bytes.removeLast(limit - count)
        return bytes
    }

    /// Replaces the file at `path` in one step, and creates its folder. Returns whether it was done. The C functions are
    /// `mkdir`, `open` and `rename`.
    @discardableResult
    static func replace(_ path: String, by bytes: [UInt8]) -> Bool {
        makeFolder(of: path)
        let new = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let file = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let isWritten = unsafe Glibc.write(file, bytes, bytes.count) == bytes.count
        let isClosed = close(file) == 0
        let isMoved = unsafe isWritten && isClosed && rename(new, path) == 0
        if !isMoved { _ = unsafe unlink(new) }
        return isMoved
    }

    /// Reads and replaces a file while no other process does so in the same folder, which is created. Goes on without
    /// a lock if there is none, as on some network file systems. The C functions are `open` and `flock`.
    static func withFolderLock<Failure>(of path: String, _ change: () throws(Failure) -> Void) throws(Failure) {
        let folder = unsafe open(makeFolder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        while folder >= 0, flock(folder, LOCK_EX) != 0, errno == EINTR {}
        try change()
    }

    /// Creates the folder of `path` and its parents, for this user only. Returns the path of the folder.
    @discardableResult
    private static func makeFolder(of path: String) -> String {
        var made = ""
        for part in path.split(separator: "/").dropLast() {
            made += "/" + part
            _ = unsafe mkdir(made, 0o700)
        }
        return made
    }
}
