import TenfourSession
import TestSupport
import Testing

@testable import TenfourHTTPServer

/// Clients behind a proxy. All connections come from loopback, where the tests trust a proxy.
@Suite(.onItsOwnThread) struct ForwardedClientTests {
    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.isProxy = \.isLoopback
        return limits
    }

    private static let proxies: [IPAddress] = [.loopbackV4, IPAddress("10.0.0.5")!]

    private static func request(_ fields: [(String, String)], from remote: IPAddress = .loopbackV4) -> HTTPRequest {
        HTTPRequest(path: "/", fields: fields.map { ($0.0, $0.1) }, remote: Endpoint(remote, port: 1_000))
    }

    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("1.2.3.4, 192.0.2.1", "192.0.2.1"), ("192.0.2.1 ,10.0.0.5", "192.0.2.1"),
            ("1.2.3.4,192.0.2.1, 10.0.0.5,\t127.0.0.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"), ("", nil), (" , ,", nil), ("10.0.0.5", nil), ("unknown", nil),
            ("192.0.2.1, unknown", nil), ("192.0.2.1, unknown, 10.0.0.5", nil), ("192.0.2.1:5004", nil),
        ] as [(String, String?)])
    func lastAddressThatIsNoProxyIsTheClient(text: String, client: String?) {
        let found = Self.request([("x-forwarded-FOR", text)]).client(trusting: Self.proxies.contains)
        #expect(found == client.flatMap { IPAddress($0) })
    }

    @Test func severalFieldsAreOneList() {
        let fields = [("X-Forwarded-For", "192.0.2.1"), ("Host", "a"), ("X-Forwarded-For", "192.0.2.2")]
        #expect(Self.request(fields).client(trusting: Self.proxies.contains) == IPAddress("192.0.2.2"))
        #expect(Self.request([("Host", "a")]).client(trusting: Self.proxies.contains) == nil)
    }

    @Test func strangerIsNotBelieved() {
        let request = Self.request([("X-Forwarded-For", "192.0.2.1")], from: IPAddress("192.0.2.9")!)
        #expect(request.client(trusting: Self.proxies.contains) == nil)
    }

    private func listener(_ server: RunningServer, _ address: String) -> (client: Client, status: String) {
        let client = Client(server.port)
        client.get("/live", fields: "X-Forwarded-For: \(address)\r\n")
        return (client, String(client.read { $0.contains("header|") || $0.contains("Close some") }.prefix(12)))
    }

    @Test func eachClientHasItsShareOfConnections() throws {
        var limits = Self.limits
        limits.connectionCountPerAddress = 2
        let server = try RunningServer(limits: limits)
        var anna = (0..<2).map { _ in listener(server, "192.0.2.1") }
        #expect(anna.map(\.status) == ["HTTP/1.1 200", "HTTP/1.1 200"])
        #expect(listener(server, "192.0.2.1").status == "HTTP/1.1 429")
        let ben = listener(server, "1.2.3.4, 192.0.2.2")
        #expect(ben.status == "HTTP/1.1 200")
        anna.removeFirst()
        // The server notices the end of a connection within two seconds.
        let deadline = BareClock.now + 60
        while server.perform({ $0.live.listenerCount }) > 2, BareClock.now < deadline {}
        let again = listener(server, "192.0.2.1")
        #expect(again.status == "HTTP/1.1 200")
        withExtendedLifetime((anna, ben)) {}
    }

    @Test func addressesOfOneIPv6NetworkHaveOneShare() throws {
        var limits = Self.limits
        limits.connectionCountPerAddress = 2
        let server = try RunningServer(limits: limits)
        let anna = (1...2).map { listener(server, "2001:db8::\($0)") }
        #expect(anna.map(\.status) == ["HTTP/1.1 200", "HTTP/1.1 200"])
        #expect(listener(server, "2001:db8::3").status == "HTTP/1.1 429")
        #expect(listener(server, "2001:db8:0:1::1").status == "HTTP/1.1 200")
        withExtendedLifetime(anna) {}
    }

    @Test func connectionOfAProxyCountsForTheClientOfItsPresentRequest() throws {
        var limits = Self.limits
        limits.connectionCountPerAddress = 1
        let server = try RunningServer(limits: limits)
        let proxy = Client(server.port)
        for address in ["192.0.2.1", "192.0.2.2", "192.0.2.1"] {
            proxy.get("/hello", fields: "X-Forwarded-For: \(address)\r\n")
            #expect(proxy.read { $0.hasSuffix("relay\n") }.hasPrefix("HTTP/1.1 200"))
        }
        #expect(listener(server, "192.0.2.1").status == "HTTP/1.1 200")
    }

    @Test func addressOfAStrangerCountsWhateverItWrites() throws {
        // No address is that of a proxy unless it is named: any user of this machine could write the field.
        var limits = HTTPLimits()
        limits.connectionCountPerAddress = 2
        let server = try RunningServer(limits: limits)
        let first = (0..<2).map { listener(server, "192.0.2.\($0)") }
        #expect(first.map(\.status) == ["HTTP/1.1 200", "HTTP/1.1 200"])
        #expect(listener(server, "192.0.2.3").status == "")
        #expect(server.perform { $0.server.status.ignoredProxy } == .loopbackV4)
        withExtendedLifetime(first) {}
    }
}
