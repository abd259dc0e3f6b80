internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourSession
internal import TenfourSystem
internal import TenfourUV

/// An additional sending thread: it serves a part of the members of every channel, with its own event loop and a socket
/// on the relay's port.
///
/// Call its functions on the relay's thread only.
final class FanOutWorker {
    private let body: FanOutThreadBody
    private let packets: RingBufferProducer<QueuedPacket>
    private var thread: WorkerThread?

    /// The maximum number of packets that are queued for the thread; further packets are dropped. In 20 ms, fewer
    /// packets arrive than this maximum.
    private static let packetCapacity = 256

    /// Opens the event loop and a socket at `endpoint`, the address and port of the relay. `start` starts the thread.
    init(joining endpoint: Endpoint, options: SocketOptions) throws(NetworkError) {
        let ring = RingBuffer(capacity: Self.packetCapacity, filler: QueuedPacket())
        body = try FanOutThreadBody(endpoint, options, ring.consumer)
        packets = ring.producer
    }

    func start() throws(NetworkError) {
        do throws(ThreadError) {
            thread = try WorkerThread { [body] in body.run() }
        } catch {
            throw NetworkError(error)
        }
    }

    /// Stops sending, and returns when the thread has ended.
    func stop() {
        body.isStopping.store(true, ordering: .relaxed)
        body.wakeup.signal()
        thread?.join()
        thread = nil
    }

    func apply(_ change: MemberChange) {
        body.changes.withLock { $0.append(change) }
        body.wakeup.signal()
    }

    /// Queues a packet for the members of `channel` except the member with the number `except`. `stream` is the number
    /// of the packet's stream: if the network is congested, a packet of a stream replaces the previous one. Returns
    /// false, and drops the packet, if the queue is full.
    func send(_ datagram: Span<UInt8>, channel: Int, stream: Int, except: Int?) -> Bool {
        let isTaken = packets.push { $0.fill(datagram, channel: channel, stream: stream, except: except) }
        body.wakeup.signal()
        return isTaken
    }

    /// The statistics of a channel on the worker's thread, at most one second old.
    func statistics(of channel: Int) -> FanOutStatistics {
        body.statistics.withLock { $0[channel] } ?? FanOutStatistics()
    }

    /// The number of failed sends for each `errno`, at most one second old.
    var failures: [Int32: Int] { body.failures.withLock { $0 } }
}

/// A packet in the queue of a worker.
private struct QueuedPacket: BitwiseCopyable, Sendable {
    private var byteCount = 0
    private var channel = 0
    private var stream = 0
    private var except = -1
    private var bytes = InlineArray<1_500, UInt8>(repeating: 0)

    mutating func fill(_ datagram: Span<UInt8>, channel: Int, stream: Int, except: Int?) {
        byteCount = min(datagram.count, bytes.count)
        (self.channel, self.stream, self.except) = (channel, stream, except ?? -1)
        for index in 0..<byteCount { bytes[index] = datagram[index] }
    }

    func send(from shard: FanOutShard) {
        shard.send(
            bytes.span.extracting(..<byteCount), channel: channel, stream: stream, except: except < 0 ? nil : except)
    }
}

/// The state and functions of a worker's thread. Created on the relay's thread. Both threads use `wakeup`,
/// `isStopping`, `changes`, `statistics` and `failures`; only the worker's thread uses the other properties.
@safe private final class FanOutThreadBody: @unchecked Sendable {
    /// Wakes the worker's thread. Shared by both threads, as are `isStopping`, `changes`, `statistics` and `failures`.
    let wakeup: Wakeup
    let isStopping = Atomic(false)
    let changes = Locked<[MemberChange]>([])
    let statistics = Locked<[Int: FanOutStatistics]>([:])
    let failures = Locked<[Int32: Int]>([:])

    private let loop: EventLoop
    private let socket: UDPSocket
    private var shard: FanOutShard
    private let packets: RingBufferConsumer<QueuedPacket>
    private var timer: LoopTimer?

    init(
        _ endpoint: Endpoint, _ options: SocketOptions, _ packets: consuming RingBufferConsumer<QueuedPacket>
    ) throws(NetworkError) {
        let loop = try EventLoop()
        self.loop = loop
        socket = try UDPSocket(on: loop, bindingTo: endpoint, options: options)
        shard = try FanOutShard(sending: socket, on: loop)
        let target = CallbackTarget<FanOutThreadBody>()
        wakeup = try loop.makeWakeup { target.target?.wake() }
        self.packets = packets
        timer = try loop.makeTimer { target.target?.publish() }
        target.target = self
    }

    func run() {
        // Reads only to collect ICMP errors of undeliverable packets, because the socket receives no packets here.
        socket.receive { _, _, _ in }
        publish()
        loop.run()
        publish()
        shard.close()
        loop.closeAll()
    }

    fileprivate func wake() {
        let due = changes.withLock { changes in
            let due = changes
            changes.removeAll(keepingCapacity: due.count < 64)
            return due
        }
        for change in due { shard.apply(change) }
        while packets.pop({ $0.send(from: shard) }) {}
        if isStopping.load(ordering: .relaxed) { loop.stop() }
    }

    fileprivate func publish() {
        let current = shard.statistics
        statistics.withLock { $0 = current }
        let refused = socket.statistics.failures
        failures.withLock { $0 = refused }
        timer?.arm(at: loop.now + .seconds(1))
    }
}
