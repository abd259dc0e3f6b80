import TenfourAudioCore
import TenfourChannelKeys
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourPairing

/// A relay that gives everybody the same number, for 300 s each.
struct ModelRelay {
    var isSilent = false
    var isPairing = true
    var refusal: RendezvousMessage.PlaceRefusal?
    var outcome = RendezvousMessage.MeetOutcome.met
    private(set) var number: RendezvousNumber
    private(set) var refusedCount = 0
    private(set) var lastRun: UInt64 = 0
    private(set) var lastNonce: UInt128 = 0
    /// Whether the station of the last PLACE has given its number back.
    private(set) var hasLeft = false
    private var lastShare: SharePoint?
    /// The time at which the number ends; nil before it has been given.
    private var end: Instant?
    private var cookies: Cookies
    private var randomness = SeededRandom(seed: 99)
    private static let numberTime = Duration.seconds(300)
    private static let visitor = PeerAddress(Endpoint(.v4(0xC000_0201), port: 40_000))

    init(_ number: RendezvousNumber) {
        self.number = number
        cookies = Cookies(using: &randomness)
    }

    mutating func restart(number: RendezvousNumber) {
        (self.number, end) = (number, nil)
        cookies = Cookies(using: &randomness)
    }

    /// Seals a pass for the share of the last PLACE.
    mutating func sealed(_ pass: ChannelPass) -> [UInt8]? {
        lastShare.flatMap { SealedPass(pass, for: $0, using: &randomness) }.map { RendezvousMessage.pass($0).bytes }
    }

    mutating func answer(_ datagram: [UInt8], at now: Instant) -> [UInt8]? {
        guard !isSilent else { return nil }
        if case .hello(let nonce) = try? ControlPacket(parsing: datagram.span) {
            let cookie = cookies.cookie(for: nonce, from: Self.visitor, to: Self.visitor, at: now)
            return [UInt8](capacity: 40) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        }
        guard isPairing else { return nil }
        switch RendezvousMessage(parsing: datagram.span) {
        case .place(let nonce, let cookie, let share):
            guard accepts(cookie, nonce, at: now) else { return nil }
            (lastNonce, lastShare) = (nonce, share)
            if let refusal { return RendezvousMessage.number(nonce: nonce, .refused(refusal)).bytes }
            return RendezvousMessage.number(nonce: nonce, place(at: now)).bytes
        case .meet(let nonce, let cookie, _, initiator: let run):
            guard accepts(cookie, nonce, at: now) else { return nil }
            (lastNonce, lastRun) = (nonce, run)
            return RendezvousMessage.met(nonce: nonce, initiator: run, outcome).bytes
        case .leave(let nonce, let cookie, let share):
            if accepts(cookie, nonce, at: now) { hasLeft = share == lastShare }
            return nil
        default: return nil
        }
    }

    /// The number, and the time that is left of it. After it there is the next number.
    private mutating func place(at now: Instant) -> RendezvousMessage.PlaceAnswer {
        if let end, end <= now, let next = RendezvousNumber(rawValue: number.rawValue + 1) {
            (number, self.end) = (next, nil)
        }
        let end = end ?? now + Self.numberTime
        self.end = end
        return .number(number, seconds: UInt16((end - now).components.seconds))
    }

    private mutating func accepts(_ cookie: Cookie, _ nonce: UInt128, at now: Instant) -> Bool {
        let isGood = cookies.accepts(cookie, for: nonce, from: Self.visitor, to: Self.visitor, at: now)
        if !isGood { refusedCount += 1 }
        return isGood
    }
}

/// A station and a relay, with 10 ms between them in each direction.
final class Road {
    static let address = Endpoint(.v4(0xC633_6401), port: 5004)
    /// Another address of the relay, at which nothing answers.
    static let otherAddress = Endpoint(.v6(high: 0x2001_0DB8 << 32, low: 1, scope: 0), port: 5004)

    var meeting: RelayMeeting
    var relay: ModelRelay
    var loss = 0.0
    var duplication = 0.0
    private(set) var now = Instant.start + Duration.seconds(1_000)
    private(set) var events: [RelayMeeting.Event] = []
    private(set) var helloCount = 0
    private(set) var sentCount = 0
    private var counts: [RendezvousMessage.Kind: Int] = [:]
    private var flights: [(at: Instant, toRelay: Bool, bytes: [UInt8])] = []
    private var randomness: SeededRandom

    init(_ meeting: RelayMeeting, seed: UInt64) {
        self.meeting = meeting
        relay = ModelRelay(RendezvousNumber(rawValue: 482_913)!)
        randomness = SeededRandom(seed: seed)
    }

    var refusedCount: Int { relay.refusedCount }

    func count(_ kind: RendezvousMessage.Kind) -> Int { counts[kind] ?? 0 }

    func meet(_ number: RendezvousNumber) {
        meeting.meet(number, at: now)
        poll()
    }

    func renew() {
        meeting.renew(at: now)
        poll()
    }

    func leave() {
        meeting.leave(at: now)
        poll()
    }

    /// The station receives a datagram.
    func deliver(_ datagram: [UInt8], from sender: Endpoint = Road.address) {
        meeting.receive(datagram.span, from: sender, at: now)
        poll()
    }

    /// The network says that nothing uses the port at an address.
    func refuse(at address: Endpoint, times count: Int) {
        for _ in 0..<count { meeting.refused(by: address, at: now) }
        poll()
    }

    func run(_ duration: Duration) {
        let end = now + duration
        while true {
            let deadlines = [meeting.nextDeadline].compactMap(\.self) + flights.map(\.at)
            guard let next = deadlines.min(), next <= end else { break }
            #expect(next >= now || meeting.nextDeadline == .start, "a deadline in the past")
            now = max(now, next)
            meeting.timeElapsed(at: now)
            poll()
            let due = flights.filter { $0.at <= now }
            flights.removeAll { $0.at <= now }
            for flight in due {
                if flight.toRelay {
                    if let answer = relay.answer(flight.bytes, at: now) { launch(answer, toRelay: false) }
                } else {
                    deliver(flight.bytes)
                }
            }
        }
        now = end
    }

    private func poll() {
        while true {
            var target: Endpoint?
            let datagram = [UInt8](capacity: 128) { target = meeting.nextDatagram(into: &$0) }
            guard let target else { break }
            sentCount += 1
            if let kind = RendezvousMessage(parsing: datagram.span)?.kind { counts[kind, default: 0] += 1 }
            guard target == Self.address else { continue }
            if datagram[0] == ControlPacket.firstByte { helloCount += 1 }
            launch(datagram, toRelay: true)
        }
        while let event = meeting.nextEvent() { events.append(event) }
    }

    private func launch(_ datagram: [UInt8], toRelay: Bool) {
        let copies = randomness.happens(duplication) ? 2 : 1
        for copy in 0..<copies where !randomness.happens(loss) {
            flights.append((now + .milliseconds(10 + 35 * copy), toRelay, datagram))
        }
    }
}
