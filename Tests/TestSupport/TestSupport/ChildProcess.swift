import Glibc
import TenfourSystem

/// A child process, which is reaped as soon as it ends: a thread waits for it.
///
/// The thread of Swift Testing that waits for exit tests looks at all children, and takes a whole processor while one
/// has ended and is not reaped.
final class ChildProcess: Sendable {
    let process: pid_t
    private let ended = Locked<Program.End?>(nil)

    /// Throws the errno of the thread.
    init(_ process: pid_t) throws {
        self.process = process
        try WorkerThread.detached { [ended] in
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            let end: Program.End = status & 0x7F == 0 ? .code(status >> 8 & 0xFF) : .signal(status & 0x7F)
            ended.withLock { $0 = end }
        }
    }

    /// How the process ended; nil while it runs.
    var end: Program.End? { ended.withLock(\.self) }

    /// Sends a signal, unless the process has ended.
    func send(_ signal: Int32) { ended.withLock { if $0 == nil { kill(process, signal) } } }

    /// Waits until the process has ended, which it must be about to do.
    func waitForEnd() { while end == nil { usleep(1_000) } }
}
