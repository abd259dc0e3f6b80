import TenfourAudioCore

/// Keeps missed calls in a file, for `tenfour log`: `tenfour/missed-calls` in `$XDG_STATE_HOME` or in `~/.local/state`. Only
/// its owner can read it.
///
/// Anybody nearby can call and give up hundreds of times a second, so the file is written at most once in five seconds, and
/// by `finish`.
///
/// A file that is not tenfour's, or that others may read, is neither read nor changed. A file that cannot be written is no
/// error, since no call depends on it.
struct MissedCallFile {
    private let path: String
    /// The calls that the file does not have yet.
    private var waiting = MissedCalls()
    private var nextWrite = Instant.start
    private var isUnusable = false

    static let interval = Duration.seconds(5)

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

    mutating func record(_ call: MissedCalls.Call) {
        if !isUnusable { waiting.record(call) }
    }

    /// Writes the calls that wait, if it is time. Returns, once, a sentence if calls are not kept.
    mutating func update(at now: Instant) -> String? {
        guard !waiting.calls.isEmpty, nextWrite <= now else { return nil }
        nextWrite = now + Self.interval
        do throws(UnusableFile) { try write() } catch {
            isUnusable = true
            waiting = MissedCalls()
            return "missed calls are not kept: \(error.sentence)"
        }
        return nil
    }

    /// Writes the calls that wait.
    mutating func finish() { if !waiting.calls.isEmpty { try? write() } }

    /// Reads the file anew, since another program may have changed it, and replaces it.
    private mutating func write() throws(UnusableFile) {
        try UserFile.withFolderLock(of: path) { () throws(UnusableFile) in
            var calls = try Self.read(path)
            for call in waiting.calls { calls.record(call) }
            if calls.write(to: path) { waiting = MissedCalls() }
        }
    }
}
