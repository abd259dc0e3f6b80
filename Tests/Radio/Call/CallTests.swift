import TenfourAudioCore
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourCall

private let alice = Endpoint(.v4(0xC000_0201), port: 5004)
private let bob = Endpoint(.v4(0xC000_0202), port: 5004)
private let mallory = Endpoint(.v4(0xC633_6401), port: 5004)

struct CallTests {
    @Test func aCallRingsIsAcceptedAndEnds() {
        let line = Line()
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice")])
        #expect(line.events(alice) == [.rings(name: "Bob")])
        line.run(.seconds(20))
        #expect(line.events(bob).isEmpty)
        line.change(bob) { $0.accept(at: $1) }
        line.run(.milliseconds(100))
        #expect(line.events(alice) == [.connected(bob, name: "Bob")])
        #expect(line.events(bob) == [.connected(alice, name: "Alice")])
        line.run(.seconds(100))
        line.change(alice) { $0.hangUp(at: $1) }
        line.run(.seconds(2))
        #expect(line.events(bob) == [.ended(.hungUp)])
        #expect(line.events(alice).isEmpty)
        #expect(line.isQuiet)
    }

    @Test func whoDeclinesIsNotCalledAgainAtOnce() {
        let line = Line()
        for _ in 0..<2 {
            #expect(line.call(from: alice, to: bob))
            line.run(.milliseconds(100))
            line.change(bob) { $0.decline(at: $1) }
            line.run(.milliseconds(100))
            #expect(line.events(alice).last == .ended(.refused(.declined)))
        }
        #expect(line.events(bob) == [.incoming(alice, name: "Alice")])
        line.run(StationCall.declinedTime)
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice")])
    }

    @Test(arguments: [StationCall.Answering.automatic, .never]) func theMachineMayAnswer(
        answering: StationCall.Answering
    ) {
        let line = Line()
        line.change(bob) { bob, _ in bob.answering = answering }
        #expect(line.call(from: alice, to: bob))
        line.run(.seconds(1))
        if answering == .automatic {
            #expect(line.events(alice) == [.connected(bob, name: "Bob")])
            #expect(line.events(bob) == [.connected(alice, name: "Alice")])
        } else {
            #expect(line.events(alice) == [.ended(.refused(.takesNone))])
            #expect(line.events(bob).isEmpty)
        }
    }

    @Test func aStationInACallIsBusy() {
        let line = Line()
        line.connect()
        #expect(line.call(from: mallory, to: bob))
        line.run(.seconds(1))
        #expect(line.events(mallory) == [.ended(.refused(.busy))])
        #expect(line.events(bob).isEmpty)
    }

