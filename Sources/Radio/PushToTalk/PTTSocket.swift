internal import Glibc
internal import TenfourRings
internal import TenfourThreads

/// The control socket of a session: a Unix socket through which other processes hold the microphone.
///
/// A client sends requests and receives answers, one JSON object per line. What a client holds, it holds as long as it
/// stays connected; while it does, it also receives the events of the microphone. Only processes of the same user are
/// served, at most sixteen at once. `PTTClient` is the other end.
public final class PTTSocket: Sendable {
    public let path: String

    private let isStopped: Locked<Bool>
    private let wakeup: WakeupPipe

    /// Listens at `path`, in a directory that is made if there is none, and starts a thread. `user` is the number of the
    /// user whose processes are served; nil is the user of this process. Throws if the directory is not safe, or another
    /// process listens at `path`.
    public init(at path: String, lease: MicrophoneLease, servedUser user: UInt32? = nil) throws(PTTSocketError) {
        let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        try PTTSocketPath.makeDirectory(directory)
        let listener = try UnixSocket.listen(at: path)
        let isStopped = Locked(false)
        do {
            let wakeup = try WakeupPipe()
            let events = Locked<[PushToTalk.Event]>([])
            lease.observe { event in
                events.withLock { if $0.count < Self.maximumEventCount { $0.append(event) } }
                wakeup.signal()
            }
            try WorkerThread.detached {
                let server = PTTServer(listener: listener, user: user ?? geteuid(), lease)
                while !isStopped.withLock({ $0 }) {
                    server.wait(wakeup)
                    server.report(
                        events.withLock { events in
                            defer { events = [] }
                            return events
                        })
                }
                server.close()
            }
            self.wakeup = wakeup
        } catch {
            close(listener)
            _ = unsafe unlink(path)
            throw .failed("cannot serve \(path)", (error as? ThreadError)?.code ?? EMFILE)
        }
        self.path = path
        self.isStopped = isStopped
    }

    deinit { stop() }

    /// Removes the socket and lets go what its clients hold.
    public func stop() {
        let wasStopped = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        guard !wasStopped else { return }
        _ = unsafe unlink(path)
        wakeup.signal()
    }

    /// The number of events that wait for the thread. The lease produces a few at a time.
    private static let maximumEventCount = 64
}
