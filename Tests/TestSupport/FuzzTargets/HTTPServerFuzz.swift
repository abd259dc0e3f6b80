import Glibc
import Synchronization
import TenfourHTTPServer
import TenfourSession
import TenfourUV

/// Feeds the bytes to an HTTP server as what a client sends on one connection. Traps if a request reaches the handler
/// that should have been refused, if the answer is not HTTP, or if the connection remains.
func feedRequest(_ bytes: Span<UInt8>) {
    // The server is of one thread, and tests feed targets on several.
    running.withLock { server in
        if server == nil { server = try? FuzzedServer() }
        guard let server else { preconditionFailure("the HTTP server does not start") }
        server.feed(bytes)
    }
}

private let running = Mutex<FuzzedServer?>(nil)

private final class FuzzedServer {
    private let loop: EventLoop
    private let server: HTTPServer
    private let stream: HTTPStream

    init() throws {
        loop = try EventLoop()
        let stream = try HTTPStream(on: loop, capacity: 1024, period: .zero, beginning: .nextAppend) {
            [UInt8]("header".utf8)
        }
        self.stream = stream
        var limits = HTTPLimits()
        limits.hosts = HTTPHosts(["relay"])
        server = try HTTPServer(on: loop, listeningAt: Endpoint(.loopbackV4, port: 0), limits: limits) { request in
            check(request)
            return request.path == "/live" ? .stream(stream, contentType: "audio/ogg") : .text("found")
        }
    }

    func feed(_ bytes: Span<UInt8>) {
        var ends: [Int32] = [-1, -1]
        let code = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        precondition(code == 0, "no socket pair")
        defer { close(ends[0]) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        server.accept(ends[1], Endpoint(.loopbackV4, port: 1))
        _ = unsafe bytes.withUnsafeBytes { unsafe send(ends[0], $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        // A listener stays, so a piece must reach it while its half of the connection is open.
        for _ in 0..<4 { server.run() }
        stream.append([UInt8]("piece".utf8).span)
        shutdown(ends[0], Int32(SHUT_WR))
        var turns = 0
        while server.connectionCount > 0 {
            // Each of several requests on a connection may have been for the stream.
            stream.disconnectAll()
            server.run()
            turns += 1
            precondition(turns < 5000, "a connection remains after its end")
        }
        var room = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(ends[0], &room, room.count, Int32(MSG_DONTWAIT))
        precondition(count <= 0 || room.starts(with: [UInt8]("HTTP/1.".utf8)), "an answer that is not HTTP")
    }
}

private func check(_ request: HTTPRequest) {
    precondition(request.path.utf8.first == UInt8(ascii: "/"))
    checkShown(request.path)
    for parameter in request.query { checkShown(parameter.name + parameter.value) }
    let components = request.path.utf8.split(separator: UInt8(ascii: "/"))
    precondition(!components.contains { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) })
    precondition(request.host?.contains { $0.isWhitespace || $0 == "/" || $0 == "<" } != true)
    precondition(request.fields.filter { $0.name.lowercased() == "host" }.count <= 1)
}
