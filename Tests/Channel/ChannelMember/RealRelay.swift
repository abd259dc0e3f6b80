import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourFloor
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
    private var output: [(bytes: [UInt8], to: Endpoint)] = []
    private var takenCount = 0

    init(
        at endpoint: Endpoint = Airwaves.relay, now: Instant = .start, limits: RelayLimits = RelayLimits(),
        floor: FloorArbiter.Configuration = FloorArbiter.Configuration(), seed: UInt64 = 1
    ) {
        var randomness = SeededRandom(seed: seed)
        self.endpoint = endpoint
        guard let talkJoin = Family.talk.talkJoin else { preconditionFailure("a talk secret gives both keys") }
        var channel = RelayConfiguration.Channel(
            name: "family", talkJoin: talkJoin, listenJoin: Family.talk.listenJoin)
        channel.floor = floor
        relay = Relay(
            RelayConfiguration(channels: [channel], limits: limits), address: PeerAddress(endpoint), at: now,
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
            for endpoint in audience.endpoints(in: channel, but: talker) { output.append((bytes, endpoint)) }
        }
        flush()
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
        flush()
    }

    func stop(at now: Instant) {
        relay.stop(at: now)
        flush()
    }

    private func flush() {
        while true {
            var to: Endpoint?
            let datagram = [UInt8](capacity: 1_600) { to = relay.nextDatagram(into: &$0) }
            guard let to else { break }
            output.append((datagram, to))
        }
        while let event = relay.nextEvent() { audience.apply(event) }
    }
}
