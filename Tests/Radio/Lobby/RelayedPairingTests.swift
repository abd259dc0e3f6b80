import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

@testable import TenfourLobby
@testable import TenfourPairing

private let relay = Endpoint(.v4(0xC633_6401), port: 5004)
private let stranger = Endpoint(.v4(0xC633_6499), port: 5004)

/// Stations that pair through a relay.
struct RelayedPairingTests {
    private let key: RelayKey

    init() {
        var randomness = SeededRandom(seed: 12)
        key = RelayKey(using: &randomness)
    }

    private func town(_ shown: [Bool] = [true, true], seed: UInt64 = 1) throws -> RelayTown {
        var configuration = RelayConfiguration()
        configuration.key = key
        configuration.pairing = PairingConfiguration()
        return try RelayTown(configuration, shown, seed: seed)
    }

    @Test func theRightNumberAndWordsBringTheLink() throws {
        let town = try town()
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        _ = town.number(of: 1)
        #expect(town.pair(1, number, town.words[0]))
        town.run(.seconds(2))
        let link = try #require(town.lobbies[0].ownLink)
        #expect(town.events(1) == [.typedWords(.paired(link))])
        let told = town.events(0)
        #expect(told == [.shownWords(.paired(with: relay)), .shownWords(.delivered)])
        #expect(link.host == "relay.example" && link.name == "station0")
        // The relay makes the pass again from its id.
        let pass = try #require(link.pass)
        #expect(PassMaker(key).pass(pass.id) == pass)
        town.run(.seconds(60))
        #expect(town.lobbies.allSatisfy { !$0.isPairing })
        #expect(town.events(0).isEmpty, "the number is kept no longer")
    }

