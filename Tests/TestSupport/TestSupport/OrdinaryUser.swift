import Glibc

/// Runs programs as a user without rights: `nobody` where root runs the tests, without the limit that grants real-time priority.
///
/// What is built may lie where nobody else may read, so a program of this package is copied first. Copies are gone with this.
public final class OrdinaryUser {
    private let folder = Folder()

    public init() { chmod(folder.path, 0o755) }

    /// A program of this package by the name of its product, or any in the PATH.
    public func start(
        _ name: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Program {
        let isRoot = geteuid() == 0
        let identity = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
        let command = try (isRoot ? identity + [readable(name)] : [Program.path(of: name)]) + arguments
        return try Program("prlimit", ["--rtprio=0:0", "--"] + command, environment: environment)
    }

    /// A copy of `name` that everybody may run; nothing is copied that lies in a folder of the system's.
    private func readable(_ name: String) throws -> String {
        let path = try Program.path(of: name)
        guard !path.hasPrefix("/usr/"), !path.hasPrefix("/bin/") else { return path }
        let copy = folder(name)
        if unsafe access(copy, X_OK) != 0 {
            folder.write(Folder.bytes(of: path), to: name)
            chmod(copy, 0o755)
        }
        return copy
    }
}
