internal import Glibc
internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourFloor
internal import TenfourNATS
internal import TenfourRelayCluster
internal import TenfourRelayCore
internal import TenfourUV

/// Connects a running relay to the other relays of its cluster: passes messages between `RelayCluster` and NATS.
///
/// On the thread of the loop. No call waits for NATS.
final class ClusterLink {
    private var core: RelayCluster
    private let client: NATSClient
    private let timer: LoopTimer
    /// The time for which `timer` is armed; nil if it is not.
    private var armed: Instant?
    private var connectionCount = 0
    /// The time for which the machine has slept, when that last counted.
    private var suspended = RealTimeClock.suspended
    private var news = ClusterNews()

    /// A shorter sleep does not count.
    private static let shortestSleep = Duration.milliseconds(100)

    /// `relay` becomes one of the cluster. `received` is called when `receive` has work, and `timeElapsed` when that has.
    init(
        _ configuration: ClusterConfiguration, for relay: inout Relay, on loop: EventLoop,
        received: @escaping () -> Void, elapsed: @escaping () -> Void
    ) throws(NetworkError) {
        var generator = CSPRNG()
        let wakeup = try loop.makeWakeup(received)
        timer = try loop.makeTimer(elapsed)
        do throws(NATSError) {
            client = try NATSClient(configuration.nats) { wakeup.signal() }
            try client.start()
        } catch {
            throw NetworkError(.refused, function: "libnats", code: ENOSYS)
        }
        core = RelayCluster(configuration.key, for: &relay, at: loop.now, using: &generator)
    }

    /// Sends a datagram that the relay forwards from a talker of its own.
    func forwarded(_ datagram: Span<UInt8>, in channel: ChannelIndex, of relay: inout Relay, at now: Instant) {
        core.forwarded(datagram, in: channel, of: &relay, at: now)
    }

    /// Handles the messages that have arrived. `deliver` forwards a datagram to the members of this relay.
    func receive(
        into relay: inout Relay, at now: Instant,
        _ deliver: (Span<UInt8>, _ channel: ChannelIndex, _ stream: Int) -> Void
    ) {
        let connections = client.status.connectionCount
        if connections != connectionCount {
            connectionCount = connections
            core.connected(at: now)
        }
        let suspended = RealTimeClock.suspended
        if suspended - self.suspended >= Self.shortestSleep {
            self.suspended = suspended
            core.machineHasSlept(at: now)
        }
        for message in client.takeMessages() {
            var bytes = message.bytes
            guard let delivery = core.receive(&bytes, on: message.subject, into: &relay, at: now) else { continue }
            deliver(bytes.span.extracting(delivery.range), delivery.channel, delivery.stream)
        }
    }

    func timeElapsed(_ relay: inout Relay, at now: Instant) {
        armed = nil
        core.timeElapsed(&relay, at: now)
    }

    func reconfigure(for relay: inout Relay, at now: Instant) {
        core.update(from: &relay, at: now)
        core.reconfigure(for: &relay, at: now)
    }

    /// Takes over what has changed in the relay, and sends what follows from it.
    func flush(_ relay: inout Relay, at now: Instant) {
        core.update(from: &relay, at: now)
        while let change = core.nextSubscription() {
            switch change {
            case .subscribe(let subject): client.subscribe(to: subject)
            case .unsubscribe(let subject): client.unsubscribe(from: subject)
            }
        }
        while let message = core.nextMessage() {
            client.publish(NATSMessage(subject: message.subject, bytes: message.bytes))
        }
        let deadline = core.nextDeadline
        if armed != deadline {
            armed = deadline
            timer.arm(at: deadline)
        }
    }

    /// Tells the other relays that this one stops, and closes the connection.
    func close(_ relay: inout Relay, at now: Instant) {
        core.leave(at: now)
        flush(&relay, at: now)
        client.stop()
    }

    var status: RelayServerStatus.Cluster { RelayServerStatus.Cluster(relays: core.status, nats: client.status) }

    /// Returns what has changed for the operator since the last call; nil if nothing has.
    func nextNotice(of relay: borrowing Relay) -> RelayNotice? {
        news.notice(status)
            ?? news.silence(status.relays) {
                relay.configuredChannels.map(\.configuration).filter { $0.floor?.isRequired ?? false }.map(\.name)
            }
    }
}

/// Finds what an operator wants to know about the cluster.
private struct ClusterNews {
    private var isConnected = false
    private var failure: String?
    private var relayCount = 0
    private var silencedCount = 0

    mutating func notice(_ status: RelayServerStatus.Cluster) -> RelayNotice? {
        if status.nats.isConnected != isConnected || (status.nats.failure != failure && !status.nats.isConnected) {
            isConnected = status.nats.isConnected
            failure = status.nats.failure
            if isConnected { return .cluster(.connected) }
            if let failure { return .cluster(.disconnected(failure)) }
        }
        guard status.relays.relayCount != relayCount else { return nil }
        relayCount = status.relays.relayCount
        return .cluster(.relays(relayCount))
    }

    /// `channels` gives the names of the channels that require the floor.
    mutating func silence(_ status: ClusterStatus, _ channels: () -> [String]) -> RelayNotice? {
        guard status.silencedCount > silencedCount else { return nil }
        silencedCount = status.silencedCount
        let channels = channels()
        return channels.isEmpty ? nil : .cluster(.floorsApart(channels: channels))
    }
}
