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

    /// Creates the socket's directory. Ignores errors; opening the socket reports them.
    static func makeFolder(of path: String) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        _ = unsafe mkdir(folder, 0o700)
    }
}
