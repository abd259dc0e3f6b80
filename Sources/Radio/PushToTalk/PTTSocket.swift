internal import Glibc
public import TenfourJSON
internal import TenfourSystem

/// The control socket of a station: a Unix socket through which other processes hold the microphone.
///
/// The socket lives as long as the process. A session attaches to it for its own duration; between sessions requests are
/// answered, and the microphone cannot be held.
///
/// A client sends requests and receives answers, one JSON object per line. What a client holds, it holds as long as it
/// stays connected and the session lasts; while it does, it also receives the events of the microphone. After
/// `{ "command": "events" }` it receives all events. Only processes of the same user are served, at most sixteen at once.
/// `PTTClient` is the other end.
public final class PTTSocket: Sendable {
    public let path: String

    private let shared = Locked(Shared())
    private let wakeup: WakeupPipe

    private struct Shared {
        var served = ServedSession.waiting("")
        /// What waits for the thread.
        var notices: [PTTServer.Notice] = []
        var isStopped = false
    }

    /// The number of events that wait for the thread. The lease and the session produce a few at a time.
    private static let maximumEventCount = 64

    /// Listens at `path`, in a directory that is made if there is none, and starts a thread. `user` is the number of the
    /// user whose processes are served; nil is the user of this process. Throws if the directory is not safe, or another
    /// process listens at `path`.
    public init(at path: String, servedUser user: UInt32? = nil) throws(PTTSocketError) {
        let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        try PTTSocketPath.makeDirectory(directory)
        let listener = try UnixSocket.listen(at: path)
        do {
            let wakeup = try WakeupPipe()
            try WorkerThread.detached { [shared] in
                let server = PTTServer(listener: listener, user: user ?? geteuid()) { shared.withLock(\.served) }
                while !shared.withLock(\.isStopped) {
                    server.wait(wakeup)
                    server.tell(
                        shared.withLock { shared in
                            defer { shared.notices = [] }
                            return shared.notices
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
    }

    /// As above, with a session that is attached from the start.
    public convenience init(
        at path: String, lease: MicrophoneLease, control: (any SessionControl)? = nil, servedUser user: UInt32? = nil
    ) throws(PTTSocketError) {
        try self.init(at: path, servedUser: user)
        attach(lease, control: control)
    }

    deinit { stop() }

    /// Serves a session from now on: processes hold its microphone by `lease`, and `control` answers what does not concern
    /// the microphone. Any thread may call it.
    public func attach(_ lease: MicrophoneLease, control: (any SessionControl)? = nil) {
        shared.withLock { shared in
            shared.served = .running(lease, control)
            shared.notices.append(.sessionBegan)
        }
        lease.observe { [shared, wakeup] event in
            shared.withLock { Self.append(.microphone(event), to: &$0) }
            wakeup.signal()
        }
        wakeup.signal()
    }

    /// The session has ended. Clients that hold its microphone are told. The lease must be stopped before. Any thread may
    /// call it.
    public func detach() {
        shared.withLock { shared in
            shared.served = .waiting("")
            shared.notices.append(.sessionEnded)
        }
        wakeup.signal()
    }

    /// Sets what processes are told about a station without a session, such as `waiting for calls`. Has no effect during
    /// a session. Any thread may call it.
    public func setWaiting(_ reason: String) {
        shared.withLock { if case .waiting = $0.served { $0.served = .waiting(reason) } }
    }

    /// Sends an event of the session to all processes that want them. Any thread may call it.
    public func post(_ event: JSON) {
        shared.withLock { Self.append(.event(event), to: &$0) }
        wakeup.signal()
    }

    /// Removes the socket and lets go what its clients hold.
    public func stop() {
        let wasStopped = shared.withLock { shared in
            defer { shared.isStopped = true }
            return shared.isStopped
        }
        guard !wasStopped else { return }
        _ = unsafe unlink(path)
        wakeup.signal()
    }

    private static func append(_ notice: PTTServer.Notice, to shared: inout Shared) {
        if shared.notices.count < maximumEventCount { shared.notices.append(notice) }
    }
}

/// What a control socket serves at a moment.
enum ServedSession: Sendable {
    case running(MicrophoneLease, (any SessionControl)?)
    /// There is no session, for the reason given; empty if none is known.
    case waiting(String)
}
