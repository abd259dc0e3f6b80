internal import CMicroHTTPD
internal import Glibc
internal import TenfourAudioCore
public import TenfourSession
public import TenfourUV

/// Answers HTTP requests on the thread of an event loop. Use it on that thread only.
///
/// libmicrohttpd's daemon has no thread and no listening socket here: the loop accepts the connections and watches the
/// daemon's epoll descriptor. The C functions are `MHD_start_daemon`, `MHD_add_connection` and `MHD_run`.
@safe public final class HTTPServer {
    /// The address at which it listens, with the port that the kernel has chosen if 0 was asked for.
    public var endpoint: Endpoint { listener!.endpoint }
    /// The number of open connections.
    public var connectionCount: Int { connections.count }
    /// The number of connections that were closed at once because there were too many.
    public private(set) var refusedConnectionCount = 0
    /// The number of connections that were closed because their request or answer took too long.
    public private(set) var expiredConnectionCount = 0
    /// The number of requests that the server's owner has answered.
    public private(set) var requestCount = 0
    /// The number of requests that were refused, because they were malformed, too long, or neither GET nor HEAD.
    public private(set) var refusedRequestCount = 0

    private let loop: EventLoop
    /// The limits of connections and requests from now on. A raised `connectionCount` has no effect.
    public var limits: HTTPLimits
    private let answer: (HTTPRequest) -> HTTPAnswer
    private var daemon: OpaquePointer?
    private var listener: TCPListener?
    private var readable: LoopHandle?
    private var runTimer: LoopTimer?
    private var sweepTimer: LoopTimer?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    /// The connections by address, of IPv6 by /64.
    private var connectionCounts: [IPAddress: Int] = [:]
    /// The connection that is being given to libmicrohttpd.
    private var arriving: HTTPConnection?

    /// Listens at `endpoint`. `answer` is called for each well-formed request, and must not block. Throws if
    /// libmicrohttpd is missing or if the address cannot be used.
    public init(
        on loop: EventLoop, listeningAt endpoint: Endpoint, limits: HTTPLimits = HTTPLimits(),
        answer: @escaping (HTTPRequest) -> HTTPAnswer
    ) throws(HTTPServerError) {
        try loadMicroHTTPD()
        self.loop = loop
        self.limits = limits
        self.answer = answer
        do throws(NetworkError) {
            listener = try TCPListener(
                on: loop, listeningAt: endpoint, sendBufferSize: 16 << 10, receiveBufferSize: 8 << 10
            ) { [unowned self] in accept($0, $1) }
            runTimer = try loop.makeTimer { [unowned self] in run() }
            sweepTimer = try loop.makeTimer { [unowned self] in sweep() }
        } catch {
            throw .network(error)
        }
        try startDaemon()
    }

    deinit { close() }

    /// Closes the socket and all connections. No request is answered afterwards.
    public func close() {
        for connection in connections.values { connection.leaveStream() }
        readable?.close()
        runTimer?.close()
        sweepTimer?.close()
        listener = nil
        if let daemon = unsafe daemon { unsafe microHTTPD.MHD_stop_daemon(daemon) }
        unsafe daemon = nil
    }

    private func startDaemon() throws(HTTPServerError) {
        unsafe daemon = tenfour_microhttpd_start(
            microHTTPD, callbacks(of: self), UInt32(limits.connectionCount + 16), 8 << 10)
        guard let daemon = unsafe daemon else { throw .refused }
        do throws(NetworkError) {
            readable = try loop.onReadable(unsafe tenfour_microhttpd_epoll(microHTTPD, daemon)) { [unowned self] in
                run()
            }
        } catch {
            close()
            throw .network(error)
        }
    }

    // MARK: Turns of the loop

    /// Lets libmicrohttpd do what it can without waiting.
    package func run() {
        guard let daemon = unsafe daemon else { return }
        _ = unsafe microHTTPD.MHD_run(daemon)
        var milliseconds: UInt64 = 0
        if unsafe microHTTPD.MHD_get_timeout(daemon, &milliseconds) == MHD_Result.YES {
            runTimer?.arm(at: loop.now + .milliseconds(Int64(clamping: milliseconds)))
        }
    }

    /// Lets libmicrohttpd run when the present callback is over.
    func runSoon() { runTimer?.arm(at: loop.now) }

