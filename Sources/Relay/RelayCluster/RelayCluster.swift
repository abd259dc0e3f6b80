public import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourFloor
internal import TenfourPackets
public import TenfourRelayCore

/// Connects a relay with the other relays of its cluster, which acts as one relay (Protocol/09-cluster.md).
///
/// Opens no connection, reads no clock. After each input of the relay call `update`, and `forwarded` for each datagram
/// that the relay forwards; give it the messages that arrive on its subscriptions. Then take subscriptions and messages
/// until there are none, and sleep until `nextDeadline`.
public struct RelayCluster: Sendable {
    /// This relay's id from its start to its end.
    public let boot: BootID
    let key: ClusterKey
    let subjects: ClusterSubjects
    private var sealer: MessageSealer
    var generator: CSPRNG
    /// The number that other relays repeat to show that they run now.
    var nonce: UInt128
    var peers = ClusterPeers()
    var channels = ClusterChannels()
    var counts = ClusterStatus()
    private var presenceDue: Instant
    private var presenceSent: Instant?
    /// The times of the last PRESENCEs. What another relay sends after it has repeated the counter of one is not older.
    var sentPresences = SentPresences()
    /// No relay can be gone before this time; nil if there is none.
    var silenceDue: Instant?
    private var messages: [ClusterMessage] = []
    private var changes: [Subscription] = []

    /// A change of the subjects whose messages the relay needs.
    public enum Subscription: Hashable, Sendable {
        case subscribe(String)
        case unsubscribe(String)
    }

    static let presenceInterval = Duration.milliseconds(500)
    static let stateInterval = Duration.seconds(2)
    /// The delay of a state after a change, so that changes that follow shortly are in it.
    static let stateDelay = Duration.milliseconds(50)
    private static let presenceDelay = Duration.milliseconds(20)
    private static let presencePause = Duration.milliseconds(50)

    /// Adds `relay` to the cluster. `generator` must be a CSPRNG outside tests.
    public init(
        _ key: ClusterKey, for relay: inout Relay, at now: Instant, using generator: inout some RandomNumberGenerator
    ) {
        self.key = key
        self.generator = CSPRNG(using: &generator)
        boot = BootID(rawValue: self.generator.next128())
        nonce = self.generator.next128()
        subjects = ClusterSubjects(key)
        sealer = MessageSealer(key, boot: boot)
        presenceDue = now
        relay.joinCluster(as: boot)
        changes = [.subscribe(subjects.presence), .subscribe(subjects.relay(boot))]
        reconfigure(for: &relay, at: now)
    }

    /// Follows a change of the relay's channels.
    public mutating func reconfigure(for relay: inout Relay, at now: Instant) {
        let open = Set(channels.open.map(\.subject))
        channels.set(
            relay.configuredChannels.map { index, configuration in
                let tag = key.tag(of: configuration)
                let subject = subjects.channel(tag)
                return ClusterChannel(index: index, tag: tag, subject: subject, isOpen: open.contains(subject))
            })
        let removed = open.subtracting(channels.open.map(\.subject))
        for subject in removed.sorted() { changes.append(.unsubscribe(subject)) }
        if !removed.isEmpty { expectPresence(at: now) }
        for peer in peers.peers.values where peer.isPresent {
            for tag in peer.tags { channels.changeInterest(in: tag, by: 1) }
        }
        for channel in channels.all {
            followMembers(of: channel.index, relay, at: now)
            // A state that was due before is still to be sent.
            channels.expectState(of: channel.index, at: now, isUrgent: true)
            updateFloor(of: channel.tag, &relay, at: now)
        }
    }

    // MARK: - Output

    /// Returns the next message to publish; nil if there is none.
    public mutating func nextMessage() -> ClusterMessage? { messages.isEmpty ? nil : messages.removeFirst() }

    public mutating func nextSubscription() -> Subscription? { changes.isEmpty ? nil : changes.removeFirst() }

