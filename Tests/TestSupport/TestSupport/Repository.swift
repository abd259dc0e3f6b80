/// The files of this repository, for tests that read them.
public enum Repository {
    /// The absolute path of the top folder, without a trailing slash.
    public static let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()

    /// Returns the absolute path of a file or folder, whose path is given relative to the top folder.
    public static func path(_ relativePath: String) -> String { "\(root)/\(relativePath)" }
}