    /// Serves a connection, whose descriptor belongs to the server from then on.
    package func accept(_ descriptor: Int32, _ peer: Endpoint) {
        guard limits.isProxy(peer.address) || hasRoom(for: peer.address), connections.count < limits.connectionCount,
            let daemon = unsafe daemon
        else {
            refusedConnectionCount += 1
            Glibc.close(descriptor)
            return
        }
        arriving = HTTPConnection(
            descriptor: descriptor, remote: peer, server: self, deadline: loop.now + limits.requestTime)
        var unused = sockaddr_in()
        unused.sin_family = sa_family_t(AF_INET)
        let result = unsafe withUnsafeBytes(of: &unused) { bytes in
            let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return unsafe microHTTPD.MHD_add_connection(daemon, descriptor, address, socklen_t(bytes.count))
        }
        // From version 1.0 on, libmicrohttpd takes the connection over when it runs next.
        if result == MHD_Result.YES, arriving != nil { run() }
        arriving = nil
        if let sweepTimer, sweepTimer.deadline == nil { sweepTimer.arm(at: loop.now + .seconds(1)) }
    }

    /// Ends the connections whose time is over, and those whose client is gone. libmicrohttpd does not look while a
    /// connection listens, and misses the end of a connection that comes together with half a header.
    private func sweep() {
        let now = loop.now
        for connection in Array(connections.values) {
            if let deadline = connection.deadline, deadline <= now {
                expiredConnectionCount += 1
                connection.deadline = nil
                connection.dropsUnsentBytes()
                connection.shutDown()
            } else if connection.isListening {
                if connection.isClosedByClient { connection.leaveStream() }
            } else if connection.request == nil, connection.isClosedByClient {
                connection.shutDown()
            }
        }
        if !connections.isEmpty { sweepTimer?.arm(at: now + .seconds(1)) }
    }

    // MARK: libmicrohttpd's callbacks

    func added(_ handle: OpaquePointer) -> HTTPConnection? {
        guard let connection = arriving else { return nil }
        arriving = nil
        unsafe connection.handle = handle
        connections[ObjectIdentifier(connection)] = connection
        count(1, for: connection.remote.address)
        return connection
    }

    func removed(_ connection: HTTPConnection) {
        connection.stream?.leave(connection)
        connections[ObjectIdentifier(connection)] = nil
        unsafe connection.server = nil
        count(-1, for: connection.remote.address)
        release(connection)
    }

    func completed(_ connection: HTTPConnection) {
        connection.stream?.leave(connection)
        release(connection)
        connection.requestEnded(nextBefore: loop.now + limits.requestTime)
    }

    /// The header is complete. A good request is answered when libmicrohttpd calls again, since an answer to the first
    /// call closes the connection.
    func ready(_ received: ReceivedRequest, of connection: HTTPConnection) -> MHD_Result {
        connection.deadline = loop.now + limits.answerTime
        if let request = connection.request {
            requestCount += 1
            return unsafe answer(request).queue(to: connection, received.handle)
        }
        do throws(HTTPRefusal) {
            let request = try received.checked(connection.target, from: connection.remote, limits)
            try admit(request.client(trusting: limits.isProxy), on: connection)
            connection.request = request
            return MHD_Result.YES
        } catch {
            refusedRequestCount += 1
            return unsafe error.answer.queue(to: connection, received.handle)
        }
    }

    // MARK: The limit per address

    private func hasRoom(for address: IPAddress) -> Bool {
        connectionCounts[address.ofCustomer, default: 0] < limits.connectionCountPerAddress
    }

    private func count(_ change: Int, for address: IPAddress) {
        let count = connectionCounts[address.ofCustomer, default: 0] + change
        connectionCounts[address.ofCustomer] = count > 0 ? count : nil
    }

    /// Counts a proxy's connection for the client of its present request.
    private func admit(_ client: IPAddress?, on connection: HTTPConnection) throws(HTTPRefusal) {
        guard let client else { return }
        guard hasRoom(for: client) else { throw .tooManyConnections }
        count(1, for: client)
        connection.client = client
    }

    private func release(_ connection: HTTPConnection) {
        guard let client = connection.client else { return }
        count(-1, for: client)
        connection.client = nil
    }
}

extension IPAddress {
    /// The address, or of an IPv6 address its /64, which belongs to one customer.
    fileprivate var ofCustomer: IPAddress {
        switch self {
        case .v4: self
        case .v6(let high, _, let scope): .v6(high: high, low: 0, scope: scope)
        }
    }
}
