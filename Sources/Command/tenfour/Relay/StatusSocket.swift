import Glibc

/// The default path of a relay's status socket.
enum StatusSocket {
    /// The path in the user's runtime directory. If the user has none, the path in the system's runtime directory.
    static var path: String {
        let own = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? ""
        return own.hasPrefix("/") ? own + name : ofSystem
    }

    /// The path of the socket that exists: first `path` is checked, then the socket of a relay that runs as a system
    /// service. If neither exists, `path`.
    static var found: String { [path, ofSystem].first { unsafe access($0, F_OK) == 0 } ?? path }

    private static let name = "/tenfour/relay.sock"
    private static let ofSystem = "/run" + name

    /// Creates the directory of the default path. Returns why it cannot be used: another user could change it; nil for other
    /// errors, which the opening of the socket reports.
    static func makeFolder(of path: String) -> String? {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard unsafe mkdir(folder, 0o700) != 0, errno == EEXIST else { return nil }
        var status = stat()
        guard unsafe lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            status.st_mode & 0o022 == 0
        else { return "\(folder) is not a directory that only this user can change: remove it" }
        return nil
    }
}
