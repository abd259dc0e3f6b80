internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// JOINs that wait for the check of their proof. They wait because wrong proofs may take only a tenth of the processing
/// time, and have used it up. Networks (an IPv4 /24 or an IPv6 /48 each) take turns, so that many JOINs from one
/// network do not delay the JOINs from other networks.
struct ProofQueue: Sendable {
    /// The networks that have waiting JOINs, in the order of their turns. Each network's JOINs are ordered oldest
    /// first.
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

    /// The maximum number of networks that can have waiting JOINs. JOINs from further networks are dropped.
    static let mostNetworks = 256
    static let mostOfNetwork = 8
    /// The longest time that a JOIN waits; after this time it is dropped. The member repeats an unanswered JOIN, and
    /// later starts a new handshake.
    static let memory = Duration.seconds(2)
    /// The assumed duration of checking one proof, used until the duration is measured.
    static let usualProofTime = Duration.microseconds(10)
    /// The number of proofs that are checked in one batch.
    static let batch = 16

    /// Returns the rate limit of wrong proofs, if checking one proof takes `proofTime`. Wrong proofs may take a tenth
    /// of the processing time, with a burst of 5 ms or of one batch, whichever is more.
    static func price(proofTime: Duration) -> CellRateLimit.Price {
        let seconds = min(max(proofTime / .seconds(1), 1e-6), 1e-3)
        return CellRateLimit.Price(perSecond: 0.1 / seconds, most: max(0.005 / seconds, Double(batch)))
    }

    var isEmpty: Bool { networks.isEmpty }

    /// Adds a JOIN, unless the same JOIN waits already. Returns false if too many JOINs of its network or too many
    /// networks wait.
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

    /// Removes and returns the oldest JOIN of the network whose turn it is, and moves this network to the end of the
    /// order.
    mutating func next() -> Waiting? {
        guard var network = networks.first else { return nil }
        networks.removeFirst()
        let next = network.waiting.removeFirst()
        if !network.waiting.isEmpty { networks.append(network) }
        return next
    }
}

/// Decides when the proof of a JOIN is checked. It is checked immediately, unless wrong proofs have used up the tenth
/// of the processing time that they may take; in this case the JOIN waits in a `ProofQueue`.
struct ProofScheduler: Sendable {
    private var queue = ProofQueue()
    private var failures = CellRateLimit()
    private var price = ProofQueue.price(proofTime: ProofQueue.usualProofTime)

    /// Sets the CPU time that this machine needs to check and refuse a JOIN with a wrong proof.
    mutating func setProofTime(_ time: Duration) { price = ProofQueue.price(proofTime: time) }

    /// Whether a JOIN that arrives now must be queued.
    func mustWait(at now: Instant) -> Bool { !queue.isEmpty || !failures.allows(price, at: now) }

    /// Queues a JOIN. Returns false if there is no room for it.
    mutating func insert(_ join: Join, from sender: Endpoint, at now: Instant) -> Bool {
        queue.insert(join, from: sender, at: now)
    }

    mutating func proofFailed(at now: Instant) { _ = failures.spend(price, at: now) }

    /// The time at which a batch of queued JOINs can be checked; nil if none is queued.
    var deadline: Instant? { queue.isEmpty ? nil : failures.moment(for: ProofQueue.batch, of: price) }

    /// Removes and returns the next queued JOIN; nil if it may not be checked yet.
    mutating func next(at now: Instant) -> ProofQueue.Waiting? { failures.allows(price, at: now) ? queue.next() : nil }
}
