internal import TenfourAudioCore
internal import TenfourClocks
internal import TenfourPacing
internal import TenfourSystem

/// Publishes and receives messages through NATS on a thread of its own, which connects again whenever the connection is
/// lost.
///
/// No function waits for the network. Messages that cannot be sent in time are dropped, oldest first, and counted; so
/// are messages that arrive and are not taken.
@safe public final class NATSClient: Sendable {
    private let configuration: NATSConfiguration
    private let shared = Locked(Shared())
    private let thread = Locked<WorkerThread?>(nil)
    private let signal: WakeupPipe
    private let wakeup: @Sendable () -> Void

    private struct Shared: Sendable {
        var outgoing = MessageQueue()
        var incoming = MessageQueue()
        var subjects: Set<String> = []
        /// Whether the thread has not heard of the latest subjects.
        var subjectsChanged = false
        /// Whether the thread sleeps, and needs a signal.
        var sleeps = false
        var stops = false
        var status = NATSStatus()
    }

    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(2)

    /// Prepares a connection; `start` makes it. `wakeup` is called on any thread when `takeMessages` has a message, or
    /// the status has changed. Throws if libnats is missing or refuses a certificate or credentials.
    public init(_ configuration: NATSConfiguration, wakeup: @escaping @Sendable () -> Void) throws(NATSError) {
        try configuration.check()
        self.configuration = configuration
        self.wakeup = wakeup
        do throws(WakeupPipeError) { signal = try WakeupPipe() } catch { throw .thread(error.code) }
    }

    /// Starts the thread. Call it once.
    public func start() throws(NATSError) {
        do throws(ThreadError) {
            let started = try WorkerThread { [self] in run() }
            thread.withLock { $0 = started }
        } catch {
            throw .thread(error.code)
        }
    }

    /// Sends the waiting messages, and ends the thread. Blocks while libnats closes a connection, but not while it
    /// makes one: the thread then ends later.
    public func stop() {
        let isConnected = shared.withLock { shared in
            shared.stops = true
            return shared.status.isConnected
        }
        signal.signal()
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if isConnected { ending?.join() } else { ending?.detach() }
    }

    public func publish(_ message: NATSMessage) {
        let wakes = shared.withLock { shared in
            shared.outgoing.append(message)
            defer { shared.sleeps = false }
            return shared.sleeps
        }
        if wakes { signal.signal() }
    }

    public func subscribe(to subject: String) { change { $0.insert(subject) } }

    public func unsubscribe(from subject: String) { change { $0.remove(subject) } }

    private func change(_ body: (inout Set<String>) -> Void) {
        shared.withLock { shared in
            body(&shared.subjects)
            shared.subjectsChanged = true
        }
        signal.signal()
    }

    /// Removes and returns the messages that have arrived, oldest first.
    public func takeMessages() -> ArraySlice<NATSMessage> { shared.withLock { $0.incoming.removeAll() } }

    public var status: NATSStatus {
        shared.withLock { shared in
            var status = shared.status
            status.droppedOutgoingCount = shared.outgoing.droppedCount
            status.droppedIncomingCount = shared.incoming.droppedCount
            return status
        }
    }

    // MARK: - On the thread

    private func run() {
        var backoff = Backoff(first: Self.firstPause, longest: Self.longestPause, spread: 0.5...1.5)
        var generator = SystemRandomNumberGenerator()
        while !shared.withLock({ $0.stops }) {
            let failure = serve { backoff.succeeded() }
            shared.withLock { shared in
                shared.status.isConnected = false
                shared.status.failure = failure
                shared.outgoing.dropAll()
            }
            wakeup()
            pause(backoff.next(using: &generator))
        }
    }

    /// Sleeps, and drops what is to be published meanwhile.
    private func pause(_ duration: Duration) {
        let clock = ContinuousClock()
        let end = clock.now + duration
        while clock.now < end, !shared.withLock({ $0.stops }) {
            signal.wait(atMost: PollTimeout.milliseconds(in: end - clock.now))
            shared.withLock { $0.outgoing.dropAll() }
        }
    }

    /// Connects, and sends messages until the connection is lost or `stop` is called. Returns the reason.
    private func serve(_ connected: () -> Void) -> String {
        do throws(NATSRefusal) {
            var connection = try connect()
            connected()
            shared.withLock { shared in
                shared.subjectsChanged = true
                shared.outgoing.dropAll()
            }
            send(over: &connection)
            return connection.failure
        } catch {
            return error.reason
        }
    }

    /// Connects to one of the servers, in random order. Throws the reasons of all of them.
    private func connect() throws(NATSRefusal) -> NATSConnection {
        var reasons: [String: String] = [:]
        for server in configuration.servers.shuffled() where !shared.withLock({ $0.stops }) {
            do throws(NATSRefusal) { return try connect(to: server) } catch { reasons[server] = error.reason }
        }
        let texts = configuration.servers.compactMap { server in reasons[server].map { "\(server): \($0)" } }
        throw NATSRefusal(reason: texts.joined(separator: "; "))
    }

    private func connect(to server: String) throws(NATSRefusal) -> NATSConnection {
        let options: NATSOptions
        do throws(NATSError) { options = try NATSOptions(configuration, for: server) } catch {
            throw NATSRefusal(reason: "\(error)")
        }
        return try NATSConnection(options) { [shared, wakeup] message in
            let isFirst = shared.withLock { shared in
                defer { shared.incoming.append(message) }
                return shared.incoming.isEmpty
            }
            if isFirst { wakeup() }
        }
    }

    private func send(over connection: inout NATSConnection) {
        var isAnnounced = false
        while connection.isConnected {
            let work = shared.withLock { shared in
                defer { shared.subjectsChanged = false }
                let messages = shared.outgoing.removeAll()
                shared.sleeps = messages.isEmpty && !shared.subjectsChanged && !shared.stops
                return (
                    messages: messages, subjects: shared.subjectsChanged ? shared.subjects : nil, stops: shared.stops,
                    sleeps: shared.sleeps
                )
            }
            if let subjects = work.subjects { connection.subscribe(to: subjects) }
            if !isAnnounced {
                // Reports the connection only after the subscriptions, so that answers are not missed.
                isAnnounced = true
                shared.withLock { shared in
                    shared.status.isConnected = true
                    shared.status.failure = nil
                    shared.status.connectionCount += 1
                }
                wakeup()
            }
            for message in work.messages where !connection.publish(message) { return }
            if work.stops { return }
            if work.sleeps { signal.wait(atMost: Int32(NATSOptions.patience / 4)) }
        }
    }
}

/// The state of a connection to NATS, and its counters.
public struct NATSStatus: Sendable, Equatable {
    public var isConnected = false
    /// The reason why there is no connection; nil while there is one, or before the first attempt.
    public var failure: String?
    /// The number of connections made.
    public var connectionCount = 0
    /// The number of messages that could not be sent in time.
    public var droppedOutgoingCount = 0
    /// The number of messages that arrived and were not taken in time.
    public var droppedIncomingCount = 0

    public init() {}
}
