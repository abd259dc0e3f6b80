import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// A relay of a simulated cluster, and the datagrams that it has forwarded to its members.
final class ClusterNode {
    let number: Int
    let room: RelayHarness
    var cluster: RelayCluster
    /// The subjects to which the node has subscribed.
    var subjects: Set<String> = []
    private var members = RelayMembers()
    private var eventCount = 0
    /// The forwarded datagrams by member.
    var heard: [Endpoint: [[UInt8]]] = [:]
    /// The messages that the node has published and the network has not taken.
    var published: [ClusterMessage] = []

    init(_ number: Int, _ key: ClusterKey, _ channels: [ChannelKeys], at now: Instant, seed: UInt64) {
        self.number = number
        var configuration = RelayConfiguration(channels)
        for index in configuration.channels.indices {
            configuration.channels[index].floor = FloorArbiter.Configuration()
        }
        room = RelayHarness(configuration, seed: seed)
        room.now = now
        cluster = RelayCluster(key, for: &room.relay, at: now, using: &room.randomness)
        room.received = { [unowned self] in received($0, $1) }
        settle()
    }

    private func received(_ reception: Relay.Reception, _ datagram: [UInt8]) {
        if case .forward(_, let byteCount, let channel, let talker) = reception {
            let forwarded = Array(datagram[..<byteCount])
            deliver(forwarded, in: channel, except: talker)
            cluster.forwarded(forwarded.span, in: channel, of: &room.relay, at: room.now)
        }
        settle()
    }

    private func deliver(_ datagram: [UInt8], in channel: ChannelIndex, except talker: MemberID) {
        room.flush()
        while eventCount < room.events.count {
            members.apply(room.events[eventCount])
            eventCount += 1
        }
        for endpoint in members.endpoints(in: channel, but: talker) { heard[endpoint, default: []].append(datagram) }
    }

    func arrived(_ message: ClusterMessage) {
        var bytes = message.bytes
        if let delivery = cluster.receive(&bytes, on: message.subject, into: &room.relay, at: room.now) {
            deliver(Array(bytes[delivery.range]), in: delivery.channel, except: MemberID(-1))
        }
        settle()
    }

    var deadline: Instant { min(room.relay.nextDeadline ?? cluster.nextDeadline, cluster.nextDeadline) }

    func timeElapsed() {
        if let due = room.relay.nextDeadline, due <= room.now { room.relay.timeElapsed(at: room.now) }
        if cluster.nextDeadline <= room.now { cluster.timeElapsed(&room.relay, at: room.now) }
        settle()
    }

    func settle() {
        cluster.update(from: &room.relay, at: room.now)
        room.flush()
        while let change = cluster.nextSubscription() {
            switch change {
            case .subscribe(let subject): subjects.insert(subject)
            case .unsubscribe(let subject): subjects.remove(subject)
            }
        }
        while let message = cluster.nextMessage() { published.append(message) }
    }

    /// The media packets that a member has heard.
    func packets(_ endpoint: Endpoint) -> [[UInt8]] { (heard[endpoint] ?? []).filter { $0[0] >= 128 } }
}

/// Relays that share a simulated NATS, on one clock. Everything follows from the seed.
final class SimulatedCluster {
    let key: ClusterKey
    let channels: [ChannelKeys]
    private(set) var now = Instant.start
    /// The relays by number; nil for one that was killed.
    private(set) var nodes: [ClusterNode?] = []
    var randomness: SeededRandom
    /// The time that a message takes, least and most.
    var delay: ClosedRange<Int> = 200...400
    /// The share of messages that are lost.
    var loss = 0.0
    /// Pairs of relays between which nothing is passed on.
    var partitions: Set<Set<Int>> = []
    /// The kinds of messages that an attacker keeps back; nil if there is none.
    var heldKinds: Set<UInt8>?
    private var held: [InFlight] = []
    /// Every message, in the order in which it was published.
    private(set) var log: [(from: Int, message: ClusterMessage)] = []
    var logs = true
    private var inFlight: [InFlight] = []
    /// The time at which the last message from one relay to another arrives.
    private var arrivals: [[Int]: Instant] = [:]

