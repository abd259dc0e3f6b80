internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// JOINs that wait to be proved, because proofs that failed have taken their share of the time. Networks take turns, an IPv4
/// /24 or an IPv6 /48 each: however many come from one, a newcomer from another is next.
struct ProofQueue: Sendable {
    /// The network whose turn it is comes first. In each the oldest JOIN comes first.
    private var networks: [Network] = []

    private struct Network: Sendable {
        let prefix: UInt64
        var waiting: [Waiting]
    }

    struct Waiting: Sendable {
        let join: Join
        let sender: Endpoint
        let arrival: Instant
    }

    /// The most networks that wait at a time.
    static let mostNetworks = 256
    static let mostOfNetwork = 8
    /// How long a JOIN waits. Its member repeats it, and then begins anew.
    static let memory = Duration.seconds(2)
    /// The proof time before it was measured.
    static let usualProofTime = Duration.microseconds(10)
    /// How many proofs are made at a time.
    static let batch = 16

    /// Failed proofs of so long each take a tenth of the time, and 5 ms at once.
    static func price(proofTime: Duration) -> CellRateLimit.Price {
        let seconds = min(max(proofTime / .seconds(1), 1e-6), 1e-3)
        return CellRateLimit.Price(perSecond: 0.1 / seconds, most: max(0.005 / seconds, Double(batch)))
    }

    var isEmpty: Bool { networks.isEmpty }

    /// False where too many of its network wait, or too many networks. One that waits already waits once.
    mutating func insert(_ join: Join, from sender: Endpoint, at now: Instant) -> Bool {
        let waiting = Waiting(join: join, sender: sender, arrival: now)
        guard let index = networks.firstIndex(where: { $0.prefix == sender.address.networkPrefix }) else {
            guard networks.count < Self.mostNetworks else { return false }
            networks.append(Network(prefix: sender.address.networkPrefix, waiting: [waiting]))
            return true
        }
        if networks[index].waiting.contains(where: { $0.sender == sender && $0.join == join }) { return true }
        guard networks[index].waiting.count < Self.mostOfNetwork else { return false }
        networks[index].waiting.append(waiting)
        return true
    }

    /// The next one of the network whose turn it is; its next turn comes after those of all others.
    mutating func next() -> Waiting? {
        guard var network = networks.first else { return nil }
        networks.removeFirst()
        let next = network.waiting.removeFirst()
        if !network.waiting.isEmpty { networks.append(network) }
        return next
    }
}

/// Decides when JOINs are proved: at once, until failed proofs have taken their share of the time; then in turn.
struct ProofScheduler: Sendable {
    private var queue = ProofQueue()
    private var failures = CellRateLimit()
    private var price = ProofQueue.price(proofTime: ProofQueue.usualProofTime)

    /// Takes how long a failed proof takes.
    mutating func setProofTime(_ time: Duration) { price = ProofQueue.price(proofTime: time) }

    /// Whether a JOIN that comes now has to wait.
    func mustWait(at now: Instant) -> Bool { !queue.isEmpty || !failures.allows(price, at: now) }

    /// Lets a JOIN wait. Returns false if there is no room for it.
    mutating func insert(_ join: Join, from sender: Endpoint, at now: Instant) -> Bool {
        queue.insert(join, from: sender, at: now)
    }

    mutating func proofFailed(at now: Instant) { _ = failures.spend(price, at: now) }

    /// When some of the waiting JOINs can be proved; nil while none waits.
    var deadline: Instant? { queue.isEmpty ? nil : failures.moment(for: ProofQueue.batch, of: price) }

    /// Removes the JOIN that is next, if it may be proved now.
    mutating func next(at now: Instant) -> ProofQueue.Waiting? { failures.allows(price, at: now) ? queue.next() : nil }
}

extension Relay {
    /// Proves JOINs that wait, as far as failed proofs may take time.
    mutating func proveWaiting(at now: Instant) {
        guard let due = proofs.deadline, due <= now else { return }
        while let next = proofs.next(at: now) {
            guard hasRoomForStrangers, now - next.arrival <= ProofQueue.memory else {
                count(.discarded(.tooManyFailures))
                continue
            }
            spentCookies.turn(to: now)
            // It may have come a second time, and the first have been proved.
            guard !spentCookies.contains(next.join.cookie) else { continue }
            count(prove(next.join, from: next.sender, at: now))
        }
    }

    /// Proves a JOIN wrong that nobody has sent, and says so to nobody: for those who measure how long that takes.
    package func practiseProof(_ datagram: Span<UInt8>) {
        guard case .join(let join)? = try? ControlPacket(parsing: datagram), !join.isProved(by: dummyKey) else {
            return
        }
        let refusal = Refusal(of: join, for: .unproved, key: dummyKey)
        _ = [UInt8](capacity: 40) { refusal.write(into: &$0) }
    }
}
