import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// The relay's address for the stations of pairing. Its harness delivers datagrams by the stations' addresses only.
let pairingRelay = Endpoint(.v4(0xC633_6401), port: 5004)

extension RelayConfiguration {
    /// A relay without channels that pairs stations.
    static func pairing(seed: UInt64 = 5, members: Int = 2_048) -> RelayConfiguration {
        var randomness = SeededRandom(seed: seed)
        var configuration = RelayConfiguration([])
        configuration.key = RelayKey(using: &randomness)
        var pairing = PairingConfiguration()
        pairing.members = members
        configuration.pairing = pairing
        return configuration
    }
}

/// Returns a message of pairing with zeros behind its head. No station accepts it.
func pairingMessage(_ kind: PairingMessage.Kind, run: UInt64, byteCount: Int) -> [UInt8] {
    let head: [UInt8] = [0x70, 1, kind.rawValue, 0]
    let numbers = [UInt8](capacity: 16) {
        $0.append(number: run)
        $0.append(number: kind == .hello ? 0 : 7 as UInt64)
    }
    return head + numbers + [UInt8](repeating: 0, count: byteCount - 20)
}

/// An address that asks a relay for cookies, and keeps the latest one.
class RelayVisitor {
    let endpoint: Endpoint
    let nonce: UInt128
    var cookie: Cookie?
    var randomness: SeededRandom

    init(at endpoint: Endpoint, seed: UInt64) {
        self.endpoint = endpoint
        randomness = SeededRandom(seed: seed)
        nonce = .random(in: 0 ... .max, using: &randomness)
    }

    func hello(_ room: RelayHarness) {
        room.receive([UInt8](capacity: 128) { ControlPacket.writeHello(nonce: nonce, into: &$0) }, from: endpoint)
    }

    /// Takes what has arrived, keeps a cookie, and returns the messages of rendezvous and the messages of pairing.
    func take(_ room: RelayHarness) -> (rendezvous: [RendezvousMessage], others: [[UInt8]]) {
        var result: (rendezvous: [RendezvousMessage], others: [[UInt8]]) = ([], [])
        for datagram in room.take(endpoint) {
            if let message = RendezvousMessage(parsing: datagram.span) {
                result.rendezvous.append(message)
            } else if case .cookie(let cookie, nonce)? = try? ControlPacket(parsing: datagram.span) {
                self.cookie = cookie
            } else {
                result.others.append(datagram)
            }
        }
        return result
    }

    /// Asks for a cookie, and takes the answer at once.
    func knock(_ room: RelayHarness) {
        hello(room)
        _ = take(room)
    }

    @discardableResult
    func place(_ share: SharePoint, _ room: RelayHarness) -> Relay.Reception {
        guard let cookie else { return .handled }
        return room.receive(RendezvousMessage.place(nonce: nonce, cookie, share: share).bytes, from: endpoint)
    }

    @discardableResult
    func leave(_ share: SharePoint, _ room: RelayHarness) -> Relay.Reception {
        guard let cookie else { return .handled }
        return room.receive(RendezvousMessage.leave(nonce: nonce, cookie, share: share).bytes, from: endpoint)
    }

    @discardableResult
    func meet(_ number: RendezvousNumber, run: UInt64, _ room: RelayHarness) -> Relay.Reception {
        guard let cookie else { return .handled }
        return room.receive(RendezvousMessage.meet(nonce: nonce, cookie, number, initiator: run).bytes, from: endpoint)
    }

    /// Sends PLACE and returns the answer.
    func placed(_ share: SharePoint, _ room: RelayHarness) -> RendezvousMessage.PlaceAnswer? {
        place(share, room)
        for case .number(nonce, let answer) in take(room).rendezvous { return answer }
        return nil
    }

    /// Sends MEET and returns the answer.
    func met(_ number: RendezvousNumber, run: UInt64, _ room: RelayHarness) -> RendezvousMessage.MeetOutcome? {
        meet(number, run: run, room)
        for case .met(nonce, run, let outcome) in take(room).rendezvous { return outcome }
        return nil
    }
}

