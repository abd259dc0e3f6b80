import Glibc
import TenfourPrivateFiles
import TenfourRings

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
        switch Self.read(path) {
        case .success(let found):
            table = Locked(found)
            problem = nil
        case .failure(let unusable):
            table = Locked(KeptVolumes())
            problem = "the volumes of talkers are not kept: \(unusable.sentence)"
        }
    }

    /// The path of the user's file; nil without HOME.
    static var usualPath: String? {
        UserFile.folder("XDG_STATE_HOME", otherwise: ".local/state").map { $0 + "/tenfour/volumes" }
    }

    /// Returns the volume that is kept for a name; nil if there is none.
    func volume(of name: String) -> TalkerVolume? { table.withLock { $0.volume(of: name) } }

    /// Keeps the volume of a name. Reads the file anew, since another talk may have changed it, and replaces it.
    func set(_ volume: TalkerVolume, of name: String) {
        guard problem == nil else { return }
        table.withLock { table in
            let old = (try? Self.read(path).get()) ?? table
            table = old
            table.set(volume, of: name)
            if table != old { UserFile.replace(path, by: Array(table.text.utf8)) }
        }
    }

    private struct Unusable: Error { let sentence: String }

    private static func read(_ path: String) -> Result<KeptVolumes, Unusable> {
        var bytes = [UInt8](repeating: 0, count: KeptVolumes.maximumByteCount + 1)
        do throws(PrivateFileError) {
            var buffer = bytes.mutableSpan
            let count = try PrivateFile.read(path, into: &buffer)
            bytes.removeLast(bytes.count - count)
        } catch {
            if case .unreadable(ENOENT) = error { return .success(KeptVolumes()) }
            return .failure(Unusable(sentence: error.sentence(path, holding: "the volumes")))
        }
        guard let table = String(validating: bytes, as: UTF8.self).flatMap({ KeptVolumes(parsing: $0) }) else {
            return .failure(Unusable(sentence: "\(path) is damaged, or another program's: move it away"))
        }
        return .success(table)
    }
}
