import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// Runs a script against a relay of a cluster with a talker and a listener. The messages come from two other relays that
/// have the key of the cluster, or from a stranger. Traps if the relay violates an invariant.
func feedCluster(_ bytes: Span<UInt8>) {
    var script = DatagramScript(bytes)
    var trial = ClusterTrial()
    while let step = script.next() {
        trial.wait(step.pause)
        let datagram = bytes.extracting(step.datagram)
        switch step.action {
        case .receive: trial.receive(datagram, as: step.sender)
        case .send: trial.receiveSealed(datagram, by: step.sender & 1)
        case .loop: trial.replay()
        case .leave: trial.interrupt(step.sender)
        }
        trial.answer()
    }
}

/// A relay of a cluster, and two others that answer its PRESENCEs.
private struct ClusterTrial: ~Copyable {
    private var now = Instant.start
    private var relay: Relay
    private var cluster: RelayCluster
    private var peers = ClusterPlay.shared.peers
    private var sealers = RelayPlay.shared.members.map { $0.sealer(for: .member) }
    private var tagger = RelayPlay.shared.members[0].hopTagger(for: .member)
    private var subjects: Set<String> = []
    /// The relay's last PRESENCE; nil if the others have answered it.
    private var presence: (counter: UInt64, nonce: UInt128)?
    /// The last message of another relay, and whether it was accepted.
    private var last: (message: [UInt8], subject: String, isAccepted: Bool)?

    init() {
        var randomness = SeededRandom(seed: 16)
        relay = RelayPlay.shared.relay()
        cluster = RelayCluster(ClusterPlay.shared.key, for: &relay, at: now, using: &randomness)
        for (index, role) in [Role.talk, .listen].enumerated() {
            let endpoint = DatagramScript.endpoint(index)
            _ = relay.admit(RelayPlay.shared.members[index], as: role, to: 0, at: endpoint, now)
            let renewal = [UInt8](capacity: 82) { sealers[index].seal(.renewal(token: 1), into: &$0) }
            take(renewal.span, from: endpoint)
        }
        let announcement = RelayPlay.shared.announcement
        talk(announcement.span)
        // The others hear a PRESENCE and answer, the relay answers, and they are present.
        for _ in 0..<3 { wait(.milliseconds(50)) }
        precondition(cluster.status.relayCount == 2, "not in the cluster")
    }

    /// The others answer as long as no more than half a second passes at once.
    mutating func wait(_ pause: Duration) {
        var left = max(pause, .zero)
        let hop = left > .seconds(4) ? left : .milliseconds(500)
        repeat {
            now = now + min(left, hop)
            left -= min(left, hop)
            elapse()
            if hop <= .milliseconds(500) { answer() }
        } while left > .zero
    }

    private mutating func elapse() {
        for _ in 0..<64 {
            let deadline = min(relay.nextDeadline ?? cluster.nextDeadline, cluster.nextDeadline)
            guard deadline <= now else { return }
            if let due = relay.nextDeadline, due <= now { relay.timeElapsed(at: now) }
            if cluster.nextDeadline <= now { cluster.timeElapsed(&relay, at: now) }
            flush()
        }
        preconditionFailure("deadlines that never pass")
    }

    /// The other relays answer the last PRESENCE.
    mutating func answer() {
        guard let presence else { return }
        self.presence = nil
        precondition(subjects == Set(cluster.subscriptions))
        for index in peers.indices {
            let body = peers[index].presence(heard: cluster.boot, presence.nonce, presence.counter)
            _ = take(1, body.span, from: index, on: ClusterPlay.shared.presence)
        }
    }

    mutating func receive(_ bytes: Span<UInt8>, as sender: Int) {
        switch sender {
        case 6: talk(bytes)
        case 7:
            let subject = bytes.count & 1 == 0 ? ClusterPlay.shared.presence : ClusterPlay.shared.relay
            precondition(!take(bytes.copied, on: subject).isAccepted, "a stranger was believed")
        default: receive(bytes, from: sender & 1, on: sender >> 1)
        }
    }

    /// Receives a message of another relay: its kind, and its body. `place` is the subject: the right one, that of the
    /// channel, or that of the relay.
    private mutating func receive(_ bytes: Span<UInt8>, from peer: Int, on place: Int) {
        guard bytes.count > 0 else { return }
        let kind = 1 + bytes[0] & 7
        var body = Array(bytes.copied.dropFirst())
        // No fuzzer guesses a tag.
        let tag = [UInt8](capacity: 8) { $0.append(number: ClusterPlay.shared.tag) }
        var isForRelay = false
        switch kind {
        case 1 where body.count < 17: body = tellPresence(body, of: peer)
        case 4, 5, 6:
            isForRelay = true
            if place == 0 { body = tag + body }
        case 8:
            isForRelay = body.first == 1 || body.first == 2
            if place == 0, body.count >= 16 { body.replaceSubrange(8..<16, with: tag) }
        default: break
        }
        let subject =
            switch place {
            case 0 where kind == 1 || kind == 7: ClusterPlay.shared.presence
            case 0 where isForRelay, 2: ClusterPlay.shared.relay
            default: ClusterPlay.shared.channel
            }
        let isDelivered = take(kind, body.span, from: peer, on: subject)
        if last?.isAccepted ?? false { countAuthentic() }
        precondition(!isDelivered || kind == 3 || kind == 5, "a message that is none of a talker was forwarded")
    }

