import TenfourSession
import TestSupport
import Testing

@testable import TenfourDNSSD

/// The browser with a mock of avahi-daemon (Tests/TestSupport/Servers/avahi.py).
@Suite(.onItsOwnThread, .inRealTime) struct ServiceBrowserTests {
    private let avahi: ScriptedServer
    private let browser: ServiceBrowser

    init() throws {
        avahi = try ScriptedServer("avahi.py", ready: "address ")
        browser = try Self.browser(avahi)
    }

    /// A browser that is less patient than the usual one.
    private static func browser(_ avahi: ScriptedServer) throws -> ServiceBrowser {
        try ServiceBrowser(
            busAddress: "unix:path=\(avahi.path("bus"))", callLimit: .seconds(1),
            retryInterval: .milliseconds(200), changed: {})
    }

    private var names: [String] { browser.snapshot.services.map(\.name) }

    private func has(_ names: String...) -> Bool { avahi.wait { self.names == names } }

    @Test func aServiceIsListedWithWhatItSaysAndGoesWithIt() throws {
        #expect(avahi.wait { browser.snapshot.state == .unavailable(.noDaemon) })
        avahi.send("appear")
        #expect(avahi.wait { browser.snapshot.state == .running })
        avahi.send("new alice 192.0.2.7 5004")
        #expect(has("alice"))
        let service = try #require(browser.snapshot.services.first)
        #expect(service.host == "host.local")
        #expect(service.endpoints == [Endpoint(.v4(0xC000_0207), port: 5004)])
        #expect(service.text == StationText(version: "0.5", accepts: [.calls, .pairing]))
        #expect(!service.isOnThisMachine)
        avahi.send("new bob fe80::1 40000")
        #expect(has("alice", "bob"))
        #expect(
            browser.snapshot.services[1].endpoints
                == [Endpoint(.v6(high: 0xFE80 << 48, low: 1, scope: 2), port: 40_000)])
        avahi.send("remove alice")
        #expect(has("bob"))
        #expect(avahi.wait { avahi.lines.contains("free resolver") })
    }

    @Test func aDaemonThatRestartsIsAskedAgain() {
        avahi.send("appear")
        avahi.send("new alice 192.0.2.7 5004")
        #expect(has("alice"))
        avahi.send("vanish")
        #expect(avahi.wait { browser.snapshot == .init(state: .unavailable(.noDaemon)) })
        avahi.send("appear")
        #expect(has("alice"))
        #expect(browser.snapshot.state == .running)
    }

    @Test func hostileNamesAreCleanedAndTheListIsBounded() {
        avahi.send("appear")
        for number in 0..<100 { avahi.send("new \\x1b[31m\\u202e\(number)\\n 192.0.2.7 5004") }
        #expect(avahi.wait { browser.snapshot.services.count == 64 && browser.snapshot.hiddenCount == 36 })
        for service in browser.snapshot.services {
            for scalar in service.name.unicodeScalars {
                #expect(scalar.properties.generalCategory != .control && scalar.value != 0x202E)
            }
        }
        // When some go, hidden ones take their places.
        for number in 0..<30 { avahi.send("remove \\x1b[31m\\u202e\(number)\\n") }
        #expect(avahi.wait { browser.snapshot.services.count == 64 && browser.snapshot.hiddenCount == 6 })
    }

    /// Any program may send a signal that looks like the daemon's.
    @Test func signalsOfOtherProgramsAndOtherTypesAreIgnored() {
        avahi.send("appear")
        avahi.send("new alice 192.0.2.7 5004")
        #expect(has("alice"))
        avahi.send("forge mallory")
        avahi.send("junk")
        avahi.send("new bob 192.0.2.8 5004")
        #expect(has("alice", "bob"))
        #expect(browser.snapshot.state == .running)
    }

    @Test func addressesThatReachNobodyAreNotListed() {
        avahi.send("appear")
        for (name, address) in [("a", "224.0.0.251"), ("b", "0.0.0.0"), ("c", "nonsense"), ("d", "::")] {
            avahi.send("new \(name) \(address) 5004")
        }
        avahi.send("new refused 192.0.2.9 5004")
        avahi.send("new bob 192.0.2.8 5004")
        #expect(has("bob"))
    }

    @Test func aServiceThatCannotBeResolvedIsTriedAgain() {
        avahi.send("appear")
        avahi.send("new refused 192.0.2.9 5004")
        avahi.send("mute")
        avahi.send("new alice 192.0.2.7 5004")
        #expect(avahi.wait { avahi.lines.contains("free resolver") })
        let count = avahi.lines.count { $0 == "free resolver" }
        #expect(avahi.wait { avahi.lines.count { $0 == "free resolver" } > count })
        #expect(names.isEmpty)
    }

    @Test func aDaemonThatHangsIsReportedAndNobodyWaitsForIt() throws {
        avahi.send("appear")
        avahi.send("hang")
        let start = ContinuousClock.now
        let other = try Self.browser(avahi)
        #expect(other.snapshot.services.isEmpty)
        try ServiceBrowser(busAddress: "unix:path=\(avahi.path("bus"))").stop()
        #expect(ContinuousClock.now - start < .milliseconds(900))
        #expect(avahi.wait { other.snapshot.state == .unavailable(.failed("no answer in time")) })
    }

    @Test func withoutABusTheReasonIsTold() throws {
        let lonely = try ServiceBrowser(busAddress: "unix:path=\(avahi.path("none"))")
        #expect(avahi.wait { lonely.snapshot.state == .unavailable(.noBus) })
        #expect(DiscoveryFailure.noBus.description.contains("dbus"))
    }
}
