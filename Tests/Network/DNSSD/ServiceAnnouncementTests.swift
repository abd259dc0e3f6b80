import TestSupport
import Testing

@testable import TenfourDNSSD

/// The announcement with a mock of avahi-daemon (Tests/TestSupport/Servers/avahi.py).
@Suite(.onItsOwnThread) struct ServiceAnnouncementTests {
    private let avahi: ScriptedServer

    init() throws { avahi = try ScriptedServer("avahi.py", ready: "address ") }

    private func announcement(_ name: String) throws -> ServiceAnnouncement {
        try ServiceAnnouncement(
            name, port: 5004, StationText(version: "0.5", accepts: [.calls, .pairing]),
            busAddress: "unix:path=\(avahi.path("bus"))")
    }

    private func count(_ line: String) -> Int { avahi.lines.count { $0 == line } }

    @Test func aServiceIsAnnouncedWithItsPortAndText() throws {
        let announcement = try announcement("Pi in the kitchen")
        #expect(avahi.wait { announcement.state == .waiting(.unavailable(.noDaemon)) })
        avahi.send("appear")
        #expect(avahi.wait { announcement.state == .announced("Pi in the kitchen") })
        let line = "add 'Pi in the kitchen' _tenfour._udp 5004 ['txtvers=1', 'version=0.5', 'accepts=call,pair']"
        #expect(count(line) == 1)
    }

    @Test func itIsAnnouncedAgainWhenTheDaemonRestarts() throws {
        let announcement = try announcement("pi")
        for _ in 0..<2 {
            avahi.send("appear")
            #expect(avahi.wait { announcement.state == .announced("pi") })
            avahi.send("vanish")
            #expect(avahi.wait { announcement.state == .waiting(.unavailable(.noDaemon)) })
        }
        #expect(count("commit") == 2)
    }

    @Test func aNameThatIsTakenHereOrElsewhereIsReplacedByTheNext() throws {
        avahi.send("taken pi")
        avahi.send("collide")
        avahi.send("appear")
        let announcement = try announcement("pi")
        #expect(avahi.wait { announcement.state == .announced("pi #3") })
        // Without the others the first name is free again.
        avahi.send("vanish")
        #expect(avahi.wait { announcement.state != .announced("pi #3") })
        avahi.send("appear")
        #expect(avahi.wait { announcement.state == .announced("pi #2") })
    }

    @Test func nothingIsAnnouncedWhileTheDaemonChoosesItsHostName() throws {
        avahi.send("server 1")
        avahi.send("appear")
        let announcement = try announcement("pi")
        #expect(avahi.wait { announcement.state == .waiting(.running) })
        #expect(count("commit") == 0)
        avahi.send("server 2")
        #expect(avahi.wait { announcement.state == .announced("pi") })
        avahi.send("server 1")
        #expect(avahi.wait { announcement.state == .waiting(.running) })
        avahi.send("server 2")
        #expect(avahi.wait { announcement.state == .announced("pi") })
        #expect(count("commit") == 2)
    }

    /// The daemon forgets the service of a program that ends, because its connection is closed.
    @Test func stoppingClosesTheConnection() throws {
        avahi.send("appear")
        let announcement = try announcement("pi")
        #expect(avahi.wait { announcement.state == .announced("pi") })
        let other = try self.announcement("other")
        #expect(avahi.wait { other.state == .announced("other") })
        announcement.stop()
        #expect(avahi.wait { count("a client has gone") == 1 })
        withExtendedLifetime(other) {}
        #expect(count("a client has gone") == 1)
    }

    @Test func longNamesAreCutBetweenCharacters() throws {
        avahi.send("appear")
        let announcement = try announcement(String(repeating: "ü", count: 40))
        #expect(avahi.wait { announcement.state == .announced(String(repeating: "ü", count: 31)) })
        let nameless = try self.announcement("")
        #expect(avahi.wait { nameless.state == .announced("tenfour") })
    }
}
