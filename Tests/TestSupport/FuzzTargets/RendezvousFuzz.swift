import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// Feeds the bytes as a message between a station and a relay; as a datagram to a relay that pairs stations; and as a script
/// of what six addresses send to it. Traps if the relay sends more than it has received, or anything to an address that
/// has not shown that it receives there, or passes on a message to somebody who has not met its sender.
func feedRendezvous(_ bytes: Span<UInt8>) {
    if let message = RendezvousMessage(parsing: bytes) { precondition(message.bytes == bytes.copied) }
    var trial = RendezvousTrial()
    trial.receive(bytes.copied, from: 0)
    // Four bytes a step: the sender and what it sends, the time that passes before, and two arguments.
    for start in stride(from: 0, to: bytes.count - 3, by: 4).prefix(256) {
        trial.wait(.milliseconds(10 * Int(bytes[start + 1])))
        let sender = Int(bytes[start] % 6)
        let (one, other) = (bytes[start + 2], bytes[start + 3])
        switch bytes[start] / 6 % 8 {
        case 0: trial.hello(sender)
        case 2 where other >= 192: trial.leave(sender, share: Int(one))
        case 1, 2: trial.place(sender, share: Int(one))
        case 3, 4: trial.meet(sender, number: Int(one), run: UInt64(other % 4))
        case 5, 6: trial.send(sender, kind: one % 8 + 1, run: other % 4)
        default: trial.receive(bytes.extracting(start...).copied, from: sender)
        }
    }
}

/// A relay that pairs stations, and what six addresses know of it.
private struct RendezvousTrial: ~Copyable {
    private var relay: Relay
    private var now = Instant.start
    private var cookies: [Cookie?] = Array(repeating: nil, count: 6)
    private var numbers: [RendezvousNumber] = []
    /// The stations, by their shares: the address that was sent the last NUMBER, and the address and the run that were let
    /// meet it last.
    private var stations: [Int: (endpoint: Int, initiator: (endpoint: Int, run: UInt64)?)] = [:]
    private var sharesOfNumbers: [RendezvousNumber: Int] = [:]
    /// The share of the PLACE, or of the number in the MEET, that is being handled.
    private var asked: Int?
    private var credit = 0

    private static let nonce: UInt128 = 7
    private static let shares: [SharePoint] = {
        var randomness = SeededRandom(seed: 8)
        return (0..<8).map { _ in KeyShare(using: &randomness).point }
            + [SharePoint(Bytes32([UInt8](repeating: 0, count: 32).span))]
    }()
    private static let configuration: RelayConfiguration = {
        var randomness = SeededRandom(seed: 9)
        var configuration = RelayConfiguration([])
        configuration.key = RelayKey(using: &randomness)
        configuration.pairing = PairingConfiguration()
        return configuration
    }()

    init() {
        var randomness = SeededRandom(seed: 10)
        relay = Relay(
            Self.configuration, address: RelayHarness.address, at: .start, clock: RelayHarness.clock,
            using: &randomness)
    }

    mutating func wait(_ pause: Duration) {
        now = now + pause
        for _ in 0..<64 {
            guard let deadline = relay.nextDeadline, deadline <= now else { return }
            relay.timeElapsed(at: now)
        }
        preconditionFailure("deadlines that never pass")
    }

    mutating func hello(_ sender: Int) {
        receive([UInt8](capacity: 128) { ControlPacket.writeHello(nonce: Self.nonce, into: &$0) }, from: sender)
    }

    mutating func place(_ sender: Int, share: Int) {
        guard let cookie = cookies[sender] else { return }
        asked = share % Self.shares.count
        let share = Self.shares[share % Self.shares.count]
        receive(RendezvousMessage.place(nonce: Self.nonce, cookie, share: share).bytes, from: sender)
    }

    mutating func leave(_ sender: Int, share: Int) {
        guard let cookie = cookies[sender] else { return }
        let share = Self.shares[share % Self.shares.count]
        receive(RendezvousMessage.leave(nonce: Self.nonce, cookie, share: share).bytes, from: sender)
    }

    mutating func meet(_ sender: Int, number: Int, run: UInt64) {
        guard let cookie = cookies[sender], !numbers.isEmpty else { return }
        let number = numbers[number % numbers.count]
        asked = sharesOfNumbers[number]
        receive(RendezvousMessage.meet(nonce: Self.nonce, cookie, number, initiator: run).bytes, from: sender)
    }

    /// Sends a well-formed message of pairing.
    mutating func send(_ sender: Int, kind: UInt8, run: UInt8) {
        let byteCounts = [20, 20, 52, 52, 52, 1_092, 36, 24]
        let head: [UInt8] = [0x70, 1, kind, 0, 0, 0, 0, 0, 0, 0, 0, run]
        receive(head + [UInt8](repeating: 0, count: byteCounts[Int(kind) - 1] - head.count), from: sender)
    }

    mutating func receive(_ datagram: [UInt8], from sender: Int) {
        credit += datagram.count
        let reception = relay.receive(datagram.span, from: Self.endpoint(sender), at: now)
        if case .forward = reception { preconditionFailure("there is no channel") }
        while true {
            var endpoint: Endpoint?
            let sent = [UInt8](capacity: 1_600) { endpoint = relay.nextDatagram(into: &$0) }
            guard let endpoint else { break }
            credit -= sent.count
            precondition(credit >= 0, "more was sent than has come")
            guard let receiver = (0..<6).first(where: { Self.endpoint($0) == endpoint }) else {
                preconditionFailure("sent to a stranger")
            }
            take(sent, at: receiver, from: sender)
        }
        asked = nil
    }

    private mutating func take(_ datagram: [UInt8], at receiver: Int, from sender: Int) {
        if let answer = try? ControlPacket(parsing: datagram.span) {
            precondition(receiver == sender)
            // One address never shows that it receives.
            if case .cookie(let cookie, Self.nonce) = answer, receiver != 5 { cookies[receiver] = cookie }
            return
        }
        if let message = PairingMessage(parsing: datagram.span) {
            let isOfInitiator = message.kind.rawValue % 2 == 1
            let isKnown = stations.values.contains { station in
                guard let initiator = station.initiator, initiator.run == message.initiator else { return false }
                let (first, other) = (initiator.endpoint, station.endpoint)
                return isOfInitiator ? (sender, receiver) == (first, other) : (sender, receiver) == (other, first)
            }
            precondition(isKnown, "the two have not met for this run, or this is not the way of the message")
            return countAuthentic()
        }
        precondition(receiver != 5, "sent to an address that has no cookie")
        switch RendezvousMessage(parsing: datagram.span) {
        case .number(nonce: _, .number(let number, seconds: _)):
            precondition(receiver == sender)
            guard let asked else { break }
            if sharesOfNumbers.updateValue(asked, forKey: number) == nil { numbers.append(number) }
            stations[asked] = (receiver, stations[asked]?.initiator)
        case .met(nonce: _, initiator: let run, .met):
            precondition(receiver == sender)
            if let asked { stations[asked]?.initiator = (receiver, run) }
        case .pass:
            if let asked { precondition(stations[asked]?.endpoint == receiver, "not the station's pass") }
        case .number, .met: precondition(receiver == sender)
        case .place, .meet, .leave, nil: preconditionFailure("a relay does not send this")
        }
    }

    private static func endpoint(_ number: Int) -> Endpoint { .host(number) }
}
