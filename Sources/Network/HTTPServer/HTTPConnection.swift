import CMicroHTTPD
import Glibc
import TenfourAudioCore
import TenfourSession

/// A connection of an HTTP server, with the state that libmicrohttpd does not keep.
///
/// libmicrohttpd owns the socket and sends headers and whole answers. While the connection listens to a stream,
/// libmicrohttpd has suspended it, which means that it does not touch the socket, and the stream writes to the socket.
@safe final class HTTPConnection {
    let descriptor: Int32
    let remote: Endpoint
    /// The server that holds this connection; nil once it has let go of it.
    unowned(unsafe) var server: HTTPServer?
    /// libmicrohttpd's connection; nil until it has added the connection.
    var handle: OpaquePointer?
    /// The time at which the connection is closed if its request or answer is not complete; nil while it listens.
    var deadline: Instant?
    /// The target of the present request.
    var target = ReceivedTarget()
    /// The present request, once its header is complete and good.
    var request: HTTPRequest?
    /// The address for which the connection counts: the other end's, or that of the client which a trusted proxy names for
    /// the present request. It is nil while a proxy's connection waits for a request.
    var client: IPAddress?
    /// Whether the other end is a trusted proxy.
    let isProxy: Bool
    /// Counts the server's connections.
    var number = 0
    /// The stream to which the present request's answer belongs.
    private(set) var stream: HTTPStream?
    private var isSuspended = false
    private var isEnding = false

    init(descriptor: Int32, remote: Endpoint, isProxy: Bool, server: HTTPServer, deadline: Instant) {
        self.descriptor = descriptor
        self.remote = remote
        self.isProxy = isProxy
        unsafe self.server = server
        self.deadline = deadline
    }

    /// Whether the connection listens to a stream now.
    var isListening: Bool { isSuspended && !isEnding }

    func willListen(to stream: HTTPStream) { self.stream = stream }

    /// Joins the stream, now that the header is sent. Returns false if the connection is to be closed. libmicrohttpd calls
    /// this again after `end()`.
    func startListening() -> Bool {
        guard !isEnding, let stream, let handle = unsafe handle, stream.join(self) else { return false }
        deadline = nil
        isSuspended = true
        unsafe microHTTPD.MHD_suspend_connection(handle)
        return true
    }

    /// Ends the answer and the connection; the stream has forgotten it, or will forget it.
    func end() {
        guard isListening, let handle = unsafe handle else { return }
        isEnding = true
        unsafe microHTTPD.MHD_resume_connection(handle)
        unsafe server?.runSoon()
    }

    /// Ends the answer because the client or the server is gone.
    func leaveStream() {
        guard isListening else { return }
        stream?.leave(self)
        end()
    }

    /// Makes closing the socket give its kernel memory back at once, instead of waiting for a client that reads nothing.
    func dropsUnsentBytes() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// Makes libmicrohttpd close the connection in its next turn. The C function is `shutdown`.
    func shutDown() { Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Whether the client has closed the connection, or its half of it.
    var isClosedByClient: Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
    }

    /// Prepares for the next request of the connection.
    func requestEnded(nextBefore deadline: Instant) {
        self.deadline = deadline
        request = nil
        stream = nil
    }
}
