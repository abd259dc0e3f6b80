import TestSupport

/// A folder that stands for the root of a machine. It is removed with this object.
final class Tree {
    let path: String
    private let folder = Folder()

    init() { path = folder.path }

    deinit { _ = try? Program.run("rm", ["-rf", "--", path]) }

    /// Writes a file, and makes its folders.
    func write(_ text: String, to name: String) {
        let parts = name.split(separator: "/").dropLast().joined(separator: "/")
        _ = try? Program.run("mkdir", ["-p", "\(path)/\(parts)"])
        folder.write(text, to: name)
    }
}
