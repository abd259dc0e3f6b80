import CLinux
import Glibc
import TenfourAudioCore
import TenfourClocks

/// A named pipe that is read. Without a writer it keeps its reader waiting, and looks like one whose writer is silent.
struct NamedPipe: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private let begin: Instant
    private var isReported = false

    /// Linux's `SPLICE_F_NONBLOCK`, an extension of GNU.
    private static let doesNotBlock: UInt32 = 2
    /// The time without a writer after which it is reported.
    private static let delay = Duration.seconds(1)

    /// Opens the pipe at `path`; nil if another kind of file is there. `now` is the time from which on it is waited for.
    init?(_ path: String, at now: Instant) {
        var status = stat()
        guard unsafe path.withPath({ unsafe stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFIFO else {
            return nil
        }
        let descriptor = unsafe path.withPath { unsafe Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { return nil }
        (self.path, self.descriptor, begin) = (path, descriptor, now)
    }

    deinit { close(descriptor) }

    /// Waits for a program that writes into `path`, if a named pipe is there, and returns the pipe: while it is open, the
    /// writer has a reader. Says on a terminal that it waits, unless `quiet`. A caught signal ends the process.
    static func waitForWriter(_ path: String, quiet: Bool) -> NamedPipe? {
        guard var pipe = NamedPipe(path, at: MonotonicClock.now) else { return nil }
        while !pipe.hasWriter {
            if Signals.hasEnd { Signals.endProcess() }
            if !quiet, Terminal.showsStatus, let report = pipe.report(at: MonotonicClock.now) {
                Terminal.log("tenfour: \(report)")
            }
            usleep(20_000)
        }
        return pipe
    }

    /// Whether a program can write into the pipe, or has left bytes in it. Takes no bytes. The C function is `tee`.
    var hasWriter: Bool {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return true }
        defer { for end in ends { close(end) } }
        // Returns 0 at the end, and fails if a writer may still write.
        return tee(descriptor, ends[1], 1, Self.doesNotBlock) != 0
    }

    /// Returns the report of a missing writer, once and not in the first second.
    mutating func report(at now: Instant) -> String? {
        guard !isReported, now - begin >= Self.delay, !hasWriter else { return nil }
        isReported = true
        return "waiting for a program that writes into \(Secrets.shown(path))"
    }
}