    @Test func bothEndsGiveTheirNumbersBackWhenTheyHavePaired() throws {
        let town = try town([true, true, false])
        town.run(.seconds(1))
        let numbers = [try #require(town.number(of: 0)), try #require(town.number(of: 1))]
        #expect(town.pair(1, numbers[0], town.words[0]))
        town.run(.seconds(1))
        #expect(town.link(of: 1) != nil)
        #expect(town.lobbies.allSatisfy { $0.isQuiet })
        for number in numbers {
            #expect(town.pair(2, number, town.words[0]))
            town.run(.seconds(1))
            #expect(town.events(2) == [.relay(.failed(.unknownNumber))])
        }
    }

    @Test func aStationThatQuitsGivesItsNumberBack() throws {
        let town = try town([true, false])
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        town.lobbies[0].leaveRelay(at: town.now)
        #expect(!town.lobbies[0].isQuiet)
        town.run(.seconds(1))
        #expect(town.lobbies[0].isQuiet)
        #expect(town.pair(1, number, town.words[0]))
        town.run(.seconds(1))
        #expect(town.events(1) == [.relay(.failed(.unknownNumber))])
    }

    @Test(arguments: 0..<30 as Range<UInt64>) func itSucceedsOverABadNetwork(seed: UInt64) throws {
        let town = try town(seed: seed)
        (town.loss, town.duplication, town.jitter) = (0.03 * Double(seed % 10), 0.1, .milliseconds(60))
        town.run(.seconds(10))
        let number = try #require(town.number(of: 0))
        // The person types again what failed because of the network.
        for _ in 0..<2 where town.link(of: 1) == nil {
            #expect(town.pair(1, number, town.words[0]))
            town.run(.seconds(20))
        }
        let link = try #require(town.link(of: 1))
        #expect(link == town.link(of: 0) && link.pass != nil)
    }

    /// Both people type, the second one after `delay`. One channel is made, at both ends.
    @Test(arguments: 0..<20 as Range<UInt64>, [0, 5, 15, 30, 45, 70, 200])
    func twoWhoTypeAtOnceMakeOneChannel(seed: UInt64, delay: Int) throws {
        let town = try town(seed: seed)
        town.run(.seconds(1))
        let numbers = [try #require(town.number(of: 0)), try #require(town.number(of: 1))]
        #expect(town.pair(0, numbers[1], town.words[1]))
        town.run(.milliseconds(delay))
        _ = town.pair(1, numbers[0], town.words[0])
        town.run(.seconds(20))
        let link = try #require(town.link(of: 0))
        #expect(link == town.link(of: 1))
    }

    /// The responder that has not got its pass answers nobody, and gets it again.
    @Test func aLostPassIsRepeated() throws {
        let town = try town()
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        var dropped = 0
        town.drops = { datagram in
            guard datagram.count == 84, dropped < 3 else { return false }
            dropped += 1
            return true
        }
        #expect(town.pair(1, number, town.words[0]))
        town.run(.seconds(3))
        #expect(dropped == 3)
        let link = try #require(town.link(of: 1))
        #expect(link == town.link(of: 0))
    }

    /// The router of the station that waits gives it another port.
    @Test func aStationWhosePortChangesIsMetAllTheSame() throws {
        let town = try town()
        town.run(.seconds(25))
        let number = try #require(town.number(of: 0))
        town.endpoints[0] = Endpoint(town.endpoints[0].address, port: 61_234)
        town.run(.seconds(11))
        #expect(town.events(0).isEmpty, "it keeps its number")
        #expect(town.pair(1, number, town.words[0]))
        town.run(.seconds(2))
        let link = try #require(town.link(of: 1))
        #expect(link == town.link(of: 0))
    }

    /// The relay has another number for the place after five minutes, and the station shows it at once.
    @Test func aNumberThatEndsIsReplacedAtOnce() throws {
        let town = try town()
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        town.run(.seconds(298))
        #expect(town.events(0).isEmpty)
        town.run(.seconds(3))
        let next = try #require(town.number(of: 0))
        #expect(next != number)
        #expect(town.pair(1, next, town.words[0]))
        town.run(.seconds(2))
        #expect(town.link(of: 1) != nil)
    }

    /// Types wrong words twice. Returns the words and the number that the station shows then.
    private func spendGuesses(
        of index: Int, at number: RendezvousNumber, in town: RelayTown
    ) throws -> (PairingWords, RendezvousNumber) {
        let wrong = town.words[1]
        #expect(town.pair(index, number, wrong))
        town.run(.seconds(2))
        #expect(town.events(index) == [.typedWords(.failed(.wrongWords, guessesLeft: 1))])
        #expect(town.events(0) == [.shownWords(.wrongWords(from: relay, guessesLeft: 1))])
        #expect(town.pair(index, number, wrong))
        town.run(.seconds(2))
        #expect(town.events(index) == [.typedWords(.failed(.guessedTooOften, guessesLeft: 1))])
        let events = town.events(0)
        guard case .newWords? = events.first, let words = town.lobbies[0].shownWords,
            case .relay(.number(let next))? = events.last
        else {
            throw OtherEvents(events: events)
        }
        #expect(events.count == 2 && next != number)
        return (words, next)
    }

    private struct OtherEvents: Error { let events: [LobbyEvent] }

    /// Both ends count the same guesses.
    @Test func afterTwoWrongGuessesOtherWordsAndAnotherNumberMakeTheChannel() throws {
        let town = try town()
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        _ = town.events(1)
        let (words, next) = try spendGuesses(of: 1, at: number, in: town)
        #expect(town.pair(1, number, town.words[0]))
        town.run(.seconds(2))
        #expect(town.events(1) == [.relay(.failed(.unknownNumber))])
        #expect(town.pair(1, next, words))
        town.run(.seconds(2))
        let link = try #require(town.link(of: 1))
        #expect(link == town.link(of: 0))
    }

    /// The answer to the second guess gets lost: the next one says the same, also when the words are others by then.
    @Test func aLostRefusalIsRepeatedWithTheGuessesThatWereLeft() throws {
        let town = try town()
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        _ = town.events(1)
        var refusals = 0
        town.drops = { datagram in
            guard datagram.count == 24, datagram[2] == PairingMessage.Kind.refusal.rawValue else { return false }
            refusals += 1
            return refusals == 3
        }
        _ = try spendGuesses(of: 1, at: number, in: town)
        #expect(refusals > 4)
    }

    /// Its place may live on at the relay for 30 s.
    @Test func theFormerNumberLeadsToNoGuessAtTheNewWords() throws {
        let town = try town([true, false, false])
        town.drops = { $0.count == 72 }
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        let (_, next) = try spendGuesses(of: 1, at: number, in: town)
        #expect(town.pair(2, number, town.words[1]))
        town.run(.seconds(7))
        let former = town.events(0)
        #expect(former.isEmpty, "\(former)")
        #expect(town.pair(2, next, town.words[1]))
        town.run(.seconds(2))
        #expect(town.events(0) == [.shownWords(.wrongWords(from: relay, guessesLeft: 1))])
    }

    /// Somebody in the middle would have guesses without an end.
    @Test func wordsAreDrawnAnewFourTimes() throws {
        let town = try town([true, false] + Array(repeating: false, count: 9))
        town.run(.seconds(1))
        var number = try #require(town.number(of: 0))
        for round in 0..<4 {
            number = try spendGuesses(of: 2 + round, at: number, in: town).1
            town.run(.seconds(10))
        }
        for left in [1, 0] {
            #expect(town.pair(8, number, town.words[1]))
            town.run(.seconds(2))
            #expect(town.events(0) == [.shownWords(.wrongWords(from: relay, guessesLeft: left))])
        }
    }

    @Test func aNumberUnderWhichNobodyWaitsIsNamed() throws {
        let town = try town([true, false])
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        #expect(town.events(1).isEmpty, "it shows none itself")
        let other = try #require(RendezvousNumber(rawValue: number.rawValue == 100_000 ? 100_001 : 100_000))
        #expect(town.pair(1, other, town.words[0]))
        #expect(town.lobbies[1].isPairing)
        town.run(.seconds(1))
        #expect(town.events(1) == [.relay(.failed(.unknownNumber))])
        #expect(!town.lobbies[1].isPairing)
        #expect(town.pair(1, number, town.words[0]))
        town.run(.seconds(2))
        #expect(town.link(of: 1) != nil)
    }

    /// Words can be guessed at only by somebody who knows the number.
    @Test func datagramsFromElsewhereAreNotAnswered() throws {
        let town = try town()
        town.run(.seconds(1))
        let hello = [UInt8(ascii: "p"), 1, 1, 0] + [UInt8](repeating: 7, count: 8) + [UInt8](repeating: 0, count: 8)
        // Not even the relay gets an answer before it has sent a pass.
        for sender in [stranger, relay] {
            let isHandled = town.lobbies[0].receive(hello.span, from: sender, at: town.now)
            #expect(isHandled)
        }
        var target: Endpoint?
        _ = [UInt8](capacity: 1_200) { target = town.lobbies[0].nextDatagram(into: &$0, at: town.now) }
        #expect(target == nil)
    }

    @Test func typedWordsCanBeGivenUp() throws {
        let town = try town()
        town.run(.seconds(1))
        let number = try #require(town.number(of: 0))
        _ = town.events(1)
        #expect(town.pair(1, number, town.words[0]))
        town.lobbies[1].cancelPairing()
        #expect(!town.lobbies[1].isPairing)
        town.run(.seconds(20))
        #expect(town.events(1).isEmpty && town.link(of: 0) == nil)
    }
}

/// Stations and a relay, with 10 ms between them in each direction.
private final class RelayTown {
    var lobbies: [Lobby] = []
    let words: [PairingWords]
    /// The addresses at which the relay sees the stations.
    var endpoints: [Endpoint] = []
    var loss = 0.0
    var duplication = 0.0
    /// A datagram takes up to this time longer.
    var jitter = Duration.zero
    /// Returns whether a datagram is lost, whatever `loss` is.
    var drops: ([UInt8]) -> Bool = { _ in false }
    private let harness: RelayHarness
    private var told: [[LobbyEvent]]
    private var flights: [(at: Instant, from: Endpoint, to: Endpoint, bytes: [UInt8])] = []
    private var randomness: SeededRandom

    var now: Instant { harness.now }

    init(_ configuration: RelayConfiguration, _ shown: [Bool], seed: UInt64) throws {
        harness = RelayHarness(configuration, seed: seed, at: .start + Duration.seconds(100))
        var randomness = SeededRandom(seed: 1_000 + seed)
        words = shown.map { _ in PairingWords(using: &randomness) }
        told = shown.map { _ in [] }
        let host = try RelayHost(host: "relay.example")
        for (index, isShown) in shown.enumerated() {
            let link = try ChannelLink(
                relays: [host], name: "station\(index)", opening: .secret(Secret(.talk, using: &randomness)))
            let pairing = RelayedPairing([relay], words: isShown ? words[index] : nil, link: link)
            lobbies.append(
                Lobby(name: "Station", port: 5004, .relayedPairing(pairing), using: &randomness))
            endpoints.append(.host(index + 1))
        }
        self.randomness = randomness
    }

    func pair(_ index: Int, _ number: RendezvousNumber, _ words: PairingWords) -> Bool {
        defer { poll() }
        return lobbies[index].pair(with: number, words, at: now)
    }

    /// Returns the events since the last call.
    func events(_ index: Int) -> [LobbyEvent] {
        defer { told[index] = [] }
        return told[index]
    }

    /// The number that the station shows; takes its events.
    func number(of index: Int) -> RendezvousNumber? {
        events(index).compactMap { if case .relay(.number(let number)) = $0 { number } else { nil } }.last
    }

    /// The link of the channel that this end has made or got; nil if there is none.
    func link(of index: Int) -> ChannelLink? {
        told[index].compactMap { event in
            switch event {
            case .typedWords(.paired(let link)): link
            case .shownWords(.delivered), .shownWords(.undelivered): lobbies[index].ownLink
            default: nil
            }
        }.last
    }

    func run(_ duration: Duration) {
        let end = harness.now + duration
        poll()
        while true {
            let deadlines = lobbies.compactMap(\.nextDeadline) + flights.map(\.at)
            let next = (deadlines + [harness.relay.nextDeadline].compactMap(\.self)).min()
            guard let next, next <= end else { break }
            if next > harness.now { harness.run(next - harness.now) } else { harness.run(.zero) }
            for index in lobbies.indices { lobbies[index].timeElapsed(at: now) }
            let due = flights.filter { $0.at <= now }
            flights.removeAll { $0.at <= now }
            for flight in due {
                if flight.to == relay {
                    harness.receive(flight.bytes, from: flight.from)
                } else if let index = endpoints.firstIndex(of: flight.to) {
                    _ = lobbies[index].receive(flight.bytes.span, from: flight.from, at: now)
                }
                poll()
            }
            poll()
        }
        harness.run(end - harness.now)
    }

    private func poll() {
        for index in lobbies.indices {
            while true {
                var target: Endpoint?
                let datagram = [UInt8](capacity: 1_200) { target = lobbies[index].nextDatagram(into: &$0, at: now) }
                guard let target else { break }
                launch(datagram, from: endpoints[index], to: target)
            }
            while let event = lobbies[index].nextEvent() { told[index].append(event) }
        }
        for endpoint in harness.inbox.keys.sorted(by: { $0.port < $1.port }) {
            for datagram in harness.take(endpoint) { launch(datagram, from: relay, to: endpoint) }
        }
    }

    private func launch(_ datagram: [UInt8], from sender: Endpoint, to target: Endpoint) {
        let copies = randomness.happens(duplication) ? 2 : 1
        for _ in 0..<copies where !randomness.happens(loss) && !drops(datagram) {
            let time = Duration.milliseconds(10) + jitter * Double.random(in: 0...1, using: &randomness)
            flights.append((now + time, sender, target, datagram))
        }
    }
}
