internal import Glibc
internal import TenfourAudioCore

/// The audio files in a folder and its sub-folders, in natural order: first the files of a folder, then its
/// sub-folders one after the other.
///
/// Hidden names are left out, and so are playlists, which would repeat the files. A symbolic link to a folder is
/// followed, but each folder is listed once, so that links never lead in a circle. A CUE sheet whose files all lie
/// beside it stands for these files.
package struct FolderListing: Sendable {
    /// The paths of audio files and CUE sheets.
    package private(set) var paths: [String] = []
    /// The reasons why the listing is not complete, in the order in which they were met.
    package private(set) var omissions: [Omission] = []

    /// A reason why something in the folder is not in its listing.
    package enum Omission: Hashable, Sendable {
        case tooMany, tooDeep, unreadable

        /// A clause for people, with the remedy.
        package var description: String {
            switch self {
            case .tooMany:
                "only its first \(FolderListing.maximumCount) files are played, so play its sub-folders one by one"
            case .tooDeep:
                "folders more than \(FolderListing.maximumDepth) levels down are left out, so play these by themselves"
            case .unreadable: "a folder in it cannot be read, so ask its owner, or `chmod` it"
            }
        }
    }

    /// The largest number of files.
    package static let maximumCount = Playlist.maximumEntryCount
    /// The largest number of levels of sub-folders.
    package static let maximumDepth = 8
    /// The largest number of names that are examined, of any kind.
    private static let maximumNameCount = 200_000

    private var examined = 0
    private var visited: Set<FileIdentity> = []
    private var omitted: FileIdentity?
    private let isCancelled: @Sendable () -> Bool

    /// Lists the folder at `path` without the file at `omitted`. Blocks while the disk is read. Returns nil if the folder
    /// cannot be read. Ends early, with some of the paths, once `isCancelled` returns true. The C functions are
    /// `opendir`, `readdir` and `stat`.
    package init?(
        of path: String, leavingOut omitted: String? = nil,
        unless isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.isCancelled = isCancelled
        self.omitted = omitted.flatMap { FileIdentity(regularFileAt: $0) }
        guard let status = Self.status(of: path), status.st_mode & S_IFMT == S_IFDIR else { return nil }
        visited.insert(FileIdentity(status))
        guard list(path, depth: 0) else { return nil }
    }

    /// A sentence that says what was left out; nil if the listing is complete.
    package var omissionText: String? {
        if omissions.isEmpty { return nil }
        return omissions.map(\.description).joined(separator: "; ")
    }

    /// Returns whether `path` is a folder, directly or through a link.
    package static func isFolder(_ path: String) -> Bool {
        status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe path.withPath { unsafe stat($0, &status) } == 0 ? status : nil
    }

    private mutating func omit(_ reason: Omission) {
        if !omissions.contains(reason) { omissions.append(reason) }
    }
}

// MARK: A folder
extension FolderListing {
    /// Adds what lies in `folder`. Returns false if it cannot be read.
    private mutating func list(_ folder: String, depth: Int) -> Bool {
        guard let names = names(in: folder) else { return false }
        let base = folder.hasSuffix("/") ? folder : folder + "/"
        var files: [String] = []
        var sheets: [String] = []
        var folders: [String] = []
        for key in names.map({ NaturalOrder($0) }).sorted() {
            if isCancelled() { return true }
            let path = base + key.name
            guard path.utf8.count <= Resource.maximumByteCount, let status = Self.status(of: path) else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFREG where FileIdentity(status) == omitted: break
            case S_IFREG where key.name.lowercased().hasSuffix(".cue"): sheets.append(key.name)
            case S_IFREG where AudioFileKind.isAudio(path): files.append(key.name)
            case S_IFDIR:
                if visited.insert(FileIdentity(status)).inserted { folders.append(path) }
            default: break
            }
        }
        for name in applied(sheets, to: files, in: base) {
            guard paths.count < Self.maximumCount else {
                omit(.tooMany)
                return true
            }
            paths.append(base + name)
        }
        for folder in folders where !isCancelled() {
            if depth == Self.maximumDepth {
                omit(.tooDeep)
            } else if !list(folder, depth: depth + 1) {
                omit(.unreadable)
            }
        }
        return true
    }

    /// Returns `files` with those replaced that a CUE sheet of `sheets` divides into tracks.
    private func applied(_ sheets: [String], to files: [String], in base: String) -> [String] {
        var kept: [String?] = files
        var indices = Dictionary(files.enumerated().map { ($1, $0) }) { first, _ in first }
        for sheet in sheets where !isCancelled() {
            let path = base + sheet
            guard let source = try? FileByteSource.open(path), let cue = try? CueSheet(reading: source) else {
                continue
            }
            let named = Set(
                cue.tracks.map { track -> String? in
                    guard case .file(let path) = track.resource, path.hasPrefix(base) else { return nil }
                    return String(path.dropFirst(base.count))
                })
            let divided = named.compactMap { name in name.flatMap { indices[$0] } }
            guard divided.count == named.count, let first = divided.min() else { continue }
            for index in divided {
                indices[files[index]] = nil
                kept[index] = index == first ? sheet : nil
            }
        }
        return kept.compactMap { $0 }
    }

    /// Returns the names in a folder that are not hidden; nil if it cannot be read.
    private mutating func names(in path: String) -> [String]? {
        guard let folder = unsafe path.withPath({ unsafe opendir($0) }) else { return nil }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while !isCancelled(), let entry = unsafe readdir(folder) {
            guard examined < Self.maximumNameCount else {
                omit(.tooMany)
                break
            }
            examined += 1
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(path: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