    /// The subjects whose messages the relay needs at present.
    public var subscriptions: [String] {
        [subjects.presence, subjects.relay(boot)] + channels.open.map(\.subject)
    }

    /// The time at which `timeElapsed` must be called.
    public var nextDeadline: Instant {
        var next = presenceDue
        if let states = channels.deadline { next = min(next, states) }
        if let silence = silenceDue { next = min(next, silence) }
        return next
    }

    public var status: ClusterStatus {
        var status = counts
        status.relayCount = peers.presentCount
        status.roundTrip = peers.longestRoundTrip
        return status
    }

    mutating func send(_ kind: MessageKind, _ body: Span<UInt8>, on subject: String) {
        let bytes = sealer.seal(kind, body, on: subject)
        counts.sentCount += 1
        counts.sentByteCount += bytes.count
        messages.append(ClusterMessage(subject: subject, bytes: bytes))
    }

    // MARK: - From the relay

    /// Sends a datagram that the relay forwards from a talker of its own, if other relays have members of the channel.
    public mutating func forwarded(
        _ datagram: Span<UInt8>, in channel: ChannelIndex, of relay: inout Relay, at now: Instant
    ) {
        update(from: &relay, at: now)
        guard channels.isWanted(channel), let entry = channels[channel] else { return }
        if entry.isUrgent {
            sendState(of: channel, relay, at: now)
            channels.updateDeadline()
        }
        send(.datagram, datagram, on: entry.subject)
    }

    /// Takes over the changes in the relay and its requests to other relays.
    public mutating func update(from relay: inout Relay, at now: Instant) {
        while let request = relay.nextClusterRequest() {
            switch request {
            case .state(let channel, let isUrgent):
                followMembers(of: channel, relay, at: now)
                channels.expectState(of: channel, at: now + Self.stateDelay, isUrgent: isUrgent)
            case .nack(let boot, let channel, let ssrc, let numbers):
                guard let peer = peers[boot], peer.isPresent, let tag = channels[channel]?.tag else { continue }
                counts.requestedCount += numbers.count
                send(.nack, ClusterNACK(tag: tag, ssrc: ssrc, numbers: numbers).bytes.span, on: peer.subject)
            case .report(let boot, let channel, let ssrc, let summary):
                guard let peer = peers[boot], peer.isPresent, let tag = channels[channel]?.tag else { continue }
                send(.report, ClusterReport(tag: tag, ssrc: ssrc, summary: summary).bytes.span, on: peer.subject)
            case .floor(let boot, let channel, let message): send(message, of: channel, to: boot)
            }
        }
    }

    /// Sends a message about a channel's floor to one relay, or to all that have members of the channel.
    private mutating func send(_ message: FloorRelayMessage, of index: ChannelIndex, to boot: BootID?) {
        let subject: String
        if let boot {
            guard let peer = peers[boot], peer.isPresent else { return }
            subject = peer.subject
        } else {
            guard let channel = channels[index], channels.isWanted(index) else { return }
            subject = channel.subject
        }
        let body = [UInt8](capacity: FloorRelayMessage.maximumByteCount) { message.write(into: &$0) }
        send(.floor, body.span, on: subject)
    }

    /// Tells the relay which relays have members of a channel: one of them arbitrates for its floor.
    mutating func updateFloor(of tag: UInt64, _ relay: inout Relay, at now: Instant) {
        guard let channel = channels[tag: tag] else { return }
        relay.clusterChanged(of: channel.index, tag: tag, others: peers.withMembers(of: tag), at: now)
    }

    /// Subscribes to the subject of a channel that has its first member, and leaves that of one that has none.
    private mutating func followMembers(of index: ChannelIndex, _ relay: borrowing Relay, at now: Instant) {
        let hasMembers = relay.memberCount(of: index) > 0
        guard let channel = channels[index], channel.isOpen != hasMembers else { return }
        channels.setOpen(index, hasMembers)
        changes.append(hasMembers ? .subscribe(channel.subject) : .unsubscribe(channel.subject))
        if !hasMembers { forgetStates(of: channel.tag) }
        expectPresence(at: now)
    }