    /// For each order in which the two invitations and their answers can cross.
    @Test(arguments: 0..<100) func twoWhoCallEachOtherAtOnceAreOneCall(seed: UInt64) {
        let line = Line(seed: seed)
        line.jitter = .milliseconds(Int64(seed) * 3)
        line.loss = seed % 3 == 0 ? 0.2 : 0
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(Int64(seed % 7) * 5))
        let hasCalled = line.call(from: bob, to: alice)
        line.run(.seconds(4))
        if !hasCalled || line.isRinging(bob) { line.change(bob) { $0.accept(at: $1) } }
        if line.isRinging(alice) { line.change(alice) { $0.accept(at: $1) } }
        line.run(.seconds(10))
        #expect(line.partner(alice) == bob)
        #expect(line.partner(bob) == alice)
        #expect(line.events(alice).last == .connected(bob, name: "Bob"))
        #expect(line.events(bob).last == .connected(alice, name: "Alice"))
        #expect(line.isQuiet)
    }

    @Test(arguments: 0..<50) func aCallSucceedsOverABadNetwork(seed: UInt64) {
        let line = Line(seed: seed)
        line.loss = 0.3
        line.jitter = .milliseconds(200)
        line.change(bob) { bob, _ in bob.answering = .automatic }
        #expect(line.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        line.run(.seconds(20))
        #expect(line.events(alice).last == .connected(bob, name: "Bob"))
        #expect(line.events(bob).last == .connected(alice, name: "Alice"))
    }

    @Test func anOlderStationIsSimplyHeard() {
        let line = Line()
        line.loss = 1
        #expect(line.call(from: alice, to: bob))
        line.run(.seconds(3))
        #expect(line.events(alice) == [.plain(bob)])
        #expect(line.sent(from: alice) == 8)
        // One that has announced that it knows calls is not reachable.
        #expect(line.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        line.run(.seconds(6))
        #expect(line.events(alice) == [.ended(.lost)])
        #expect(line.isQuiet)
    }

    @Test func aCallThatNobodyAnswersIsMissed() {
        let line = Line()
        #expect(line.call(from: alice, to: bob))
        line.run(.seconds(61))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice"), .ended(.missed(name: "Alice"))])
        #expect(line.events(alice) == [.rings(name: "Bob"), .ended(.refused(.notAnswered))])
        #expect(line.isQuiet)
    }

    @Test func aCallerThatHangsUpOrVanishesStopsTheRinging() {
        for vanishes in [false, true] {
            let line = Line()
            #expect(line.call(from: alice, to: bob))
            line.run(.seconds(1))
            if vanishes { line.loss = 1 } else { line.change(alice) { $0.hangUp(at: $1) } }
            line.run(.seconds(6))
            #expect(line.events(bob) == [.incoming(alice, name: "Alice"), .ended(.missed(name: "Alice"))])
            if vanishes { #expect(line.events(alice).last == .ended(.lost)) }
            #expect(line.isQuiet)
        }
    }

    @Test func aStationThatHasRestartedReplacesItsCall() {
        let line = Line()
        line.connect()
        line.run(.seconds(3))
        line.restart(alice)
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        #expect(line.events(bob) == [.ended(.replaced), .incoming(alice, name: "Alice")])
    }

    /// A sender that only claims an address makes nothing ring, and gets no more than it sent.
    @Test func aForgedAddressGainsNothing() {
        let line = Line()
        for number: UInt64 in 1...200 {
            for kind: UInt8 in 1...9 {
                for callee in [0, number] where !(kind == 1 && callee == 0) || number == 1 {
                    guard let kind = CallMessage.Kind(rawValue: kind) else { continue }
                    let message = CallMessage(
                        kind, detail: kind == .refusal ? 1 : 0, caller: number, callee: callee, name: "Mallory")
                    line.inject(message.bytes, from: mallory, to: bob)
                }
            }
        }
        line.run(.seconds(2))
        #expect(line.events(bob).isEmpty)
        #expect(line.sent(from: bob) <= 1_000)
    }

    @Test func aStrangerCannotEndOrReplaceACall() {
        let line = Line()
        line.connect()
        for kind: CallMessage.Kind in [.end, .acceptance, .confirmation, .challenge, .ringing] {
            for number: UInt64 in 0..<50 {
                line.inject(CallMessage(kind, caller: number, callee: number).bytes, from: alice, to: bob)
                line.inject(CallMessage(kind, caller: number, callee: number).bytes, from: bob, to: alice)
            }
        }
        line.run(.seconds(5))
        #expect(line.partner(alice) == bob)
        #expect(line.partner(bob) == alice)
        #expect(line.events(bob).isEmpty)
    }

    @Test func aProbeIsAnsweredOrNot() {
        let line = Line()
        var randomness = SeededRandom(seed: 3)
        var probe = StationProbe(bob, at: line.now, using: &randomness)
        var sentCount = 0
        while let deadline = probe.nextDeadline {
            _ = [UInt8](capacity: 100) { if probe.nextDatagram(into: &$0, at: deadline) { sentCount += 1 } }
        }
        #expect(probe.outcome == .unanswered)
        #expect(sentCount == 3)

        probe = StationProbe(bob, at: line.now, using: &randomness)
        let question = [UInt8](capacity: 100) { _ = probe.nextDatagram(into: &$0, at: line.now) }
        #expect(question.count == 88)
        line.inject(question, from: mallory, to: bob)
        let answer = line.lastSent(from: bob)
        probe.receive(answer.span, from: alice, at: line.now + .milliseconds(30))
        #expect(probe.outcome == nil)
        probe.receive(answer.span, from: bob, at: line.now + .milliseconds(40))
        #expect(probe.outcome == .answered(.milliseconds(40), name: "Bob"))
        #expect(probe.nextDeadline == nil)
    }
}

