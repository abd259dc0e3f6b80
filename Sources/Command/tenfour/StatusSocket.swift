import Glibc

/// Where a relay's status is to be had, unless another place is named.
enum StatusSocket {
    /// In the user's own folder for such things, or in the system's.
    static var path: String {
        let own = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? ""
        return own.hasPrefix("/") ? own + name : ofSystem
    }

    /// Where it is: a relay that the system has started is in no user's folder.
    static var found: String { [path, ofSystem].first { unsafe access($0, F_OK) == 0 } ?? path }

    private static let name = "/tenfour/relay.sock"
    private static let ofSystem = "/run" + name

    /// Tries to; what is missing then is told by whoever needs it.
    static func makeFolder(of path: String) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        _ = unsafe mkdir(folder, 0o700)
    }
}