    private mutating func forgetStates(of tag: UInt64) {
        for boot in peers.peers.keys { peers[boot]?.stateCounters[tag] = nil }
    }

    // MARK: - Time

    public mutating func timeElapsed(_ relay: inout Relay, at now: Instant) {
        update(from: &relay, at: now)
        if let due = silenceDue, due <= now {
            for peer in peers.removeSilent(at: now) where peer.isPresent {
                counts.silencedCount += 1
                isGone(peer, &relay, at: now)
            }
            silenceDue = peers.deadline
        }
        if let due = channels.deadline, due <= now {
            for channel in channels.due(at: now) { sendState(of: channel, relay, at: now) }
            channels.updateDeadline()
        }
        if presenceDue <= now { sendPresence(at: now) }
        update(from: &relay, at: now)
    }

    /// Handles a new connection to NATS: the other relays hear of this one at once. States may have been lost at both ends, and
    /// are sent again: here after the next PRESENCE, there because of the new nonce.
    public mutating func connected(at now: Instant) {
        nonce = generator.next128()
        peers.forgetRepeatedNonces()
        presenceDue = min(presenceDue, now)
    }

    /// Handles the end of a sleep of the machine, which `now` does not count: whatever has come meanwhile may be old. The
    /// other relays are heard again after a round trip.
    public mutating func machineHasSlept(at now: Instant) {
        sentPresences.forget()
        peers.forgetAges()
        presenceDue = min(presenceDue, now)
    }

    /// Tells the other relays that this one stops.
    public mutating func leave(at now: Instant) { send(.leaving, Span(), on: subjects.presence) }

    /// Sends PRESENCE within 20 ms, but at least 50 ms after the last one.
    mutating func expectPresence(at now: Instant) {
        let earliest = presenceSent.map { $0 + Self.presencePause } ?? now
        presenceDue = min(presenceDue, max(now + Self.presenceDelay, earliest))
    }

    private mutating func sendPresence(at now: Instant) {
        var presence = RelayPresence(nonce: nonce)
        presence.heard = peers.heard(at: now)
        presence.tags = channels.open.map(\.tag)
        send(.presence, presence.bytes.span, on: subjects.presence)
        presenceSent = now
        sentPresences.insert(sealer.counter, at: now)
        // A relay that hears its nonce for the first time has ignored the states before.
        for tag in peers.repeatNonces() {
            if let index = channels[tag: tag]?.index { channels.expectState(of: index, at: now, isUrgent: true) }
        }
        presenceDue = now + Self.presenceInterval
    }

    /// Sends the state of a channel if other relays need it. `channels.updateDeadline` must follow.
    private mutating func sendState(of index: ChannelIndex, _ relay: borrowing Relay, at now: Instant) {
        guard let channel = channels[index], channel.isOpen, channels.isWanted(index) else {
            channels.stateSent(of: index, next: nil)
            return
        }
        send(.state, relay.state(of: index, at: now).bytes.span, on: channel.subject)
        channels.stateSent(of: index, next: now + Self.stateInterval)
    }

    /// Handles the end of a relay that was present. A new nonce makes sure that its messages cannot be replayed.
    mutating func isGone(_ peer: ClusterPeer, _ relay: inout Relay, at now: Instant) {
        for tag in peer.tags { channels.changeInterest(in: tag, by: -1) }
        nonce = generator.next128()
        counts.goneCount += 1
        relay.relayIsGone(peer.boot, at: now)
        for tag in peer.tags { updateFloor(of: tag, &relay, at: now) }
        expectPresence(at: now)
    }
}

extension CSPRNG {
    fileprivate mutating func next128() -> UInt128 { UInt128(next()) << 64 | UInt128(next()) }
}