    private struct InFlight {
        var due: Instant
        var to: Int
        var message: ClusterMessage
    }

    init(_ count: Int, _ channels: [ChannelKeys], seed: UInt64 = 1) {
        randomness = SeededRandom(seed: seed)
        key = ClusterKey(using: &randomness)
        self.channels = channels
        for _ in 0..<count { start() }
    }

    /// Starts one more relay, or relay `number` again.
    @discardableResult
    func start(_ number: Int? = nil) -> ClusterNode {
        let number = number ?? nodes.count
        let node = ClusterNode(number, key, channels, at: now, seed: randomness.next())
        if number == nodes.count { nodes.append(node) } else { nodes[number] = node }
        return node
    }

    /// Ends a relay without a word, as SIGKILL does.
    func kill(_ number: Int) {
        nodes[number] = nil
        inFlight.removeAll { $0.to == number }
    }

    /// Returns a cluster in which Anna is in the channel at relay 0, and Ben at relay 1.
    static func withTwoMembers(
        relays count: Int, of channel: ChannelKeys
    ) -> (cluster: SimulatedCluster, anna: SimulatedMember, ben: SimulatedMember) {
        let cluster = SimulatedCluster(count, [channel])
        let members = (0...1).map { SimulatedMember(channel, .talk, at: .host($0 + 1)) }
        cluster.run(.seconds(1))
        for (number, member) in members.enumerated() { member.join(cluster.node(number).room) }
        cluster.run(.milliseconds(200))
        return (cluster, members[0], members[1])
    }

    func node(_ number: Int) -> ClusterNode { nodes[number]! }

    func run(_ duration: Duration) {
        let end = now + duration
        publish()
        while let next = nextMoment, next <= end {
            now = max(now, next)
            for case .some(let node) in nodes { node.room.now = now }
            while let first = inFlight.first, first.due <= now {
                inFlight.removeFirst()
                if let node = nodes[first.to], node.subjects.contains(first.message.subject) {
                    node.arrived(first.message)
                }
            }
            for case .some(let node) in nodes where node.deadline <= now { node.timeElapsed() }
            publish()
        }
        now = end
        for case .some(let node) in nodes { node.room.now = now }
    }

    private var nextMoment: Instant? {
        var next = inFlight.first?.due
        for case .some(let node) in nodes { next = min(next ?? node.deadline, node.deadline) }
        return next
    }

    private func publish() {
        for case .some(let node) in nodes {
            for message in node.published {
                if logs { log.append((node.number, message)) }
                for other in nodes.indices where other != node.number && nodes[other] != nil {
                    send(message, from: node.number, to: other)
                }
            }
            node.published = []
        }
    }

    private func send(_ message: ClusterMessage, from: Int, to other: Int) {
        let delay = Int.random(in: delay, using: &randomness)
        let isLost = loss > 0 && randomness.unit() < loss
        if isLost || partitions.contains([from, other]) { return }
        if heldKinds?.contains(message.bytes[1]) ?? false {
            held.append(InFlight(due: now, to: other, message: message))
            return
        }
        // NATS keeps the order of the messages of one relay to another.
        let last = arrivals[[from, other]] ?? now
        let due = max(now + .microseconds(delay), last)
        arrivals[[from, other]] = due
        inject(message, to: other, after: due - now)
    }

    /// Lets a message arrive at a relay, as any program on NATS could.
    func inject(_ message: ClusterMessage, to number: Int, after delay: Duration = .zero) {
        let due = now + delay
        let place = inFlight.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        inFlight.insert(InFlight(due: due, to: number, message: message), at: place)
    }

    /// Passes on what was kept back, in its order.
    func release() {
        heldKinds = nil
        for message in held { inject(message.message, to: message.to) }
        held = []
    }

    /// The kinds of the messages that a relay has published since `start`, with their numbers.
    func kinds(of number: Int, since start: Int = 0) -> [UInt8: Int] {
        log[start...].filter { $0.from == number }.reduce(into: [:]) { $0[$1.message.bytes[1], default: 0] += 1 }
    }
}
