import TenfourAudioCore
import TenfourSession
import Testing

@testable import TenfourHTTPServer
@testable import TenfourWeb

/// What the operator is told about the HTTP server.
@Suite struct HTTPNoticesTests {
    private func refused(_ reason: String, _ count: Int) -> WebNotice.Refusal {
        WebNotice.Refusal(reason: reason, count: count)
    }

    @Test func refusalsAreToldAtOnceAndThenOnceAMinute() {
        var notices = HTTPNotices()
        var status = HTTPServerStatus()
        #expect(notices.notices(of: status, at: .start) == [])
        status.refusals = [.hostNotAccepted: 3]
        status.lastRefusedHost = "evil.example"
        #expect(
            notices.notices(of: status, at: .start + .seconds(1))
                == [.refused([refused("host not accepted", 3)], lastHost: "evil.example")])
        #expect(notices.notices(of: status, at: .start + .seconds(2)) == [])
        status.refusedConnectionCount = 2
        status.displacedConnectionCount = 1
        status.refusals = [.hostNotAccepted: 3, .serverFull: 7]
        #expect(notices.notices(of: status, at: .start + .seconds(60)) == [])
        #expect(
            notices.notices(of: status, at: .start + .seconds(61)) == [
                .refused(
                    [refused("connection refused", 2), refused("connection displaced", 1), refused("server full", 7)],
                    lastHost: nil)
            ])
        #expect(notices.notices(of: status, at: .start + .seconds(600)) == [])
    }

    @Test func aProxyThatNoSettingNamesIsToldOnce() {
        var notices = HTTPNotices()
        var status = HTTPServerStatus()
        status.ignoredProxy = .loopbackV4
        #expect(notices.notices(of: status, at: .start) == [.proxyIgnored(.loopbackV4)])
        status.ignoredProxy = IPAddress("10.0.0.5")
        #expect(notices.notices(of: status, at: .start + .seconds(1)) == [])
    }
}
