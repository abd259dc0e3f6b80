internal import Glibc

/// The edge to the machine: its files and its environment. Tests pass another root.
public struct Machine: Sendable {
    /// The folder that holds `etc`, `proc`, `dev`, `usr` and `run`; empty for the real machine.
    public var root = ""
    public var environment: [String: String]

    public init(root: String = "", environment: [String: String] = Self.ownEnvironment) {
        self.root = root
        self.environment = environment
    }

    /// The environment of this process.
    public static var ownEnvironment: [String: String] {
        var variables: [String: String] = [:]
        for name in ["HOME", "USER", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "DBUS_SYSTEM_BUS_ADDRESS"] {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        return variables
    }

    func exists(_ path: String) -> Bool { unsafe access(root + path, F_OK) == 0 }

    func isReadable(_ path: String) -> Bool { unsafe access(root + path, R_OK) == 0 }

    /// Returns the text of a file, at most a megabyte; nil if it cannot be read.
    func text(of path: String) -> String? {
        let file = unsafe open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < 1 << 20 {
            let count = unsafe read(file, &chunk, chunk.count)
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The user's folder for sockets, with a root of tests before it; nil if the user has none.
    var runtimeDirectory: String? { environment["XDG_RUNTIME_DIR"].flatMap { $0.isEmpty ? nil : $0 } }
}