/// Three stations on one network.
private final class Line {
    var loss = 0.0
    /// The most by which a datagram is later than 10 ms.
    var jitter = Duration.zero
    private(set) var now = Instant.start
    private var stations: [Endpoint: StationCall] = [:]
    private var heard: [Endpoint: [CallEvent]] = [:]
    private var datagrams: [Endpoint: [[UInt8]]] = [:]
    private var flights: [(at: Instant, from: Endpoint, to: Endpoint, bytes: [UInt8])] = []
    private var randomness: SeededRandom
    private static let names = [alice: "Alice", bob: "Bob", mallory: "Mallory"]

    init(seed: UInt64 = 1) {
        randomness = SeededRandom(seed: seed)
        for endpoint in [alice, bob, mallory] { restart(endpoint) }
    }

    func restart(_ endpoint: Endpoint) {
        stations[endpoint] = StationCall(name: Self.names[endpoint]!, answering: .byPerson, using: &randomness)
    }

    @discardableResult
    func change<Result>(_ endpoint: Endpoint, _ body: (inout StationCall, Instant) -> Result) -> Result {
        defer { poll(endpoint) }
        return body(&stations[endpoint]!, now)
    }

    func call(from caller: Endpoint, to callee: Endpoint) -> Bool {
        change(caller) { $0.call(callee, at: $1) }
    }

    /// Connects Alice and Bob, and forgets the events.
    func connect() {
        change(bob) { bob, _ in bob.answering = .automatic }
        _ = call(from: alice, to: bob)
        run(.seconds(1))
        change(bob) { bob, _ in bob.answering = .byPerson }
        #expect(events(alice) == [.connected(bob, name: "Bob")])
        #expect(events(bob) == [.connected(alice, name: "Alice")])
    }

    /// The events since the last call.
    func events(_ endpoint: Endpoint) -> [CallEvent] { heard.removeValue(forKey: endpoint) ?? [] }

    func isRinging(_ endpoint: Endpoint) -> Bool {
        heard[endpoint]?.contains { if case .incoming = $0 { true } else { false } } ?? false
    }

    func partner(_ endpoint: Endpoint) -> Endpoint? { stations[endpoint]!.partner }
    func sent(from endpoint: Endpoint) -> Int { datagrams[endpoint]?.count ?? 0 }
    func lastSent(from endpoint: Endpoint) -> [UInt8] { datagrams[endpoint]?.last ?? [] }

    /// Whether no station waits for anything.
    var isQuiet: Bool { stations.values.allSatisfy { $0.nextDeadline == nil } }

    func inject(_ bytes: [UInt8], from sender: Endpoint, to endpoint: Endpoint) {
        stations[endpoint]!.receive(bytes.span, from: sender, at: now)
        poll(endpoint)
    }

    func run(_ duration: Duration) {
        let end = now + duration
        while let next = (stations.values.compactMap(\.nextDeadline) + flights.map(\.at)).min(), next <= end {
            now = max(now, next)
            for endpoint in [alice, bob, mallory] { change(endpoint) { $0.timeElapsed(at: $1) } }
            let arrived = flights.filter { $0.at <= now }
            flights.removeAll { $0.at <= now }
            for flight in arrived { inject(flight.bytes, from: flight.from, to: flight.to) }
        }
        now = end
    }

    private func poll(_ endpoint: Endpoint) {
        while true {
            var target: Endpoint?
            let bytes = [UInt8](capacity: 100) { target = stations[endpoint]!.nextDatagram(into: &$0) }
            guard let target else { break }
            #expect(bytes.count == CallMessage.byteCount)
            datagrams[endpoint, default: []].append(bytes)
            guard !randomness.happens(loss), stations[target] != nil else { continue }
            flights.append((now + .milliseconds(10) + jitter * randomness.unit(), endpoint, target, bytes))
        }
        while let event = stations[endpoint]!.nextEvent() { heard[endpoint, default: []].append(event) }
    }
}
