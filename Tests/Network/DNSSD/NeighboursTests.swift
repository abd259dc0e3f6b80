import Glibc
import TenfourSession
import TestSupport
import Testing

@testable import TenfourDNSSD

/// Three hosts on one network, each with its own network and mount namespace, message bus and avahi-daemon
/// (Tests/TestSupport/Servers/neighbours.py). They take seconds, because multicast DNS does: a name is probed for 750 ms
/// before it is announced, and forgotten 1 s after its farewell.
@Suite(.onItsOwnThread, .inRealTime, .needsRoot)
struct NeighboursTests {
    private let hosts: ScriptedServer

    init() throws { hosts = try ScriptedServer("neighbours.py", ["3"], ready: "ready") }

    private func bus(_ host: Int) -> String { "unix:path=\(hosts.path("bus-\(host)"))" }

    private func announcement(_ name: String, on host: Int, port: UInt16 = 5004) throws -> ServiceAnnouncement {
        try ServiceAnnouncement(
            name, port: port, StationText(version: "0.5", accepts: .calls), busAddress: bus(host))
    }

    private func names(_ browser: ServiceBrowser) -> [String] { browser.snapshot.services.map(\.name).sorted() }

    private func time(until isTrue: () -> Bool) -> Duration {
        let start = ContinuousClock.now
        let isThere = hosts.wait(.seconds(20), until: isTrue)
        #expect(isThere)
        return ContinuousClock.now - start
    }

    @Test func aStationIsSeenWithinTwoSecondsAndGoneWithinTwo() throws {
        let browsers = try (1...3).map { try ServiceBrowser(busAddress: bus($0)) }
        #expect(hosts.wait { browsers.allSatisfy { $0.snapshot.state == .running } })
        let alice = try announcement("Alice", on: 1)
        let seen = time { browsers.allSatisfy { names($0) == ["Alice"] } }
        #expect(seen < .seconds(2))
        #expect(alice.state == .announced("Alice"))
        let service = try #require(browsers[1].snapshot.services.first)
        #expect(service.endpoints == [Endpoint(.v4(0x0A4D_0001), port: 5004)])
        #expect(service.host == "host-1.local")
        #expect(service.text == StationText(version: "0.5", accepts: .calls))
        #expect(browsers.map { $0.snapshot.services[0].isOnThisMachine } == [true, false, false])
        // The end of a process looks the same to the daemon: the connection is closed.
        alice.stop()
        let gone = time { browsers.allSatisfy { names($0).isEmpty } }
        #expect(gone < .seconds(2))
        print("neighbours: seen after \(seen), gone after \(gone)")
    }

    @Test func stationsOfOneNameGetDifferentNames() throws {
        let browser = try ServiceBrowser(busAddress: bus(3))
        let first = try announcement("Pi", on: 1)
        #expect(hosts.wait { first.state == .announced("Pi") })
        let second = try announcement("Pi", on: 2)
        let third = try announcement("Pi", on: 1, port: 5005)
        let isSettled = hosts.wait {
            let states: Set<ServiceAnnouncement.State> = [first.state, second.state, third.state]
            return states.count == 3 && states == Set(names(browser).map { .announced($0) })
        }
        #expect(isSettled, "\(first.state), \(second.state), \(third.state); \(names(browser))")
    }

    @Test func aStationIsAnnouncedAgainWhenItsDaemonRestarts() throws {
        let browser = try ServiceBrowser(busAddress: bus(2))
        let alice = try announcement("Alice", on: 1)
        #expect(hosts.wait { names(browser) == ["Alice"] })
        hosts.send("kill 1")
        #expect(hosts.wait { alice.state == .waiting(.unavailable(.noDaemon)) })
        hosts.send("start 1")
        #expect(hosts.wait { alice.state == .announced("Alice") })
        // The browser's daemon may restart as well.
        hosts.send("kill 2")
        #expect(hosts.wait { browser.snapshot == .init(state: .unavailable(.noDaemon)) })
        hosts.send("start 2")
        #expect(hosts.wait { names(browser) == ["Alice"] })
    }

    @Test func aFloodOfHostileAnnouncementsStaysBounded() throws {
        let browser = try ServiceBrowser(busAddress: bus(2))
        let alice = try announcement("Alice", on: 1)
        #expect(hosts.wait { names(browser) == ["Alice"] && alice.state == .announced("Alice") })
        hosts.send("flood 3 500")
        #expect(hosts.wait(.seconds(60)) { browser.snapshot.hiddenCount > 300 })
        let snapshot = browser.snapshot
        #expect(snapshot.services.count <= ServiceTable.maximumServiceCount)
        #expect(snapshot.services.first?.name == "Alice")
        for service in snapshot.services {
            for scalar in (service.name + service.host + service.text.version).unicodeScalars {
                #expect(scalar.properties.generalCategory != .control && scalar.value != 0x202E)
            }
        }
    }
}
