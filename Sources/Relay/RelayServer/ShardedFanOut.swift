internal import TenfourChannelKeys
internal import TenfourSession
internal import TenfourUV

/// The fan-out of all channels, distributed over the sending threads. The relay's own thread is one of the sending
/// threads.
struct ShardedFanOut: ~Copyable {
    private var own: FanOutShard
    private let workers: [FanOutWorker]
    /// The assignment of members to threads, by channel number; empty if there are no workers.
    private var shares: [Int: Shares] = [:]

    private struct Shares {
        /// The number of members on each sending thread, the relay's own thread first.
        var counts: [Int]
        /// The sending thread of each member, by member number; 0 is the relay's own thread.
        var threads: [Int: Int] = [:]
        /// The counts of packets that were dropped because the queue of a worker was full.
        var overrun = FanOutStatistics()
    }

    init(_ own: consuming FanOutShard, _ workers: [FanOutWorker]) {
        self.own = own
        self.workers = workers
    }

    var threadCount: Int { workers.count + 1 }

    func start() throws(NetworkError) {
        for worker in workers { try worker.start() }
    }

    mutating func add(_ member: Int, to channel: Int, at endpoint: Endpoint, trailers: TrailerKey? = nil) {
        let change = MemberChange.add(member: member, channel: channel, endpoint, trailers: trailers)
        if workers.isEmpty { return own.apply(change) }
        var shares = shares[channel] ?? Shares(counts: [Int](repeating: 0, count: workers.count + 1))
        // Each channel begins at another thread, so that the members of many small channels use all threads.
        let count = threadCount
        let start = (channel % count + count) % count
        let order = (start..<start + count).map { $0 % count }
        let thread = order.min { shares.counts[$0] < shares.counts[$1] } ?? 0
        shares.counts[thread] += 1
        shares.threads[member] = thread
        self.shares[channel] = shares
        apply(change, on: thread)
    }

    mutating func move(_ member: Int, in channel: Int, to endpoint: Endpoint) {
        apply(.move(member: member, channel: channel, endpoint), on: shares[channel]?.threads[member] ?? 0)
    }

    mutating func remove(_ member: Int, from channel: Int) {
        let thread = shares[channel]?.threads.removeValue(forKey: member)
        if let thread { shares[channel]?.counts[thread] -= 1 }
        apply(.remove(member: member, channel: channel), on: thread ?? 0)
    }

    /// Removes a channel and its statistics.
    mutating func end(_ channel: Int) {
        shares[channel] = nil
        for thread in 0...workers.count { apply(.end(channel: channel), on: thread) }
    }

    private mutating func apply(_ change: MemberChange, on thread: Int) {
        if thread == 0 { own.apply(change) } else { workers[thread - 1].apply(change) }
    }

    /// Sends a packet to all members of a channel except the member with the number `except`. `stream` is the number of
    /// the packet's stream: if the network is congested, a packet of a stream replaces the previous one. Queues the
    /// packet for the workers first, so that they send while this thread serves its own members.
    mutating func send(_ datagram: Span<UInt8>, channel: Int, stream: Int, except: Int?) {
        for (index, worker) in workers.enumerated() {
            guard let shares = shares[channel], shares.counts[index + 1] > 0 else { continue }
            if worker.send(datagram, channel: channel, stream: stream, except: except) { continue }
            let isExcepted = except.map { shares.threads[$0] == index + 1 } ?? false
            let lost = shares.counts[index + 1] - (isExcepted ? 1 : 0)
            self.shares[channel]?.overrun.offered += lost
            self.shares[channel]?.overrun.dropped += lost
        }
        own.send(datagram, channel: channel, stream: stream, except: except)
    }

    /// Returns the statistics of a channel, summed over all threads. The statistics of the worker threads are up to one
    /// second old.
    func statistics(of channel: Int) -> FanOutStatistics {
        var sum = own.statistics(of: channel) + (shares[channel]?.overrun ?? FanOutStatistics())
        for worker in workers { sum = sum + worker.statistics(of: channel) }
        return sum
    }

    /// The number of failed sends of the worker threads, for each `errno`.
    var failures: [Int32: Int] { workers.reduce(into: [:]) { $0.merge($1.failures, uniquingKeysWith: +) } }

    func close() {
        for worker in workers { worker.stop() }
        own.close()
    }
}
