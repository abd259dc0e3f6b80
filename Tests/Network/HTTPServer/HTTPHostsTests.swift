import TenfourHTTPServer
import TestSupport
import Testing

/// The names for which a server answers, and the sites whose pages it answers.
@Suite(.onItsOwnThread) struct HTTPHostsTests {
    private let server: RunningServer

    init() throws { server = try RunningServer() }

    private func answer(host: String, fields: String = "", target: String = "/hello") -> String {
        let client = Client(server.port)
        client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\(fields)Connection: close\r\n\r\n")
        return client.read(seconds: 5)
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8080", "192.0.2.1:443", "[::1]", "[::1]:9104", "[2001:DB8::1]:80", "[::ffff:192.0.2.1]",
        "localhost", "LocalHost:8080", "localhost.", "relay", "RELAY:80", "relay.:8080", "radio.example",
        "radio.example.",
    ])
    func addressesLocalhostAndNamesOfTheOperatorAreAnswered(host: String) {
        #expect(answer(host: host).hasPrefix("HTTP/1.1 200 "), "\(answer(host: host))")
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "relay.evil.example", "evilrelay", "relay..", "..", ".",
        "localhost.evil.example",
        "a.localhost", "127.0.0.1.evil.example", "127.0.0.1.", "0x7f.0.0.1", "127.1", "2130706433", "[::1.2]", "[1:2]",
        "[127.0.0.1]",
        "[::1::2]", "_",
    ])
    func otherNamesAreMisdirected(host: String) {
        for target in ["/hello", "/live", "/events", "/gone"] {
            let answer = answer(host: host, target: target)
            #expect(answer.hasPrefix("HTTP/1.1 421 Misdirected Request\r\n"), "\(answer)")
            #expect(answer.contains("write http-host ") && !answer.contains("header|"))
        }
        #expect(server.perform { $0.server.status.requestCount + $0.live.listenerCount } == 0)
        #expect(server.perform { $0.server.status.refusals } == [.hostNotAccepted: 4])
    }

    @Test func theSentenceNamesTheRemedy() {
        let text = answer(host: "Radio.lan:8080")
        #expect(
            text.hasSuffix(
                """
                \r\n\r\nThis server does not answer for the name Radio.lan. Its operator can add the name: start tenfour with \
                --http-host Radio.lan, or write http-host Radio.lan into relay.conf.

                """), "\(text)")
        #expect(server.perform { $0.server.status.lastRefusedHost } == "Radio.lan")
    }

    @Test(arguments: [
        "http://relay", "https://relay:8443", "HTTPS://Radio.Example", "http://127.0.0.1:8080", "http://[::1]:8080",
        "http://localhost",
    ])
    func pagesOfTheServersOwnNamesAreAnswered(origin: String) {
        #expect(answer(host: "relay", fields: "Origin: \(origin)\r\n").hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: [
        "Origin: null", "Origin: https://evil.example", "Origin: http://relay.evil.example", "Origin: ftp://relay",
        "Origin: relay",
        "Origin: http://relay/", "Origin: http://relay http://evil.example", "Origin: http://relay@evil.example",
        "Origin:",
        "Origin: file://", "Origin: http://relay\r\nOrigin: http://relay",
    ])
    func pagesOfOtherSitesAreForbidden(field: String) {
        let answer = answer(host: "relay", fields: "\(field)\r\n", target: "/events")
        #expect(
            answer.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && answer.contains("open the address itself"), "\(answer)")
    }

    @Test func theNamesMayChangeWhileItRuns() {
        #expect(answer(host: "new.example").hasPrefix("HTTP/1.1 421 "))
        server.perform { $0.server.limits.hosts = HTTPHosts(["new.example"]) }
        #expect(answer(host: "new.example").hasPrefix("HTTP/1.1 200 "))
        #expect(answer(host: "relay").hasPrefix("HTTP/1.1 421 "))
    }
}
