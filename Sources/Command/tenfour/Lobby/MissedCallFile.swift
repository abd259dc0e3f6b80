import TenfourAudioCore
import TenfourSession

/// Keeps missed calls in a file, for `tenfour log`: `tenfour/missed-calls` in `$XDG_STATE_HOME` or in `~/.local/state`. Only
/// its owner can read it.
///
/// A file that is not tenfour's, or that others may read, is neither read nor changed. A file that cannot be written is no
/// error, since no call depends on it.
struct MissedCallFile {
    private let path: String
    private var isUnusable = false

    /// Keeps calls in the file at `path`. It need not exist.
    init(path: String) { self.path = path }

    /// The path of the user's file; nil without HOME.
    static var usualPath: String? {
        UserFile.folder("XDG_STATE_HOME", otherwise: ".local/state").map { $0 + "/tenfour/missed-calls" }
    }

    /// Returns the calls in the file at `path`.
    static func read(_ path: String) throws(UnusableFile) -> MissedCalls {
        try MissedCalls.read(path, holding: "the missed calls")
    }

    /// Adds a call to the file. Returns, once, a sentence if calls are not kept.
    mutating func record(_ name: String, at address: IPAddress, time: Int) -> String? {
        guard !isUnusable else { return nil }
        do throws(UnusableFile) {
            var calls = try Self.read(path)
            calls.record(name, at: address, time: time)
            calls.write(to: path)
            return nil
        } catch {
            isUnusable = true
            return "missed calls are not kept: \(error.sentence)"
        }
    }
}
