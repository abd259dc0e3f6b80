import TenfourAudioCore
import TenfourCall
import TenfourChannelKeys
import TenfourPairing
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourLobby

private let alice = Endpoint(.v4(0xC000_0201), port: 5004)
private let bob = Endpoint(.v4(0xC000_0202), port: 5004)
private let carol = Endpoint(.v4(0xC000_0203), port: 5004)

/// Lobbies on a network without loss or delay.
private final class Street {
    private(set) var lobbies: [Endpoint: Lobby] = [:]
    private(set) var now = Instant.start

    init(_ stations: [(Endpoint, String, Lobby.Purpose)], seed: UInt64 = 0) {
        for (index, (endpoint, name, purpose)) in stations.enumerated() {
            var generator = SeededRandom(seed: seed * 10 + UInt64(index + 1))
            lobbies[endpoint] = Lobby(name: name, port: 5004, purpose, using: &generator)
        }
    }

    @discardableResult
    func change<Result>(_ endpoint: Endpoint, _ change: (inout Lobby, Instant) -> Result) -> Result {
        let result = change(&lobbies[endpoint]!, now)
        exchange()
        return result
    }

    func run(_ time: Duration) {
        let end = now + time
        while let deadline = lobbies.values.compactMap(\.nextDeadline).min(), deadline <= end {
            now = max(now, deadline)
            for endpoint in lobbies.keys { lobbies[endpoint]?.timeElapsed(at: now) }
            exchange()
        }
        now = end
    }

    /// The station neither sends nor receives any more.
    func kill(_ endpoint: Endpoint) { lobbies[endpoint] = nil }

    func events(_ endpoint: Endpoint) -> [LobbyEvent] {
        var events: [LobbyEvent] = []
        while let event = lobbies[endpoint]?.nextEvent() { events.append(event) }
        return events
    }

    /// Changes a station, without sending what follows.
    func begin(_ endpoint: Endpoint, _ change: (inout Lobby, Instant) -> Bool) -> Bool {
        change(&lobbies[endpoint]!, now)
    }

    func exchange() { while exchangeOnce() {} }

    /// Each station sends one datagram. Returns false if there was none.
    @discardableResult
    func exchangeOnce() -> Bool {
        var isQuiet = true
        for sender in lobbies.keys {
            var target: Endpoint?
            let datagram = [UInt8](capacity: 1_200) { target = lobbies[sender]?.nextDatagram(into: &$0, at: now) }
            guard let target else { continue }
            isQuiet = false
            let isHandled = lobbies[target]?.receive(datagram.span, from: sender, at: now)
            #expect(isHandled != false)
        }
        return !isQuiet
    }
}

struct LobbyTests {
    private func people(bob answering: StationCall.Answering = .byPerson()) -> Street {
        Street([
            (alice, "Alice", .calls(.byPerson())), (bob, "Bob", .calls(answering)),
            (carol, "Carol", .calls(.byPerson())),
        ])
    }

    /// Lets Alice call Bob, who accepts, and begins both sessions.
    private func connect(_ street: Street) {
        #expect(street.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        if case .call(.incoming(alice, _)) = street.events(bob).first { street.change(bob) { $0.accept(at: $1) } }
        _ = street.events(bob)
        #expect(street.lobbies[bob]?.hasAnswered == true)
        #expect(street.lobbies[alice]?.hasAnswered == false)
        #expect(street.events(alice).last == .call(.connected(bob, name: "Bob")))
        for endpoint in [alice, bob] {
            #expect(street.change(endpoint) { lobby, _ in lobby.beginSession(hasCall: true) })
        }
    }

    @Test func hangingUpEndsTheSessionOfTheOther() {
        let street = people()
        connect(street)
        street.run(.seconds(60))
        #expect(street.lobbies[bob]?.isSessionOver == false)
        street.change(alice) { $0.endSession(at: $1) }
        #expect(street.lobbies[bob]?.isSessionOver == true)
        #expect(street.events(bob) == [.call(.ended(.hungUp))])
        #expect(street.events(alice).isEmpty)
        street.change(bob) { $0.endSession(at: $1) }
        street.run(.seconds(2))
        #expect([alice, bob].allSatisfy { street.lobbies[$0]?.isQuiet == true })
        // Both can talk again.
        connect(street)
    }

