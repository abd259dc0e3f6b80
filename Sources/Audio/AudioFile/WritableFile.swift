internal import Glibc
internal import TenfourSystem

/// A file or pipe that is opened for writing. A file that exists stays unchanged until `begin`, and a new file is removed
/// if `begin` was never called.
///
/// For one thread at a time. Blocks on the disk or the pipe.
package struct WritableFile: ~Copyable, Sendable {
    let descriptor: Descriptor
    package private(set) var hasBegun = false

    /// The path, or "standard output".
    package var name: String { descriptor.name }

    /// Whether `close` closes the descriptor.
    private let isOwned: Bool
    private var isClosed = false
    /// The path of a file that did not exist before; nil for any other file.
    private let newPath: String?
    private var isNameOnDisk = false

    /// Opens the file at `path`, or creates it. `-` is standard output.
    package init(path: String) throws(AudioFileError) {
        guard path != "-" else {
            self.init(Descriptor(number: STDOUT_FILENO, name: "standard output"))
            return
        }
        let isNew = unsafe access(path, F_OK) != 0
        self.init(try Descriptor(writing: path), isOwned: true, newPath: isNew ? path : nil)
    }

    /// Writes to an open file or pipe, which the caller closes.
    init(_ descriptor: Descriptor) { self.init(descriptor, isOwned: false, newPath: nil) }

    private init(_ descriptor: Descriptor, isOwned: Bool, newPath: String?) {
        self.descriptor = descriptor
        self.isOwned = isOwned
        self.newPath = newPath
    }

    /// Closes the file like `close`, but ignores errors.
    deinit {
        guard !isClosed else { return }
        if let newPath, !hasBegun { unsafe unlink(newPath) }
        if isOwned { Glibc.close(descriptor.number) }
    }

    /// Truncates a file that was opened by its path.
    package mutating func begin() throws(AudioFileError) {
        hasBegun = true
        if isOwned { try descriptor.empty() }
    }

    package func write(_ bytes: Span<UInt8>) throws(AudioFileError) { try descriptor.write(bytes.count, of: bytes) }

    /// Waits until what was written, and the name of a new file, are on the disk, so that a power cut does not take them.
    package mutating func synchronize() throws(AudioFileError) {
        guard hasBegun else { return }
        try descriptor.synchronize()
        guard let newPath, !isNameOnDisk else { return }
        let code = DiskSync.wait(forFolderOf: newPath)
        guard code == 0 else { throw AudioFileError(errno: code, in: "fsync", name: name, isWriting: true) }
        isNameOnDisk = true
    }

    /// Synchronizes and closes the file. Throws if the last bytes cannot be written: some disks report only now that they
    /// are full. A second call does nothing.
    package mutating func close() throws(AudioFileError) {
        guard !isClosed else { return }
        isClosed = true
        if let newPath, !hasBegun { unsafe unlink(newPath) }
        do throws(AudioFileError) { try synchronize() } catch {
            if isOwned { try? descriptor.close() }
            throw error
        }
        if isOwned { try descriptor.close() }
    }
}
