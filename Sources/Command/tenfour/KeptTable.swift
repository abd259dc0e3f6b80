import Glibc
import TenfourSystem

/// A table that is kept as the text of a user's file, whose first line says what the file is.
protocol KeptTable {
    /// The largest size of the text in bytes; more is not read.
    static var maximumByteCount: Int { get }

    init()

    /// Parses the text of a file; nil if it is none of these files.
    init?(parsing text: String)

    /// The text of the file, at most `maximumByteCount` bytes.
    var text: String { get }
}

extension KeptTable {
    /// Reads the table in the file at `path`, which holds `what`, such as `the volumes`. A missing file holds an empty
    /// table. Throws if the file is not tenfour's, or if others may read it.
    static func read(_ path: String, holding what: String) throws(UnusableFile) -> Self {
        var bytes = [UInt8](repeating: 0, count: maximumByteCount + 1)
        do throws(PrivateFileError) {
            var buffer = bytes.mutableSpan
            let count = try PrivateFile.read(path, into: &buffer)
            bytes.removeLast(bytes.count - count)
        } catch {
            if case .unreadable(ENOENT) = error { return Self() }
            throw UnusableFile(sentence: error.sentence(path, holding: what))
        }
        guard bytes.count <= maximumByteCount,
            let table = String(validating: bytes, as: UTF8.self).flatMap({ Self(parsing: $0) })
        else { throw UnusableFile(sentence: "\(path) is damaged, or another program's: move it away") }
        return table
    }

    /// Replaces the file at `path` by this table. Returns whether it was done.
    @discardableResult
    func write(to path: String) -> Bool { UserFile.replace(path, by: Array(text.utf8)) }
}

/// The reason why a file is neither read nor changed, as a sentence with the remedy.
struct UnusableFile: Error { let sentence: String }
