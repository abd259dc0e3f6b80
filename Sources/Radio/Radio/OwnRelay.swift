internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourFloor
internal import TenfourRelayCore
internal import TenfourSession

/// A relay of one channel whose first member is our own RTP session. Use it on the network thread only.
final class OwnRelay {
    private var relay: Relay
    private var members = RelayMembers()
    private var forwarded = DatagramQueue()

    /// The address that stands for our own RTP session in the relay. No datagram from the network has this sender.
    static let endpoint = Endpoint(.anyV4, port: 0)
    /// The largest number of members. A larger channel needs a separate relay.
    private static let memberCount = 32

    /// Creates the relay of the channel with `keys`. `local` is the address at which members reach it, `clock` the
    /// wall-clock time at `now`.
    init(
        _ keys: ChannelKeys, at local: Endpoint, _ now: Instant, _ clock: WallClock,
        using generator: inout some RandomNumberGenerator
    ) {
        guard let talkJoin = keys.talkJoin else { preconditionFailure("who holds a listen link answers nobody") }
        var channel = RelayConfiguration.Channel(name: keys.name, talkJoin: talkJoin, listenJoin: keys.listenJoin)
        // Nobody else configures this relay, and it is small.
        channel.floor = FloorArbiter.Configuration()
        var configuration = RelayConfiguration(channels: [channel])
        configuration.limits.channelMembers = Self.memberCount
        relay = Relay(
            configuration, address: PeerAddress(v4: 0, port: local.port), at: now, clock: clock, using: &generator)
    }

    /// Receives a datagram from a member. Returns false if it is discarded.
    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool {
        switch relay.receive(datagram, from: sender, at: now) {
        case .handled: return true
        case .discarded: return false
        case .forward(_, let byteCount, let channel, let talker):
            applyEvents()
            for endpoint in members.endpoints(in: channel, but: talker) {
                forwarded.put(datagram.extracting(first: byteCount), to: endpoint)
            }
            return true
        }
    }

    /// Appends the next datagram for a member: forwarded datagrams first, then the relay's own.
    func nextDatagram(into datagram: inout OutputSpan<UInt8>) -> Endpoint? {
        applyEvents()
        return forwarded.next(into: &datagram) ?? relay.nextDatagram(into: &datagram)
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
