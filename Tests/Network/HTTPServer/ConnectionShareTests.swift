import Glibc
import TenfourHTTPServer
import TenfourSession
import TestSupport
import Testing

/// Connections of one network, which want all places. Their addresses stand for those of clients elsewhere, which a proxy
/// names, or which connect themselves.
@Suite(.onItsOwnThread) struct ConnectionShareTests {
    private func limits(proxy: Bool) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.connectionCount = 40
        limits.connectionCountPerAddress = 4
        if proxy { limits.isProxy = \.isLoopback }
        return limits
    }

    /// Connects as a client at `address`: the test gives the server one end of a pair of sockets.
    private func connect(_ server: RunningServer, from address: String) -> Client {
        var ends: [Int32] = [-1, -1]
        let code = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        precondition(code == 0, "no pair of sockets")
        let own = ends[1]
        _ = fcntl(own, F_SETFL, O_NONBLOCK)
        server.perform { $0.server.accept(own, Endpoint(IPAddress(address)!, port: 1_000)) }
        return Client(descriptor: ends[0])
    }

    private func listen(_ client: Client, fields: String = "") -> String {
        client.get("/live", fields: fields)
        return String(client.read(seconds: 5) { $0.contains("header|") || $0.contains("Try again") }.prefix(12))
    }

    private func flood(_ server: RunningServer, _ count: Int) -> [Client] {
        // One /48 has 65 536 hosts of a /64 each.
        (0..<count).map { connect(server, from: "2001:db8:1:\(String($0, radix: 16))::1") }
    }

    @Test func aNetworkThatHasAllConnectionsGivesSomeToOthers() throws {
        let server = try RunningServer(limits: limits(proxy: false))
        var strangers = flood(server, 60)
        #expect(server.perform { $0.server.status.refusedConnectionCount } == 20)
        #expect(listen(strangers[0]) == "HTTP/1.1 200")
        let listeners = (1...4).map { connect(server, from: "192.0.2.\($0)") }
        #expect(listeners.map { listen($0) } == Array(repeating: "HTTP/1.1 200", count: 4))
        let status = server.perform { $0.server.status }
        #expect(status.connectionCount == 40 && status.displacedConnectionCount == 4)
        #expect(server.perform { $0.live.listenerCount } == 5)
        // The newest have given way, and come back in vain.
        #expect(strangers[36..<40].allSatisfy { $0.isClosed(within: 5) })
        strangers += flood(server, 60)
        #expect(server.perform { $0.server.status.displacedConnectionCount } == 4)
        server.append("page|")
        for listener in listeners { #expect(listener.read(seconds: 5) { $0.hasSuffix("page|") } == "page|") }
        withExtendedLifetime(strangers) {}
    }

    @Test func listenersOfTheLargestNetworkGiveWayToo() throws {
        let server = try RunningServer(limits: limits(proxy: false))
        let strangers = flood(server, 40)
        for stranger in strangers { #expect(listen(stranger) == "HTTP/1.1 200") }
        let listener = connect(server, from: "192.0.2.1")
        #expect(listen(listener) == "HTTP/1.1 200")
        #expect(strangers[39].isClosed(within: 5))
        #expect(server.perform { $0.live.listenerCount } == 40)
    }

    @Test func networksOfAFewConnectionsKeepThem() throws {
        let server = try RunningServer(limits: limits(proxy: false))
        let listeners = (0..<40).map { connect(server, from: "198.51.\($0 / 2).\($0 % 2)") }
        for listener in listeners { #expect(listen(listener) == "HTTP/1.1 200") }
        // No network has more than twice as many as the stranger's.
        let stranger = connect(server, from: "198.51.3.9")
        #expect(stranger.isClosed(within: 5))
        #expect(server.perform { $0.live.listenerCount } == 40)
    }

    @Test func clientsOfAProxyHaveTheirNetworksShares() throws {
        let server = try RunningServer(limits: limits(proxy: true))
        func listener(_ address: String) -> (Client, String) {
            let client = Client(server.port)
            return (client, listen(client, fields: "X-Forwarded-For: \(address)\r\n"))
        }
        let strangers = (0..<40).map { listener("2001:db8:1:\(String($0, radix: 16))::1") }
        #expect(strangers.allSatisfy { $0.1 == "HTTP/1.1 200" })
        #expect(listener("2001:db8:1:ffff::1").1 == "HTTP/1.1 503")
        let (anna, status) = listener("192.0.2.1")
        #expect(status == "HTTP/1.1 200" && strangers[39].0.isClosed(within: 5))
        #expect(server.perform { $0.server.status.refusals } == [.serverFull: 1])
        withExtendedLifetime(anna) {}
    }

    @Test func connectionsOfAProxyThatWaitForARequestGiveWay() throws {
        let server = try RunningServer(limits: limits(proxy: true))
        let waiting = (0..<150).map { _ in Client(server.port) }
        let client = Client(server.port)
        #expect(listen(client, fields: "X-Forwarded-For: 192.0.2.1\r\n") == "HTTP/1.1 200")
        #expect(waiting[0].isClosed(within: 5))
        #expect(server.perform { $0.server.status.refusedConnectionCount } == 0)
    }
}
