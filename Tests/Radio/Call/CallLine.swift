import TenfourAudioCore
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourCall

let alice = Endpoint(.v4(0xC000_0201), port: 5004)
let bob = Endpoint(.v4(0xC000_0202), port: 5004)
let aliceV6 = Endpoint(.v6(high: 0x2001_0DB8_0000_0000, low: 1, scope: 0), port: 5004)
let bobV6 = Endpoint(.v6(high: 0x2001_0DB8_0000_0000, low: 2, scope: 0), port: 5004)
let mallory = Endpoint(.v4(0xC633_6401), port: 5004)

/// Three stations on one network.
final class CallLine {
    var loss = 0.0
    /// The most by which a datagram is later than 10 ms.
    var jitter = Duration.zero
    /// The stations that neither send nor receive.
    var unreachable: Set<Endpoint> = []
    /// The messages that are lost, as long as there are no more than `lossLimit`.
    var lost: (_ from: Endpoint, CallMessage) -> Bool = { _, _ in false }
    var lossLimit = 0
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
        stations[endpoint] = StationCall(name: Self.names[endpoint]!, answering: .byPerson(), using: &randomness)
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
    func connect(from caller: Endpoint = alice, to callee: Endpoint = bob) {
        change(callee) { station, _ in station.answering = .automatic }
        _ = call(from: caller, to: callee)
        run(.seconds(1))
        change(callee) { station, _ in station.answering = .byPerson() }
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

    /// Whether no station waits for anything, except for the partner of its call.
    var isQuiet: Bool { stations.values.allSatisfy { $0.nextDeadline == nil || $0.partner != nil } }

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
            let isV6 = target == aliceV6 || target == bobV6
            let receiver = [aliceV6: alice, bobV6: bob][target] ?? target
            guard !randomness.happens(loss), stations[receiver] != nil,
                unreachable.isDisjoint(with: [endpoint, receiver])
            else { continue }
            if lossLimit > 0, let message = CallMessage(parsing: bytes.span), lost(endpoint, message) {
                lossLimit -= 1
                continue
            }
            let sender = isV6 ? [alice: aliceV6, bob: bobV6][endpoint] ?? endpoint : endpoint
            flights.append((now + .milliseconds(10) + jitter * randomness.unit(), sender, receiver, bytes))
        }
        while let event = stations[endpoint]!.nextEvent() { heard[endpoint, default: []].append(event) }
    }
}
