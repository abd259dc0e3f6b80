internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourRelayCore
internal import TenfourSession

/// A station that answers its channel's members itself: a relay of one channel, whose first member is the station. Network
/// thread.
final class OwnRelay {
    private var relay: Relay
    private var members = RelayMembers()
    private var bytes: [UInt8] = []

    /// Where the station itself seems to be. Nothing from the network comes from here.
    static let endpoint = Endpoint(.anyV4, port: 0)
    /// Beyond these a relay of its own is the better place.
    private static let memberCount = 32

    typealias Deliver = (Span<UInt8>, Endpoint) -> Void

    /// `clock` is the time of day at `now`.
    init(
        _ keys: ChannelKeys, at local: Endpoint, _ now: Instant, _ clock: WallClock,
        using generator: inout some RandomNumberGenerator
    ) {
        guard let talkJoin = keys.talkJoin else { preconditionFailure("who holds a listen link answers nobody") }
        var configuration = RelayConfiguration(
            channels: [.init(name: keys.name, talkJoin: talkJoin, listenJoin: keys.listenJoin)])
        configuration.limits.channelMembers = Self.memberCount
        relay = Relay(
            configuration, address: PeerAddress(v4: 0, port: local.port), at: now, clock: clock, using: &generator)
        bytes.reserveCapacity(RTPSession.maximumDatagramByteCount)
    }

    /// False where it is discarded.
    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, _ deliver: Deliver) -> Bool {
        switch relay.receive(datagram, from: sender, at: now) {
        case .handled: return true
        case .discarded: return false
        case .forward(_, let byteCount, let channel, let talker):
            applyEvents()
            for endpoint in members.endpoints(in: channel, but: talker) {
                deliver(datagram.extracting(first: byteCount), endpoint)
            }
            return true
        }
    }

    /// Delivers what the relay itself has to say.
    func drain(_ deliver: Deliver) {
        applyEvents()
        while true {
            bytes.removeAll(keepingCapacity: true)
            var destination: Endpoint?
            bytes.append(addingCapacity: RTPSession.maximumDatagramByteCount) {
                destination = relay.nextDatagram(into: &$0)
            }
            guard let destination else { return }
            deliver(bytes.span, destination)
        }
    }

    func timeElapsed(at now: Instant) {
        if let deadline = relay.nextDeadline, deadline <= now { relay.timeElapsed(at: now) }
    }

    var nextDeadline: Instant? { relay.nextDeadline }

    func setClock(_ clock: WallClock, at now: Instant) { relay.setClock(clock, at: now) }

    func stop(at now: Instant) { relay.stop(for: .left, at: now) }

    private func applyEvents() {
        while let event = relay.nextEvent() { members.apply(event) }
    }
}
