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
    public var connectionCount: Int { shares.count }
    /// The counts since the start.
    public var status: HTTPServerStatus {
        var status = counts
        status.connectionCount = shares.count
        return status
    }

    private let loop: EventLoop
    /// The limits of connections and requests from now on. A raised `connectionCount` has no effect.
    public var limits: HTTPLimits
    private let answer: (HTTPRequest) -> HTTPAnswer
    private var daemon: OpaquePointer?
    private var listener: TCPListener?
    private var readable: LoopHandle?
    private var runTimer: LoopTimer?
    private var sweepTimer: LoopTimer?
    private var shares = ConnectionShares()
    /// Displaced connections that libmicrohttpd has not closed yet.
    private var leaving: [ObjectIdentifier: HTTPConnection] = [:]
    private var counts = HTTPServerStatus()
    /// The connection that is being given to libmicrohttpd.
    private var arriving: HTTPConnection?

    /// The number of connections that may be open beyond the limit: displaced ones that end, and those of proxies whose
    /// client is not known yet.
    private static let surplus = 64

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
        for connection in shares.connections.values { connection.leaveStream() }
        readable?.close()
        runTimer?.close()
        sweepTimer?.close()
        listener = nil
        if let daemon = unsafe daemon { unsafe microHTTPD.MHD_stop_daemon(daemon) }
        unsafe daemon = nil
    }

    private func startDaemon() throws(HTTPServerError) {
        unsafe daemon = tenfour_microhttpd_start(
            microHTTPD, callbacks(of: self), UInt32(limits.connectionCount + 2 * Self.surplus), 8 << 10)
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
        let isProxy = limits.isProxy(peer.address)
        guard isProxy || hasRoom(for: peer.address),
            makeRoom(for: isProxy ? nil : peer.address, within: limits.connectionCount + (isProxy ? Self.surplus : 0)),
            let daemon = unsafe daemon
        else {
            counts.refusedConnectionCount += 1
            Glibc.close(descriptor)
            return
        }
        arriving = HTTPConnection(
            descriptor: descriptor, remote: peer, isProxy: isProxy, server: self,
            deadline: loop.now + limits.requestTime)
        // Ends the displaced ones, which count for libmicrohttpd until then.
        if !leaving.isEmpty { run() }
        var unused = sockaddr_in()
        unused.sin_family = sa_family_t(AF_INET)
        let result = unsafe withUnsafeBytes(of: &unused) { bytes in
            let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return unsafe microHTTPD.MHD_add_connection(daemon, descriptor, address, socklen_t(bytes.count))
        }
        // From version 1.0 on, libmicrohttpd takes the connection over when it runs next.
        if result != MHD_Result.YES { counts.refusedConnectionCount += 1 } else if arriving != nil { run() }
        arriving = nil
        if let sweepTimer, sweepTimer.deadline == nil { sweepTimer.arm(at: loop.now + .seconds(1)) }
    }

    /// Ends the connections whose time is over, and those whose client is gone. libmicrohttpd does not look while a
    /// connection listens, and misses the end of a connection that comes together with half a header.
    private func sweep() {
        let now = loop.now
        for connection in Array(shares.connections.values) {
            if let deadline = connection.deadline, deadline <= now {
                counts.expiredConnectionCount += 1
                connection.deadline = nil
                connection.dropsUnsentBytes()
                connection.shutDown()
            } else if connection.isListening {
                if connection.isClosedByClient { connection.leaveStream() }
            } else if connection.request == nil, connection.isClosedByClient {
                connection.shutDown()
            }
        }
        if shares.count > 0 { sweepTimer?.arm(at: now + .seconds(1)) }
    }

    // MARK: libmicrohttpd's callbacks

    func added(_ handle: OpaquePointer) -> HTTPConnection? {
        guard let connection = arriving else { return nil }
        arriving = nil
        unsafe connection.handle = handle
        shares.add(connection, of: connection.isProxy ? nil : connection.remote.address)
        return connection
    }

    func removed(_ connection: HTTPConnection) {
        connection.stream?.leave(connection)
        unsafe connection.server = nil
        shares.remove(connection)
        leaving[ObjectIdentifier(connection)] = nil
    }

    func completed(_ connection: HTTPConnection) {
        connection.stream?.leave(connection)
        if connection.isProxy { shares.set(nil, of: connection) }
        connection.requestEnded(nextBefore: loop.now + limits.requestTime)
    }

    /// The header is complete. A good request is answered when libmicrohttpd calls again, since an answer to the first
    /// call closes the connection.
    func ready(_ received: ReceivedRequest, of connection: HTTPConnection) -> MHD_Result {
        connection.deadline = loop.now + limits.answerTime
        if let request = connection.request {
            counts.requestCount += 1
            return unsafe answer(request).queue(to: connection, received.handle)
        }
        do throws(HTTPRefusal) {
            let request = try received.checked(connection.target, from: connection.remote, limits)
            if connection.isProxy, let client = request.client(trusting: limits.isProxy) {
                try admit(client, on: connection)
            } else if !connection.isProxy, request.field("X-Forwarded-For") != nil {
                noteProxy(connection.remote.address)
            }
            connection.request = request
            return MHD_Result.YES
        } catch {
            counts.refusals[error, default: 0] += 1
            let host = received.host
            if error == .hostNotAccepted { counts.lastRefusedHost = host.flatMap { hostName(of: $0) }.map(String.init) }
            return unsafe error.answer(to: host).queue(to: connection, received.handle)
        }
    }

    // MARK: Shares of the connections

    private func hasRoom(for address: IPAddress) -> Bool {
        shares.count(ofHost: address) < limits.connectionCountPerAddress
    }

    /// Makes room for a connection of `address`, or of a proxy whose client is not known yet, so that there are at most
    /// `limit` with the connection `own`. Returns false if there is none.
    private func makeRoom(for address: IPAddress?, within limit: Int, besides own: HTTPConnection? = nil) -> Bool {
        guard shares.count >= limit + (own == nil ? 0 : 1) else { return true }
        guard let connection = shares.displaceable(by: address, besides: own) else { return false }
        counts.displacedConnectionCount += 1
        shares.remove(connection)
        leaving[ObjectIdentifier(connection)] = connection
        connection.dropsUnsentBytes()
        if connection.isListening { connection.leaveStream() } else { connection.shutDown() }
        return true
    }

    /// Counts a proxy's connection for the client of its present request.
    private func admit(_ client: IPAddress, on connection: HTTPConnection) throws(HTTPRefusal) {
        guard hasRoom(for: client) else { throw .tooManyConnections }
        guard makeRoom(for: client, within: limits.connectionCount, besides: connection) else { throw .serverFull }
        shares.set(client, of: connection)
    }

    /// Keeps the address of a proxy that the operator may have forgotten.
    private func noteProxy(_ address: IPAddress) {
        if address.isLoopback || address.isPrivate { counts.ignoredProxy = address }
    }
}
