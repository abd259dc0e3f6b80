/// The files of this checkout, for tests that read them.
public enum Repository {
    /// The absolute path of the top folder, without a slash at its end.
    public static let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()

    /// The absolute path of a file or folder, given from the top folder on.
    public static func path(_ relativePath: String) -> String { "\(root)/\(relativePath)" }
}
