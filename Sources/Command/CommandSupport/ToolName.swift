internal import Glibc

/// The names under which people start the programs of Tools. A package installs these programs beside `tenfour`, and
/// puts `tenfour-` before each name.
public enum ToolName {
    /// Returns `tenfour-replay` for "replay" if it is installed under that name in the folder of this process's program,
    /// otherwise nil.
    public static func installed(_ tool: String) -> String? {
        let name = "tenfour-\(tool)"
        return unsafe access("\(ownFolder)/\(name)", X_OK) == 0 ? name : nil
    }

    /// Returns the name of `tool` that its messages begin with and that its help shows.
    public static func shown(_ tool: String) -> String { installed(tool) ?? tool }

    private static let ownFolder: String = {
        let path = unsafe realpath("/proc/self/exe", nil)
        defer { unsafe free(path) }
        let parts = unsafe path.map { unsafe String(cString: $0) }?.split(separator: "/").dropLast() ?? []
        return "/" + parts.joined(separator: "/")
    }()
}
