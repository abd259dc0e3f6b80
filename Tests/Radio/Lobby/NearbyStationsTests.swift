import TenfourAudioCore
import TenfourCall
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourDNSSD
@testable import TenfourLobby

/// Returns a station as the browser finds it.
func found(
    _ name: String, _ number: UInt32 = 1, accepts: StationText.Accepted = .calls, port: UInt16 = 5004,
    isOnThisMachine: Bool = false
) -> FoundService {
    FoundService(
        id: .init(name: name, domain: "local"), name: name, host: "host-\(number).local",
        endpoints: [Endpoint(.v4(0x0A4D_0000 + number), port: port)],
        text: StationText(version: "1", accepts: accepts), isOnThisMachine: isOnThisMachine)
}

/// The stations nearby on a network where some of them answer probes.
private final class Network {
    var nearby: NearbyStations
    var answering: Set<Endpoint> = []
    private(set) var now = Instant.start
    private(set) var sent: [Endpoint] = []
    private var answerer = SeededRandom(seed: 9)

    init(offering offer: StationText.Accepted = .calls) {
        var generator = SeededRandom(seed: 1)
        nearby = NearbyStations(offering: offer, ownPort: 5004, using: &generator)
    }

    func update(_ services: [FoundService], hiddenCount: Int = 0) {
        nearby.update(services, hiddenCount: hiddenCount, at: now)
        exchange()
    }

    func run(_ time: Duration) {
        let end = now + time
        while let deadline = nearby.nextDeadline, deadline <= end {
            now = max(now, deadline)
            nearby.timeElapsed(at: now)
            exchange()
        }
        now = end
    }

    private func exchange() {
        while true {
            var target: Endpoint?
            let datagram = [UInt8](capacity: 100) { target = nearby.nextDatagram(into: &$0, at: now) }
            guard let target else { return }
            #expect(datagram.count == 88)
            sent.append(target)
            guard answering.contains(target) else { continue }
            var lobby = Lobby(name: "there", port: 5004, .calls(.byPerson()), using: &answerer)
            let isHandled = lobby.receive(datagram.span, from: Endpoint(.v4(1), port: 5004), at: now)
            #expect(isHandled)
            let reply = [UInt8](capacity: 100) { _ = lobby.nextDatagram(into: &$0, at: now) }
            nearby.receive(reply.span, from: target, at: now + .milliseconds(3))
        }
    }

    func reachability(_ digit: Int) -> NearbyStation.Reachability? { nearby.list[digit]?.reachability }
}

struct NearbyStationsTests {
    @Test func aStationKeepsItsDigitWhenOthersComeAndGo() {
        let network = Network()
        network.update([found("Alice", 1), found("Bob", 2), found("Carol", 3)])
        #expect(network.nearby.list.stations.map(\.name) == ["Alice", "Bob", "Carol"])
        network.update([found("Bob", 2), found("Carol", 3), found("Dave", 4)])
        let stations = network.nearby.list.stations
        #expect(stations.map(\.name) == ["Bob", "Carol", "Dave"])
        #expect(stations.map(\.digit) == [2, 3, 4], "the digit of one who left is not another's at once")
        network.run(NearbyStations.restTime)
        network.update([found("Bob", 2), found("Carol", 3), found("Dave", 4), found("Eve", 5)])
        #expect(network.nearby.list[1]?.name == "Eve")
    }

    @Test func nineHaveADigitAndTheRestIsCounted() {
        let network = Network()
        let services = (1...64).map { found("Station \($0)", $0) }
        network.update(services, hiddenCount: 436)
        #expect(network.nearby.list.stations.map(\.digit) == Array(1...9))
        #expect(network.nearby.list.otherCount == 491)
        network.run(.seconds(1))
        network.update(Array(services.dropFirst()), hiddenCount: 436)
        #expect(network.nearby.list.stations.count == 8)
        network.run(.seconds(2))
        #expect(network.nearby.list[1]?.name == "Station 10")
        #expect(network.nearby.list.otherCount == 490)
    }

    @Test func aStationThatIsCutOffIsUnreachableWithinTenSecondsAndComesBack() {
        let network = Network()
        let alice = found("Alice", 1)
        network.answering = [alice.endpoints[0]]
        network.update([alice])
        #expect(network.reachability(1) == .answers(after: .milliseconds(3)))
        network.run(.seconds(100))
        #expect(network.reachability(1) == .answers(after: .milliseconds(3)))
        // At the worst moment: just after an answer.
        network.answering = []
        network.run(.seconds(10))
        #expect(network.reachability(1) == .unreachable)
        network.answering = [alice.endpoints[0]]
        network.run(NearbyStations.longestPause)
        #expect(network.reachability(1) == .answers(after: .milliseconds(3)))
    }

    @Test func theEndpointThatAnswersIsCalled() {
        let network = Network()
        let endpoints = [Endpoint(.v4(1), port: 5004), Endpoint(.v4(2), port: 5004)]
        let service = FoundService(
            id: .init(name: "Pi", domain: "local"), name: "Pi", host: "pi.local", endpoints: endpoints,
            text: StationText(version: "1", accepts: .calls), isOnThisMachine: false)
        network.update([service])
        #expect(network.nearby.list[1]?.endpoint == endpoints[0])
        network.answering = [endpoints[1]]
        network.run(.seconds(20))
        #expect(network.nearby.list[1]?.endpoint == endpoints[1])
    }

    /// Somebody may announce a victim's address.
    @Test func anAddressThatNeverAnswersGetsLittle() {
        let network = Network()
        network.update((1...9).map { found("Victim \($0)", 1) })
        network.run(.seconds(600))
        let bytesPerSecond = Double(network.sent.count * 88) / 600
        #expect(bytesPerSecond < 150, "\(bytesPerSecond)")
    }

    @Test func thisStationAndThoseThatOfferSomethingElseAreNotListed() {
        let own = found("Me", 1, isOnThisMachine: true)
        let neighbour = found("My other one", 1, port: 6000, isOnThisMachine: true)
        let services = [own, neighbour, found("Plain", 2, accepts: []), found("Pairs", 3, accepts: .pairing)]
        let network = Network()
        network.update(services)
        #expect(network.nearby.list.stations.map(\.name) == ["My other one", "Plain"])
        #expect(network.nearby.list.stations.map(\.takesCalls) == [true, false])
        network.run(.seconds(60))
        #expect(network.reachability(2) == .unknown, "who announces no calls is not probed")
        let pairing = Network(offering: .pairing)
        pairing.update(services)
        #expect(pairing.nearby.list.stations.map(\.name) == ["Pairs"])
    }

    @Test func afterASessionAllAreProbedAtOnce() {
        let network = Network()
        let alice = found("Alice", 1)
        network.update([alice])
        network.run(.seconds(8))
        #expect(network.reachability(1) == .unreachable)
        network.answering = [alice.endpoints[0]]
        network.nearby.restart(at: network.now)
        network.run(.zero)
        #expect(network.reachability(1) == .answers(after: .milliseconds(3)))
    }
}
