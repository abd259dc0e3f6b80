import Glibc

/// Runs programs as a user without privileges: as `nobody` if root runs the tests, and without the limit that grants
/// real-time priority.
///
/// Programs of this package are copied first, because the build folder may be unreadable for other users. The copies
/// are removed with this object.
public final class OrdinaryUser {
    private let folder = Folder()

    public init() { unsafe chmod(folder.path, 0o755) }

    /// Starts a program of this package by the name of its product, or a program in the PATH.
    public func start(
        _ name: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Program {
        let isRoot = geteuid() == 0
        let identity = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
        let command = try (isRoot ? identity + [readable(name)] : [Program.path(of: name)]) + arguments
        return try Program("prlimit", ["--rtprio=0:0", "--"] + command, environment: environment)
    }

    /// Returns the path of a copy of `name` that everybody may run, while this object exists. Programs in system folders
    /// are not copied.
    public func readable(_ name: String) throws -> String {
        let path = try Program.path(of: name)
        guard !path.hasPrefix("/usr/"), !path.hasPrefix("/bin/") else { return path }
        let copy = folder(name)
        if unsafe access(copy, X_OK) != 0 {
            // By a program of its own: a child that another thread starts meanwhile would hold the copy open for writing,
            // and the kernel would not run it (ETXTBSY).
            let copying = try Program.run("install", ["-m", "755", path, copy])
            precondition(copying.end == .code(0), copying.errors)
        }
        return copy
    }
}
