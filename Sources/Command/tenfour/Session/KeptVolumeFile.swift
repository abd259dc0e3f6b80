import TenfourSystem

/// Keeps the volumes of talkers in a file, by their names: `tenfour/volumes` in `$XDG_STATE_HOME` or in `~/.local/state`. Only
/// its owner can read it. Any thread may use it.
///
/// A file that is not tenfour's, or that others may read, is neither read nor changed. A file that cannot be written is no
/// error, since a talk does not depend on it.
final class KeptVolumeFile: Sendable {
    /// Why no volumes are kept, as a sentence; nil if they are.
    let problem: String?
    private let path: String
    private let table: Locked<KeptVolumes>

    /// Reads the file at `path`. It need not exist.
    init(path: String) {
        self.path = path
        var found = KeptVolumes()
        var problem: String?
        do throws(UnusableFile) { found = try Self.read(path) } catch {
            problem = "the volumes of talkers are not kept: \(error.sentence)"
        }
        table = Locked(found)
        self.problem = problem
    }

    /// The path of the user's file; nil without HOME.
    static var usualPath: String? {
        UserFile.folder("XDG_STATE_HOME", otherwise: ".local/state").map { $0 + "/tenfour/volumes" }
    }

    /// Returns the volume that is kept for a name; nil if there is none.
    func volume(of name: String) -> TalkerVolume? { table.withLock { $0.volume(of: name) } }

    /// Keeps the volume of a name. Reads the file anew, since another talk may have changed it, and replaces it. Another
    /// talk that changes it at the same time waits.
    func set(_ volume: TalkerVolume, of name: String) {
        guard problem == nil else { return }
        table.withLock { table in
            UserFile.withFolderLock(of: path) {
                let old = (try? Self.read(path)) ?? table
                table = old
                table.set(volume, of: name)
                if table != old { table.write(to: path) }
            }
        }
    }

    private static func read(_ path: String) throws(UnusableFile) -> KeptVolumes {
        try KeptVolumes.read(path, holding: "the volumes")
    }
}