    /// Alice's program is killed during the call. Her media has kept it until then, but not somebody else's.
    @Test func aSessionWhoseOtherEndVanishesIsOverAndTheStationIsFree() {
        let street = people(bob: .automatic)
        connect(street)
        let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xFC]
        street.kill(alice)
        for _ in 0..<4 {
            street.run(.seconds(6))
            let isHandled = street.change(bob) { $0.receive(packet.span, from: alice, at: $1) }
            #expect(!isHandled, "the session gets the media")
        }
        #expect(street.lobbies[bob]?.isSessionOver == false)
        for _ in 0..<4 {
            street.run(.seconds(3))
            #expect(!receive(packet, at: street))
        }
        #expect(street.lobbies[bob]?.isSessionOver == true)
        #expect(street.events(bob) == [.call(.ended(.lost))])
        street.change(bob) { $0.endSession(at: $1) }
        #expect(street.change(carol) { $0.call(bob, knowsCalls: true, at: $1) })
        #expect(street.events(carol) == [.call(.connected(bob, name: "Bob"))])
    }

    @Test func aThirdCallerHearsThatTheStationIsBusy() {
        let street = people()
        connect(street)
        street.run(.seconds(1))
        let moment = street.now
        #expect(street.change(carol) { $0.call(bob, knowsCalls: true, at: $1) })
        #expect(street.events(carol) == [.call(.ended(.refused(.busy)))])
        #expect(street.events(bob) == [.call(.missedWhileBusy(carol, name: "Carol", at: moment))])
        // Many who call leave room for the end of the session.
        for _ in 0..<100 { street.change(carol) { _ = $0.call(bob, knowsCalls: true, at: $1) } }
        street.change(alice) { $0.endSession(at: $1) }
        let events = street.events(bob)
        #expect(events.count == 33 && events.last == .call(.ended(.hungUp)), "\(events.count)")
    }

    @Test func aSessionByPlainRTPIsBusyTooAndThenCallsRingAgain() {
        let street = people()
        #expect(street.change(bob) { lobby, _ in lobby.beginSession(hasCall: false) })
        #expect(street.change(carol) { $0.call(bob, knowsCalls: true, at: $1) })
        #expect(street.events(carol) == [.call(.ended(.refused(.busy)))])
        street.change(bob) { $0.endSession(at: $1) }
        #expect(street.change(carol) { $0.call(bob, knowsCalls: true, at: $1) })
        #expect(street.events(bob).last == .call(.incoming(carol, name: "Carol")))
    }

    @Test func aCallThatIsOverBeforeItsSessionBeginsHasNone() {
        let street = people(bob: .automatic)
        #expect(street.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        street.change(alice) { $0.hangUp(at: $1) }
        #expect(street.events(bob) == [.call(.connected(alice, name: "Alice")), .call(.ended(.hungUp))])
        #expect(!street.change(bob) { lobby, _ in lobby.beginSession(hasCall: true) })
    }

    /// The caller may have heard of the acceptance, and the callee not yet of the caller's confirmation.
    @Test func anAcceptedCallThatDoesNotStandYetCanBeHungUp() {
        let street = people()
        #expect(street.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        _ = street.events(bob)
        street.change(bob) {
            $0.accept(at: $1)
            $0.hangUp(at: $1)
        }
        #expect(street.events(bob).isEmpty)
        #expect(street.events(alice).suffix(2) == [.call(.connected(bob, name: "Bob")), .call(.ended(.hungUp))])
    }

    /// A station that calls again at once must not be hung up on when the session of its first call ends.
    @Test func aCallThatBeginsWhileTheSessionEndsIsKept() {
        let street = people(bob: .automatic)
        #expect(street.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        for endpoint in [alice, bob] {
            #expect(street.change(endpoint) { lobby, _ in lobby.beginSession(hasCall: true) })
        }
        _ = street.events(bob)
        street.run(.seconds(3))
        street.change(alice) { $0.endSession(at: $1) }
        #expect(street.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        street.change(bob) { $0.endSession(at: $1) }
        #expect(street.events(bob) == [.call(.ended(.hungUp)), .call(.connected(alice, name: "Alice"))])
        #expect(street.lobbies[bob]?.isQuiet == false)
    }

    @Test func plainRTPIsShownUnlessASessionTakesIt() {
        let street = people()
        let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xFC]
        #expect(receive(packet, at: street))
        street.run(.seconds(1))
        #expect(street.events(bob) == [.plainCallerAppeared(carol, name: "")])
        #expect(street.change(bob) { lobby, _ in lobby.takePlainCaller() } == carol)
        #expect(street.change(bob) { lobby, _ in lobby.beginSession(hasCall: false) })
        #expect(!receive(packet, at: street))
    }

    @Test(arguments: [StationCall.Answering.automatic, .onlyFrom(["alice"])])
    func aStationThatAnswersByItselfSendsNothingToPlainRTP(answering: StationCall.Answering) {
        let street = people(bob: answering)
        let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xFC]
        #expect(!receive(packet, at: street))
        street.run(.seconds(1))
        #expect(street.events(bob).isEmpty)
    }

    /// Bob receives a datagram of Carol. Returns whether it was handled.
    private func receive(_ datagram: [UInt8], at street: Street) -> Bool {
        street.change(bob) { $0.receive(datagram.span, from: carol, at: $1) }
    }

    // MARK: Pairing

    private func pairs() throws -> (Street, PairingWords, ChannelLink) {
        var generator = SeededRandom(seed: 5)
        let words = PairingWords(using: &generator)
        let link = try ChannelLink(host: nil, name: "alice", opening: .secret(Secret(.talk, using: &generator)))
        let others = PairingWords(using: &generator)
        let street = Street([(alice, "Alice", .pairing(words, link)), (bob, "Bob", .pairing(others, link))])
        return (street, words, link)
    }

    @Test func theRightWordsBringTheLink() throws {
        let (street, words, link) = try pairs()
        #expect(street.change(bob) { $0.pair(with: alice, words, at: $1) })
        #expect(street.events(bob) == [.typedWords(.paired(link))])
        #expect(street.events(alice) == [.shownWords(.paired(with: bob)), .shownWords(.delivered)])
        #expect(street.lobbies[bob]?.isPairing == true, "the receipt is repeated")
        street.run(.seconds(1))
        #expect(street.lobbies[bob]?.isPairing == false)
    }

    /// Bob types when `delay` datagrams of Alice's run have been exchanged.
    @Test(arguments: 0..<10, 0..<9) func twoWhoTypeAtOnceMakeOneChannel(seed: UInt64, delay: Int) throws {
        var generator = SeededRandom(seed: 100 + seed)
        let words = [PairingWords(using: &generator), PairingWords(using: &generator)]
        let links = try ["alice", "bob"].map {
            try ChannelLink(host: nil, name: $0, opening: .secret(Secret(.talk, using: &generator)))
        }
        let street = Street(
            [(alice, "Alice", .pairing(words[0], links[0])), (bob, "Bob", .pairing(words[1], links[1]))], seed: seed)
        #expect(street.begin(alice) { $0.pair(with: bob, words[1], at: $1) })
        for _ in 0..<delay { street.exchangeOnce() }
        #expect(street.begin(bob) { $0.pair(with: alice, words[0], at: $1) })
        street.exchange()
        street.run(.seconds(15))
        let kept = [alice, bob].enumerated().map { index, endpoint in
            street.events(endpoint).compactMap { event -> ChannelLink? in
                switch event {
                case .typedWords(.paired(let link)): link
                case .shownWords(.delivered), .shownWords(.undelivered): links[index]
                default: nil
                }
            }
        }
        #expect(kept[0].count == 1 && kept[0] == kept[1], "\(kept.map { $0.map(\.name) })")
    }

    @Test func whoGivesWayIsTold() throws {
        let (street, words, link) = try pairs()
        #expect(street.begin(alice) { $0.pair(with: bob, words, at: $1) }, "these words are wrong")
        #expect(street.begin(bob) { $0.pair(with: alice, words, at: $1) })
        street.exchange()
        street.run(.seconds(15))
        let events = street.events(bob) + street.events(alice)
        let isTold = events.contains { if case .typedWords(.failed(.crossed, _)) = $0 { true } else { false } }
        #expect(isTold, "\(events)")
        // The one who has to type again may do so.
        if !events.contains(.typedWords(.paired(link))) {
            #expect(street.change(bob) { $0.pair(with: alice, words, at: $1) })
            #expect(street.events(bob) == [.typedWords(.paired(link))])
        }
    }

    @Test func threeWrongGuessesAreAll() throws {
        let (street, words, _) = try pairs()
        var generator = SeededRandom(seed: 77)
        for left in [2, 1, 0] {
            let guess = PairingWords(using: &generator)
            // The time in which somebody types.
            street.run(.seconds(1))
            #expect(street.change(bob) { $0.pair(with: alice, guess, at: $1) })
            let failure = left > 0 ? PairingFailure.wrongWords : .guessedTooOften
            #expect(street.events(bob) == [.typedWords(.failed(failure, guessesLeft: left))])
            #expect(street.events(alice) == [.shownWords(.wrongWords(from: bob, guessesLeft: left))])
        }
        #expect(!street.change(bob) { $0.pair(with: alice, words, at: $1) })
    }

    /// Each guess shows somebody who poses as a station one word that was typed.
    @Test func anotherStationBringsNoMoreGuesses() throws {
        let (street, words, _) = try pairs()
        var generator = SeededRandom(seed: 78)
        let guess = PairingWords(using: &generator)
        for _ in 0..<2 {
            #expect(street.change(bob) { $0.pair(with: alice, guess, at: $1) })
            street.run(.seconds(1))
        }
        #expect(street.change(bob) { $0.pair(with: carol, words, at: $1) }, "nobody is there, and no guess is spent")
        street.run(.seconds(6))
        #expect(street.change(bob) { $0.pair(with: alice, guess, at: $1) })
        _ = street.events(bob)
        #expect(!street.change(bob) { $0.pair(with: carol, words, at: $1) })
        #expect(!street.change(bob) { $0.pair(with: alice, words, at: $1) })
    }

    @Test func typedWordsCanBeGivenUp() throws {
        let (street, words, link) = try pairs()
        #expect(street.change(bob) { $0.pair(with: carol, words, at: $1) })
        street.change(bob) { lobby, _ in lobby.cancelPairing() }
        #expect(street.lobbies[bob]?.isPairing == false)
        street.run(.seconds(10))
        #expect(street.events(bob).isEmpty)
        #expect(street.change(bob) { $0.pair(with: alice, words, at: $1) })
        #expect(street.events(bob) == [.typedWords(.paired(link))])
    }

    @Test func aStationThatPairsTakesNoCalls() throws {
        let (street, _, _) = try pairs()
        #expect(street.change(bob) { $0.call(alice, knowsCalls: false, at: $1) })
        #expect(street.events(bob) == [.call(.ended(.refused(.takesNone)))])
    }
}
