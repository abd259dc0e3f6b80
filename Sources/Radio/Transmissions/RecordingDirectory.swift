internal import Glibc
internal import TenfourAudioCore
internal import TenfourSystem

/// A directory of recordings, and its limits. Only files whose names are those of recordings are counted and removed.
///
/// One thread at a time may use it. It may block.
final class RecordingDirectory {
    let path: String
    private let limit: RecordLimit
    let descriptor: Int32
    /// The recordings, oldest first.
    private(set) var files: [File] = []
    private(set) var byteCount = 0
    /// The number of recordings that were removed for the limits since it was last taken.
    private var removedCount = 0
    private var shares = RecordingShares()
    /// Whether the directory was made, and whether names were added to it, since they were brought to the disk.
    private var (isNew, hasNewNames) = (false, false)

    struct File: Hashable, Sendable {
        var name: String
        var start: Int
        var byteCount: Int
        /// Whether the file is being written.
        var isOpen: Bool
        /// When this process began the file; nil if another one did.
        var begun: Instant?
    }

    /// The start of 2020, in seconds since 1970. A recording that seems older was made while the clock was not set.
    private static let earliestStart = 1_577_836_800
    /// The largest number of attempts to find a name that no file has.
    private static let attempts = 100

    /// Opens the directory, and makes it, for this user only, if it is missing. Its parent must exist.
    init(_ path: String, _ limit: RecordLimit) throws(RecordingError) {
        isNew = unsafe mkdir(path, 0o700) == 0
        if !isNew, errno != EEXIST { throw RecordingError(path, errno) }
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecordingError(path, errno) }
        (self.path, self.limit) = (path, limit)
        guard unsafe faccessat(descriptor, ".", W_OK | X_OK, 0) == 0 else { throw RecordingError(path, errno) }
        scan()
    }

    deinit { close(descriptor) }

    /// Takes over what is known of the recordings that were in the directory before it was opened anew.
    func adopt(_ earlier: RecordingDirectory) {
        (files, shares, removedCount) = (earlier.files, earlier.shares, earlier.removedCount)
        scan(open: files.filter(\.isOpen).map(\.name))
    }

    /// Reads the directory again, because another program may write or remove recordings. `open` are the names of those
    /// that are being written.
    func scan(open: [String] = []) {
        let begun = Dictionary(files.map { ($0.name, $0.begun) }) { first, _ in first }
        files = Self.names(in: descriptor).compactMap { name in
            guard let parsed = RecordingName(parsing: name) else { return nil }
            var status = stat()
            guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { return nil }
            return File(
                name: name, start: parsed.start, byteCount: Int(status.st_size), isOpen: open.contains(name),
                begun: begun[name] ?? nil)
        }
        files.sort { RecordingName.areInOrder(($0.start, $0.name), ($1.start, $1.name)) }
        byteCount = files.reduce(0) { $0 + $1.byteCount }
    }

    /// Creates a file that did not exist. The C function is `openat`.
    func create(_ name: RecordingName, at now: Instant) throws(RecordingError) -> RecordingFile {
        for attempt in 1...Self.attempts {
            let text = name.text(attempt: attempt)
            let file = unsafe openat(
                descriptor, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0o600)
            if file >= 0 {
                let before = files.lastIndex { RecordingName.areInOrder(($0.start, $0.name), (name.start, text)) }
                let place = before.map { $0 + 1 } ?? 0
                files.insert(
                    File(name: text, start: name.start, byteCount: 0, isOpen: true, begun: now), at: place)
                hasNewNames = true
                return RecordingFile(descriptor: file, name: text, path: "\(path)/\(text)")
            }
            guard errno == EEXIST || errno == ELOOP else { throw RecordingError("\(path)/\(text)", errno) }
        }
        throw RecordingError("\(path)/\(name.text())", EEXIST)
    }

    /// Gives a file another name, which no file has. Returns false if that is not possible; the file keeps its name then.
    /// The C functions are `mknodat`, which takes the name, and `renameat`.
    func rename(_ file: RecordingFile, to name: RecordingName) -> Bool {
        for attempt in 1...Self.attempts {
            let text = name.text(attempt: attempt)
            guard unsafe mknodat(descriptor, text, S_IFREG | 0o600, 0) == 0 else {
                guard errno == EEXIST else { return false }
                continue
            }
            guard unsafe renameat(descriptor, file.name, descriptor, text) == 0 else {
                _ = unsafe unlinkat(descriptor, text, 0)
                return false
            }
            if let index = files.lastIndex(where: { $0.name == file.name }) { files[index].name = text }
            files.sort { RecordingName.areInOrder(($0.start, $0.name), ($1.start, $1.name)) }
            (file.name, file.path) = (text, "\(path)/\(text)")
            hasNewNames = true
            return true
        }
        return false
    }

    /// Counts what was written to a file.
    func setByteCount(_ count: Int, of name: String, isOpen: Bool = true) {
        guard let index = files.lastIndex(where: { $0.name == name }) else { return }
        byteCount += count - files[index].byteCount
        (files[index].byteCount, files[index].isOpen) = (count, isOpen)
    }

    /// Brings new names of files to the disk, and that of the directory. The C function is `fsync`.
    func synchronize() throws(RecordingError) {
        guard hasNewNames else { return }
        // If the disk refuses now, only further names lead to another attempt.
        hasNewNames = false
        var code = DiskSync.wait(for: descriptor)
        if isNew, code == 0 { code = DiskSync.wait(forFolderOf: "\(path)/../.") }
        guard code == 0 else { throw RecordingError(path, code) }
        isNew = false
    }

    /// Removes recordings until the directory is within its limits: those that are too old, then those that
    /// `RecordingShares` chooses. Returns nil then, and else the name of a recording that is being written and takes the
    /// most space: call it again when that has ended.
    ///
    /// - `now`: the monotonic clock's time, by which the age of a file of this process is known.
    /// - `seconds`: the time in seconds since 1970, by which the age of other files is known.
    /// - `isClockSet`: whether `seconds` is right. If it is not, no file is too old: a clock that leaps ahead would remove
    ///   them all.
    func prune(at now: Instant, seconds: Int, isClockSet: () -> Bool) -> String? {
        removeOld(at: now, seconds: seconds, isClockSet)
        shares.advance(to: now)
        if let bytes = limit.byteCount, byteCount > bytes, let name = makeSpace(bytes, at: now, size: \.byteCount) {
            return name
        }
        return files.count > limit.fileCount ? makeSpace(limit.fileCount, at: now) { _ in 1 } : nil
    }

    /// Returns the number of recordings that were removed for the limits since the last call.
    func takeRemovedCount() -> Int {
        defer { removedCount = 0 }
        return removedCount
    }

    private func removeOld(at now: Instant, seconds: Int, _ isClockSet: () -> Bool) {
        guard let age = limit.age else { return }
        let latest = seconds - age
        let old = files.indices.prefix { files[$0].start < latest }.filter {
            let file = files[$0]
            guard !file.isOpen, file.start >= Self.earliestStart else { return false }
            // A file of this process is not old because the wall clock was set forward after its beginning.
            return file.begun.map { now - $0 >= .seconds(age) } ?? true
        }
        if !old.isEmpty, isClockSet() { remove(old) }
    }

    private func makeSpace(_ limit: Int, at now: Instant, size: (File) -> Int) -> String? {
        let choice = shares.choose(from: files, limit: limit, at: now, size: size)
        let ending = choice.ending.map { files[$0].name }
        remove(choice.removed)
        return ending
    }

    /// Removes files. One that cannot be removed is not counted any more, so that it does not cost all others.
    private func remove(_ indices: [Int]) {
        guard !indices.isEmpty else { return }
        for index in indices {
            if unsafe unlinkat(descriptor, files[index].name, 0) == 0 { removedCount += 1 }
            byteCount -= files[index].byteCount
        }
        let removed = Set(indices)
        files = files.indices.filter { !removed.contains($0) }.map { files[$0] }
    }

    /// Removes a recording that has no audio.
    func remove(_ name: String) {
        _ = unsafe unlinkat(descriptor, name, 0)
        setByteCount(0, of: name, isOpen: false)
        files.removeAll { $0.name == name }
    }

    /// Returns the names in a directory; empty if it cannot be read. The C functions are `fdopendir` and `readdir`.
    static func names(in directory: Int32) -> [String] {
        let copy = unsafe openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = unsafe fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            return []
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(validatingCString: $0) }
            }
            if let name { names.append(name) }
        }
        return names
    }
}

/// The system refused to make, write or read a recording. The text is the whole message.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The errno.
    public let code: Int32
    public let description: String

    init(reading path: String, _ code: Int32) {
        self.code = code
        let reason =
            unsafe code == ENOENT
            ? "nothing was recorded there; name the directory with --record" : String(cString: strerror(code))
        description = "cannot read the recordings in \(path): \(reason)"
    }

    init(_ path: String, _ code: Int32) {
        self.code = code
        let remedy =
            switch code {
            case ENOSPC, EDQUOT: "; make space, or set a smaller --record-limit"
            case EACCES, EPERM, EROFS: "; choose a directory that you may write to"
            case ENOENT: "; make its parent directory first"
            default: ""
            }
        description = "cannot record to \(path): \(unsafe String(cString: strerror(code)))\(remedy)"
    }
}
