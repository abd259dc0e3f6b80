internal import TenfourAudioCore
internal import TenfourHTTPServer
public import TenfourSession
internal import TenfourSystem
internal import TenfourUV

/// Answers GET /metrics and GET /healthz on an address of its own and on its own thread, until `stop`. Everything else
/// is answered with 404.
public final class MetricsServer: Sendable {
    /// The address at which it listens, including a port that the system chose.
    public let endpoint: Endpoint

    private let wakeup: Wakeup
    private let names: Locked<Set<String>>
    /// Nil after `stop`.
    private let thread: Locked<WorkerThread?>

    /// The relay or station whose metrics are served. All closures are called on the server's thread, `update` also
    /// once per second.
    public struct Subject: Sendable {
        /// Reads the current counters.
        var update: @Sendable () -> Void
        /// Returns the metrics.
        var metrics: @Sendable () -> MetricsText
        /// Returns the time at which the loop that does the work last worked; nil before it has begun.
        var lastWorked: @Sendable () -> Instant?
    }

    /// The time without work after which a loop counts as stuck. A loop publishes its state at least once per second.
    static let patience = Duration.seconds(3)

    /// Opens the address and starts the thread. Requests are answered if they name an IP address, localhost, or one of
    /// `names` as their Host. Throws if the address cannot be used or a library is missing.
    public init(
        listeningAt address: Endpoint, names: Set<String> = [], _ subject: Subject
    ) throws(MetricsServerError) {
        let names = Locked(names)
        self.names = names
        let serving: Serving
        do throws(HTTPServerError) { serving = try Serving(address, names, subject) } catch {
            throw MetricsServerError(description: "cannot serve metrics at \(address): \(error)")
        }
        endpoint = serving.endpoint
        wakeup = serving.wakeup
        do throws(ThreadError) { thread = Locked(try WorkerThread { serving.run() }) } catch {
            throw MetricsServerError(
                description: "the system can start no thread for metrics; close other programs")
        }
    }

    deinit { stop() }

    /// Sets the names for which requests are answered, at most a second later.
    public func answer(for names: Set<String>) { self.names.withLock { $0 = names } }

    /// Stops answering, and returns when the thread has ended.
    public func stop() {
        wakeup.signal()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}

/// The reason why metrics cannot be served, and the remedy.
public struct MetricsServerError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}

/// The server on its thread. It is created on another thread, and used by its own from `run` on.
private final class Serving: @unchecked Sendable {
    let endpoint: Endpoint
    let wakeup: Wakeup
    private let loop: EventLoop
    private let server: HTTPServer
    private let names: Locked<Set<String>>
    private let subject: MetricsServer.Subject
    private var timer: LoopTimer?

    init(
        _ address: Endpoint, _ names: Locked<Set<String>>, _ subject: MetricsServer.Subject
    ) throws(HTTPServerError) {
        self.names = names
        self.subject = subject
        do throws(NetworkError) {
            let loop = try EventLoop()
            self.loop = loop
            wakeup = try loop.makeWakeup { [unowned loop] in loop.stop() }
        } catch {
            throw .network(error)
        }
        server = try HTTPServer(on: loop, listeningAt: address) { [unowned loop] request in
            Self.answer(request.path, subject, at: loop.now)
        }
        endpoint = server.endpoint
        server.limits.hosts = HTTPHosts(names.withLock(\.self))
    }

    func run() {
        timer = try? loop.makeTimer { [unowned self] in
            subject.update()
            server.limits.hosts = HTTPHosts(names.withLock(\.self))
            timer?.arm(at: loop.now + .seconds(1))
        }
        timer?.arm(at: loop.now)
        loop.run()
        server.close()
        loop.closeAll()
    }

    private static func answer(_ path: String, _ subject: MetricsServer.Subject, at now: Instant) -> HTTPAnswer {
        switch path {
        case "/metrics":
            subject.update()
            return .whole(Array(subject.metrics().text.utf8), contentType: MetricsText.contentType)
        case "/healthz":
            guard let worked = subject.lastWorked() else {
                return .text("starting: the network thread has not run yet", status: 503)
            }
            let age = now - worked
            if age <= MetricsServer.patience { return .text("ok") }
            return .text("stuck: the network thread has not worked for \(Int(age / .seconds(1))) s", status: 503)
        default: return .text("Only /metrics and /healthz exist at this address.", status: 404)
        }
    }
}
