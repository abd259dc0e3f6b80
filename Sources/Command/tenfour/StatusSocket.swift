import Glibc

/// The default path of a relay's status socket.
enum StatusSocket {
    /// In the user's runtime directory, or in the system's.
    static var path: String {
        let own = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? ""
        return own.hasPrefix("/") ? own + name : ofSystem
    }

    /// The existing socket: a system service's socket is in no user's directory.
    static var found: String { [path, ofSystem].first { unsafe access($0, F_OK) == 0 } ?? path }

    private static let name = "/tenfour/relay.sock"
    private static let ofSystem = "/run" + name

    /// Creates the socket's directory. Errors show when the socket is opened.
    static func makeFolder(of path: String) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        _ = unsafe mkdir(folder, 0o700)
    }
}