/// A station that shows a number and words, each step of which takes the time of half a round trip.
final class WaitingStation: RelayVisitor {
    let words: PairingWords
    private(set) var number: RendezvousNumber?
    private(set) var link: ChannelLink?
    private(set) var events: [PairingResponder.Event] = []
    private let share: KeyShare
    private var responder: PairingResponder?
    private var next: Instant
    private static let interval = Duration.milliseconds(250)

    init(at endpoint: Endpoint, from start: Instant, seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        words = PairingWords(using: &randomness)
        share = KeyShare(using: &randomness)
        next = start
        super.init(at: endpoint, seed: seed)
    }

    func step(_ room: RelayHarness) throws {
        let (messages, others) = take(room)
        for message in messages {
            if case .number(nonce, .number(let number, seconds: _)) = message { self.number = number }
            if case .pass(let sealed) = message, let pass = sealed.opened(by: share) { try offer(pass) }
        }
        responder?.timeElapsed(at: room.now)
        for datagram in others { responder?.receive(datagram.span, from: pairingRelay, at: room.now) }
        while let event = responder?.nextEvent() { events.append(event) }
        while responder != nil {
            var destination: Endpoint?
            let datagram = [UInt8](capacity: 1_200) { destination = responder?.nextDatagram(into: &$0) }
            guard destination != nil else { break }
            room.receive(datagram, from: endpoint)
        }
        guard room.now >= next else { return }
        if cookie == nil { hello(room) } else { place(share.point, room) }
        next = room.now + (number == nil ? Self.interval : .seconds(10))
        // A cookie is good for a minute at least. The station asks for another one before each further PLACE.
        if number != nil { hello(room) }
    }

    private func offer(_ pass: ChannelPass) throws {
        guard link == nil else { return }
        let link = try ChannelLink(
            relays: [RelayHost(host: "relay.example")], name: "pair", pass: pass,
            opening: .secret(Secret(.talk, using: &randomness)))
        self.link = link
        responder = PairingResponder(words, link: link, using: &randomness)
    }
}

/// A station at which number and words are typed, each step of which takes the time of half a round trip.
final class MeetingStation: RelayVisitor {
    private(set) var link: ChannelLink?
    private(set) var outcomes: [RendezvousMessage.MeetOutcome] = []
    private(set) var failures: [PairingFailure] = []
    private var typed: (number: RendezvousNumber, words: PairingWords)?
    private var initiator: PairingInitiator
    private var isMet = false
    private var isAnswered = true
    private var isChallenged = false
    private var next = Instant.start
    private static let interval = Duration.milliseconds(250)

    override init(at endpoint: Endpoint, seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        initiator = PairingInitiator(responder: pairingRelay, using: &randomness)
        super.init(at: endpoint, seed: seed)
    }

    func type(_ number: RendezvousNumber, _ words: PairingWords, at now: Instant) {
        typed = (number, words)
        next = now
        (isMet, isChallenged) = (false, false)
    }

    func step(_ room: RelayHarness) {
        let (messages, others) = take(room)
        for case .met(nonce, initiator.runNumber ?? 0, let outcome) in messages {
            outcomes.append(outcome)
            isAnswered = true
            isMet = isMet || outcome == .met
        }
        for datagram in others {
            initiator.receive(datagram.span, from: pairingRelay, at: room.now)
            isChallenged = true
        }
        while let event = initiator.nextEvent() {
            switch event {
            case .paired(let link): self.link = link
            case .failed(let failure, guessesLeft: _): failures.append(failure)
            }
        }
        if isMet { initiator.timeElapsed(at: room.now) }
        ask(room)
        var isSending = isMet
        while isSending {
            let datagram = [UInt8](capacity: 1_200) { isSending = initiator.nextDatagram(into: &$0) }
            if isSending { room.receive(datagram, from: endpoint) }
        }
    }

    private func ask(_ room: RelayHarness) {
        guard let (number, words) = typed, !isChallenged, room.now >= next else { return }
        next = room.now + Self.interval
        guard cookie != nil else { return hello(room) }
        // A run begins when the relay has let it begin; until then each MEET is for another one.
        if !isMet {
            initiator.cancel()
            _ = initiator.begin(words, at: room.now)
        }
        // No answer may mean that the cookie no longer holds.
        if !isAnswered { hello(room) }
        isAnswered = false
        meet(number, run: initiator.runNumber ?? 0, room)
    }
}
