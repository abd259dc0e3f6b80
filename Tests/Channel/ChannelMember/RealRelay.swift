import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourFloor
import TenfourManagedChannel
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession

/// The relays that the tests run with.
enum RelayKind: CaseIterable {
    case tiny, real

    func relay() -> any RelayEnd {
        switch self {
        case .tiny: TinyRelay(Family.talk)
        case .real: RealRelay()
        }
    }
}

/// The production relay (`Relay`) on the simulated network. Media is forwarded to the members that the relay has
/// reported.
final class RealRelay: RelayEnd {
    let endpoint: Endpoint
    private var relay: Relay
    private var audience = RelayMembers()
    private var trailers = TrailerTable(.forwarded)
    private var numbers: [Endpoint: Int] = [:]
    private var output: [(bytes: [UInt8], to: Endpoint)] = []
    private var takenCount = 0

    init(
        at endpoint: Endpoint = Airwaves.relay, now: Instant = .start, limits: RelayLimits = RelayLimits(),
        floor: FloorArbiter.Configuration = FloorArbiter.Configuration(), key: RelayKey? = nil,
        owner: IdentityKey? = nil, seed: UInt64 = 1
    ) {
        var randomness = SeededRandom(seed: seed)
        self.endpoint = endpoint
        guard let talkJoin = Family.talk.talkJoin else { preconditionFailure("a talk secret gives both keys") }
        var channel = RelayConfiguration.Channel(
            name: "family", talkJoin: talkJoin, listenJoin: Family.talk.listenJoin)
        channel.floor = floor
        channel.owner = owner
        var configuration = RelayConfiguration(channels: [channel], limits: limits)
        configuration.key = key
        relay = Relay(
            configuration, address: PeerAddress(endpoint), at: now,
            clock: Airwaves.clock(at: now), using: &randomness)
    }

    var status: RelayStatus { relay.status }

    /// The times of all HELLOs received.
    private(set) var hellos: [Instant] = []

    func receive(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) {
        if datagram.starts(with: [99, 1, 1]) { hellos.append(now) }
        if case .forward(_, let byteCount, let channel, let talker) = relay.receive(
            datagram.span, from: sender, at: now)
        {
            let bytes = Array(datagram[..<byteCount])
            for endpoint in audience.endpoints(in: channel, but: talker) { send(bytes, to: endpoint) }
        }
        flush(at: now)
    }

    /// Sends a packet to one member, with a trailer if the member's session has them.
    func send(_ packet: [UInt8], to endpoint: Endpoint) {
        let number = numbers[endpoint] ?? -1
        let datagram = [UInt8](capacity: packet.count + RelayTrailer.byteCount) {
            for byte in packet { $0.append(byte) }
            if number >= 0 { trailers.write(for: PacketHash(of: packet.span), to: number, into: &$0) }
        }
        if number >= 0 { trailers.used(number) }
        output.append((datagram, endpoint))
    }

    func nextDatagram() -> (bytes: [UInt8], to: Endpoint)? {
        guard takenCount < output.count else {
            output.removeAll(keepingCapacity: true)
            takenCount = 0
            return nil
        }
        takenCount += 1
        return output[takenCount - 1]
    }

    var nextDeadline: Instant? { relay.nextDeadline }

    func timeElapsed(at now: Instant) {
        relay.timeElapsed(at: now)
        flush(at: now)
    }

    func stop(at now: Instant) {
        relay.stop(at: now)
        flush(at: now)
    }

    private func flush(at now: Instant) {
        while true {
            var to: Endpoint?
            let datagram = [UInt8](capacity: 1_600) { to = relay.nextDatagram(into: &$0) }
            guard let to else { break }
            output.append((datagram, to))
        }
        while let event = relay.nextEvent() {
            audience.apply(event)
            switch event {
            case .joined(let member, _, let endpoint), .moved(let member, _, let endpoint):
                if case .joined = event, let key = relay.trailerKey(of: member) {
                    trailers.insert(key, at: member.number)
                }
                numbers[endpoint] = member.number
            case .left(let member, _): trailers.remove(member.number)
            case .talking, .quiet, .ended: break
            }
        }
        while let snapshot = relay.nextSnapshot(at: now) {
            relay.snapshotWritten(snapshot, isStored: true, at: now)
            flush(at: now)
        }
    }
}
