import Glibc
import TenfourUV

/// A temporary folder of one test, removed with this object. It holds files, but no folders.
public final class Folder: Sendable {
    public let path: String

    /// The folder for temporary files: the value of TMPDIR, else /tmp.
    public static let temporary = Spawning.inherited["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"

    public init() {
        var template = Array("\(Self.temporary)/tenfour-test-XXXXXX".utf8CString)
        path = unsafe template.withUnsafeMutableBufferPointer { unsafe String(cString: mkdtemp($0.baseAddress!)) }
    }

    deinit {
        for name in Self.entries(of: path) { unsafe unlink(self(name)) }
        unsafe rmdir(path)
    }

    /// Returns the path of the file `name` in the folder.
    public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    public func write(_ text: String, to name: String) { write(Array(text.utf8), to: name) }

    public func write(_ bytes: [UInt8], to name: String) {
        let file = unsafe open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        precondition(file >= 0, "a file can be made in \(path)")
        defer { close(file) }
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.span.extracting(start...).withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress, $0.count)
            }
            precondition(count > 0, "a file of a test can be written")
            start += count
        }
    }

    /// Returns the content of a file; empty if the file does not exist.
    public static func bytes(of path: String) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var status = stat()
        unsafe fstat(file, &status)
        return unsafe [UInt8](unsafeUninitializedCapacity: max(Int(status.st_size), 1 << 16)) { room, count in
            while count < room.count {
                let got = unsafe read(file, room.baseAddress! + count, room.count - count)
                guard got > 0 else { break }
                count += got
            }
        }
    }

    public static func text(of path: String) -> String { String(decoding: bytes(of: path), as: UTF8.self) }

    /// Returns the names in a folder, including hidden names, `.` and `..`. Returns none if the folder does not exist.
    public static func entries(of path: String) -> [String] { Directory.names(in: path) }
}