    /// Changes what another relay says of itself: a byte of its nonce, and a bit for each channel.
    private mutating func tellPresence(_ bytes: [UInt8], of peer: Int) -> [UInt8] {
        let tags: [UInt64] = [ClusterPlay.shared.tag, 5, 6]
        peers[peer].nonce = UInt128(bytes.first ?? 0)
        peers[peer].tags = tags.indices.filter { (bytes.dropFirst().first ?? 1) & 1 << UInt8($0) != 0 }.map { tags[$0] }
        return peers[peer].presence(heard: cluster.boot, UInt128(bytes.count), UInt64(bytes.count))
    }

    /// Receives a message that was received before.
    mutating func replay() {
        guard let last, last.isAccepted else { return }
        let count = cluster.status.relayCount
        let again = take(last.message, on: last.subject)
        precondition(!again.isDelivered && cluster.status.relayCount <= count, "a replay was believed")
    }

    /// Ends the relay's connection, lets its machine sleep, removes and adds channels, or leaves the cluster.
    mutating func interrupt(_ what: Int) {
        switch what {
        case 0, 1: cluster.connected(at: now)
        case 2: cluster.machineHasSlept(at: now)
        case 3, 4:
            var configuration = RelayPlay.shared.configuration
            if what == 4 { configuration.channels.remove(at: 0) }
            relay.reload(configuration, at: now)
            cluster.reconfigure(for: &relay, at: now)
        case 5: cluster.leave(at: now)
        default: relay.stop(at: now)
        }
        flush()
    }

    /// Receives a datagram of the relay's talker.
    private mutating func talk(_ datagram: Span<UInt8>) {
        let tagged = [UInt8](capacity: datagram.count + HopTag.byteCount) {
            $0.append(datagram)
            _ = tagger.tag(&$0)
        }
        take(tagged.span, from: DatagramScript.endpoint(0))
    }

    mutating func receiveSealed(_ inside: Span<UInt8>, by member: Int) {
        guard inside.count > 0 else { return }
        let record = [UInt8](capacity: inside.count + 36) { sealers[member].seal(inside: inside, into: &$0) }
        take(record.span, from: DatagramScript.endpoint(member))
    }

    private mutating func take(_ datagram: Span<UInt8>, from endpoint: Endpoint) {
        if case .forward(_, let byteCount, let channel, _) = relay.receive(datagram, from: endpoint, at: now) {
            cluster.forwarded(datagram.extracting(..<byteCount), in: channel, of: &relay, at: now)
        }
        flush()
    }

    /// Returns whether a datagram in the message is to be forwarded.
    private mutating func take(_ kind: UInt8, _ body: Span<UInt8>, from peer: Int, on subject: String) -> Bool {
        let message = peers[peer].message(kind, body, on: subject)
        let result = take(message, on: subject)
        last = (message, subject, result.isAccepted)
        return result.isDelivered
    }

    private mutating func take(_ message: [UInt8], on subject: String) -> (isAccepted: Bool, isDelivered: Bool) {
        guard subjects.contains(subject) else { return (false, false) }
        let before = cluster.status.receivedCount
        var bytes = message
        let delivery = cluster.receive(&bytes, on: subject, into: &relay, at: now)
        if let delivery {
            precondition(delivery.stream < 0 && delivery.channel == 0 && relay.memberCount(of: 0) > 0)
            precondition(delivery.range.lowerBound >= 28 && delivery.range.upperBound == message.count - 16)
        }
        flush()
        return (cluster.status.receivedCount > before, delivery != nil)
    }

    private mutating func flush() {
        cluster.update(from: &relay, at: now)
        while let change = cluster.nextSubscription() {
            switch change {
            case .subscribe(let subject): precondition(subjects.insert(subject).inserted, "subscribed twice")
            case .unsubscribe(let subject): precondition(subjects.remove(subject) != nil, "not subscribed")
            }
        }
        var count = 0
        while let message = cluster.nextMessage() {
            count += 1
            precondition(message.bytes.count <= 4_096, "a message without end")
            let heard = ClusterPlay.shared.presence(in: message, of: cluster.boot)
            if let heard { presence = heard }
        }
        while true {
            var endpoint: Endpoint?
            let datagram = [UInt8](capacity: 1_600) { endpoint = relay.nextDatagram(into: &$0) }
            guard let endpoint else { break }
            count += 1
            precondition(!datagram.isEmpty && (0...1).contains { DatagramScript.endpoint($0) == endpoint })
        }
        precondition(count <= 512, "one event causes few messages")
        while relay.nextEvent() != nil {}
    }
}
