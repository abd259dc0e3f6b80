import Glibc
import TenfourHTTPServer
import TenfourSeededRandom
import TestSupport
import Testing

/// Strangers who want the server to wait, to grow or to tell what it should not. A listener hears on meanwhile.
@Suite(.onItsOwnThread, .inRealTime, .serialized) struct HostileClientTests {
    private let server: RunningServer
    private let listener: Client

    init() throws {
        var limits = HTTPLimits()
        limits.requestTime = .seconds(2)
        limits.answerTime = .seconds(2)
        // All clients have the same address here.
        limits.connectionCountPerAddress = limits.connectionCount
        server = try RunningServer(limits: limits, capacity: 1 << 17)
        listener = Client(server.port)
        listener.get("/live")
        _ = listener.read { $0.hasSuffix("header|") }
    }

    /// Appends a page and expects the listener to have it at most `seconds` later: its period is 50 ms.
    private func expectPunctual(within seconds: Double = 0.15, _ place: SourceLocation = #_sourceLocation) {
        let start = BareClock.now
        server.append("page|")
        let page = listener.read(seconds: 5) { $0.hasSuffix("page|") }
        let delay = BareClock.now - start
        #expect(page == "page|" && delay < seconds, "\(page) after \(delay) s", sourceLocation: place)
    }

    /// Waits until only `count` connections are left.
    private func connectionsFall(to count: Int, within seconds: Double) -> Bool {
        let deadline = BareClock.now + seconds
        while BareClock.now < deadline {
            if server.perform({ $0.server.connectionCount }) <= count { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func listenersWhoNeverReadDelayNobodyAndAreDisconnected() {
        var clients: [Client] = []
        for _ in 0..<1000 {
            clients.append(Client(server.port, receiveBufferSize: 2048))
            clients.last?.get("/live")
        }
        // More than the kernel keeps for a connection.
        let page = [UInt8](repeating: 46, count: 4000)
        for _ in 0..<30 {
            server.perform { $0.live.append(page.span) }
            usleep(100_000)
        }
        #expect(listener.read(seconds: 1).utf8.count == 120_000)
        // The period is 500 ms with 1000 listeners.
        expectPunctual(within: 1)
        let start = BareClock.now
        while server.perform({ $0.live.listenerCount }) > 1, BareClock.now - start < 20 {
            server.append("page|")
            #expect(listener.read(seconds: 5) { $0.hasSuffix("page|") }.hasSuffix("page|"))
            usleep(100_000)
        }
        #expect(server.perform { $0.live.listenerCount } == 1)
        #expect(server.perform { $0.live.expelledCount } == 1000)
        withExtendedLifetime(clients) {}
    }

    @Test func slowHeaderIsCutOff() {
        let client = Client(server.port)
        let start = BareClock.now
        for byte in [UInt8]("GET /hello HTTP/1.1\r\nHost: relay\r\nX-Slow: yes".utf8) {
            client.send([byte])
            expectPunctual()
            if client.isClosed(within: 0.1) { break }
        }
        #expect(BareClock.now - start < 4)
        #expect(server.perform { $0.server.status.expiredConnectionCount } == 1)
    }

    @Test func answerThatIsNotReadIsCutOff() {
        let client = Client(server.port, receiveBufferSize: 2048)
        client.get("/big")
        #expect(connectionsFall(to: 1, within: 4))
        withExtendedLifetime(client) {}
    }

    @Test func tenThousandConnectionsComeAndGo() {
        for round in 0..<20 {
            let clients = (0..<500).map { _ in Client(server.port) }
            if round % 5 == 0 { expectPunctual(within: 0.4) }
            withExtendedLifetime(clients) {}
        }
        #expect(connectionsFall(to: 1, within: 5))
        expectPunctual()
    }

    @Test func requestIsEndlessAndIsRefused() {
        for request in [
            "GET /hello HTTP/1.1\r\nHost: relay\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n",
            "GET /hello HTTP/1.1\r\nHost: relay\r\n\(String(repeating: "X: a\r\n", count: 20_000))\r\n",
            "GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\nHost: relay\r\n\r\n",
            String(repeating: "\r\n", count: 50_000), String(repeating: "A", count: 100_000),
        ] {
            let client = Client(server.port)
            client.send(request)
            let answer = client.read(seconds: 5)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer.prefix(40))")
            expectPunctual()
        }
        #expect(server.perform { $0.server.status.requestCount } == 1)
    }

    @Test func randomBytesAreRefused() {
        var random = SeededRandom(seed: 17)
        let clients = (0..<300).map { _ in
            let client = Client(server.port)
            let count = Int.random(in: 1...2000, using: &random)
            client.send((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            shutdown(client.descriptor, Int32(SHUT_WR))
            return client
        }
        for client in clients {
            let answer = client.read(seconds: 5)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer.prefix(40))")
        }
        #expect(server.perform { $0.server.status.requestCount } == 1)
        expectPunctual()
    }

    @Test func addressHasItsShareOfConnections() throws {
        var limits = HTTPLimits()
        limits.connectionCountPerAddress = 3
        let strict = try RunningServer(limits: limits)
        let clients = (0..<3).map { _ in Client(strict.port) }
        clients[0].get("/hello")
        #expect(clients[0].read { $0.hasSuffix("relay\n") }.hasPrefix("HTTP/1.1 200"))
        #expect(Client(strict.port).isClosed(within: 3))
        #expect(strict.perform { $0.server.status.refusedConnectionCount } == 1)
        withExtendedLifetime(clients) {}
    }
}
