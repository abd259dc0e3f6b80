internal import Glibc
public import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourRelayCore
public import TenfourSession
internal import TenfourSystem
public import TenfourUV

/// A running relay: members join at one port, and packets are sent from that port. In addition it forwards plain RTP
/// between the addresses that the operator configured.
///
/// Create it on one thread and run it on the same or another; `stop`, `reload` and `status` may be called on any
/// thread.
@safe public final class RelayServer: @unchecked Sendable {
    /// The address and port at which members join. If port 0 was requested, the system has chosen the port.
    public let localEndpoint: Endpoint

    private let loop: EventLoop
    private let socket: UDPSocket
    private let talkerSockets: TalkerSockets
    private let plain: PlainChannels
    private var shardedFanOut: ShardedFanOut
    private var relay: Relay
    /// The connection to the other relays of a cluster; nil for a relay on its own.
    private var cluster: ClusterLink?
    /// The files of the channels that have an owner; nil if no folder is named.
    private let folder: ManagedChannelFolder?
    private let reader = ConfigurationReader()
    /// The settings whose changes take effect only after a restart.
    private let fixed: RelayServerConfiguration.Fixed
    private let notices: (RelayNotice) -> Void
    private let openings: [RelayNotice]
    private var drops = DropNotices()
    private let start: Instant
    private var announcements = WaitingAnnouncements()
    private var relayTimer: LoopTimer?
    private var announcementTimer: LoopTimer?
    private var pollTimer: LoopTimer?
    private var endTimer: LoopTimer?
    private var isEnding = false
    private let datagram: UnsafeMutableBufferPointer<UInt8>
    private let wakeup: Wakeup
    private let shared: Locked<Shared>

    /// Requests from other threads, and the status that other threads read.
    private struct Shared {
        var stops = false
        var reload: LoadedConfiguration?
        var otherListeners: [String: Int] = [:]
        var status: RelayServerStatus
        /// The time at which the loop stored `status`; nil before the first time.
        var publication: Instant?
        /// The thread of the loop; nil while `run` is not active.
        var thread: pthread_t?
    }

    /// Opens all sockets that the configuration names, and throws if one cannot be opened. `notices` is called on the
    /// thread that calls `run`.
    public init(
        _ configuration: RelayServerConfiguration, notices: @escaping (RelayNotice) -> Void = { _ in }
    ) throws(NetworkError) {
        precondition(1...64 ~= configuration.workers, "a relay sends from 1 to 64 threads")
        let folder = configuration.stateFolder.map { ManagedChannelFolder($0) }
        let loaded = LoadedConfiguration(configuration, from: folder)
        self.folder = folder
        let loop = try EventLoop()
        let target = CallbackTarget<RelayServer>()
        self.loop = loop
        fixed = configuration.fixed
        self.notices = notices
        start = loop.now
        var options = Self.options
        options.portSharing = .offered
        socket = try UDPSocket(on: loop, bindingTo: configuration.bind, options: options)
        localEndpoint = socket.localEndpoint
        options.portSharing = .joined
        options.sendQueueCapacity = 1
        var workers: [FanOutWorker] = []
        for _ in 1..<configuration.workers {
            workers.append(try FanOutWorker(joining: localEndpoint, options: options))
        }
        var shardedFanOut = ShardedFanOut(try FanOutShard(sending: socket, on: loop), workers)
        talkerSockets = try TalkerSockets(joining: localEndpoint, on: loop) {
            target.target?.receive($0, from: $1, at: $2)
        }
        plain = PlainChannels(on: loop, sendingFrom: localEndpoint.address)
        let openings = plain.set(configuration.plain, shardedFanOut: &shardedFanOut) { packet, stream, channel in
            target.target?.shardedFanOut.send(packet, channel: channel, stream: stream, except: nil)
        }
        for case .inputRefused(_, _, let error) in openings { throw error }
        self.openings = openings + loaded.notices
        self.shardedFanOut = shardedFanOut
        var generator = CSPRNG()
        relay = Relay(
            configuration.relay, stores: loaded.stores, address: PeerAddress(localEndpoint), at: start,
            clock: Self.clock, using: &generator)
        relay.failedProofs(take: JoinProofCost.measured(by: relay))
        if let wanted = configuration.cluster {
            cluster = try ClusterLink(
                wanted, for: &relay, on: loop, received: { target.target?.receiveFromCluster() },
                elapsed: { target.target?.clusterTimeElapsed() })
        }
        wakeup = try loop.makeWakeup { target.target?.wake() }
        relayTimer = try loop.makeTimer { target.target?.timeElapsed() }
        announcementTimer = try loop.makeTimer { target.target?.sendAnnouncements() }
        pollTimer = try loop.makeTimer { target.target?.poll() }
        endTimer = try loop.makeTimer { target.target?.loop.stop() }
        shared = Locked(Shared(status: RelayServerStatus(listening: socket.localEndpoint)))
        // Allocates the buffer after all calls that can throw, because a failed `init` does not call `deinit`.
        unsafe datagram = .allocate(capacity: longestDatagram)
        target.target = self
    }

    deinit { unsafe datagram.deallocate() }

    private static var options: SocketOptions {
        var options = SocketOptions()
        options.neverFragments = true
        options.receiveBufferSize = relayBufferByteCount
        options.sendBufferSize = relayBufferByteCount
        options.longestDatagram = longestDatagram
        options.sendQueueCapacity = 64
        return options
    }

    /// Runs the relay until `stop`, then sends GOODBYE to all members and returns. Call it only once.
    ///
    /// `started` is called before the first packet is handled, and may add handles to the loop: signals, a status
    /// socket.
    public func run(started: (EventLoop) throws(NetworkError) -> Void = { _ in }) throws(NetworkError) {
        shared.withLock { $0.thread = pthread_self() }
        defer { shared.withLock { $0.thread = nil } }
        defer { close() }
        try shardedFanOut.start()
        socket.receive { [unowned self] in receive($0, from: $1, at: $2) }
        socket.whenDrained { [unowned self] in drained() }
        socket.whenEmptied { [unowned self] in talkerSockets.sharedSocketIsEmpty() }
        try started(loop)
        // Posts the notices after signal handlers are installed, because a program that reads them may send a signal.
        for opening in [.listening(localEndpoint)] + openings { notices(opening) }
        poll()
        flush(at: loop.now)
        loop.run()
    }

    /// Makes `run` return soon. If `run` is called only later, it returns immediately.
    public func stop() {
        shared.withLock { $0.stops = true }
        wakeup.signal()
    }

    /// Applies `configuration` soon. Members of channels whose keys are unchanged stay. All other members, and the
    /// newest listeners beyond a lowered limit, are sent GOODBYE with the reason. The listening address and the number
    /// of threads do not change. Reads the files of channels that have an owner, on this thread.
    public func reload(_ configuration: RelayServerConfiguration) {
        let loaded = LoadedConfiguration(configuration, from: folder)
        shared.withLock { $0.reload = loaded }
        wakeup.signal()
    }

    /// Sets the numbers of listeners that members see in addition to the members of channels, by the channels' names.
    public func setOtherListeners(_ counts: [String: Int]) {
        shared.withLock { $0.otherListeners = counts }
        wakeup.signal()
    }

    /// A function that reads and returns a configuration, or returns nil if it cannot be read. The function is called
    /// on its own thread or, if no thread can be created, on the thread that calls `reload`.
    public typealias Reading = @Sendable () -> RelayServerConfiguration?

    /// Applies the configuration that `read` returns; changes nothing if `read` returns nil. Returns without waiting,
    /// because a file may be long and its disk slow. Only one such function runs at a time; of the functions that are
    /// passed meanwhile, only the last is called.
    public func reload(reading read: @escaping Reading) {
        reader.read(read) { [self] in reload($0) }
    }

    /// The current status on the thread of the loop; on other threads, a copy at most one second old.
    public var status: RelayServerStatus {
        let (isOwnThread, last) = shared.withLock { shared in
            (shared.thread == pthread_self(), shared.status)
        }
        return isOwnThread ? currentStatus : last
    }

    /// The time at which the relay's loop last published its status, by CLOCK_MONOTONIC; nil before the first time. A
    /// loop that works publishes it once per second.
    public var lastPublication: Instant? { shared.withLock(\.publication) }

    private static var clock: WallClock { WallClock(milliseconds: RealTimeClock.milliseconds) }
}

// MARK: On the thread of the loop

extension RelayServer {
    private func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        if case .forward(let content, let byteCount, let channel, let talker) = relay.receive(
            datagram, from: sender, at: now)
        {
            cluster?.forwarded(datagram.extracting(..<byteCount), in: channel, of: &relay, at: now)
            forward(content, datagram.extracting(..<byteCount), channel: channel, talker: talker, at: now)
        }
        flush(at: now)
    }

    /// Forwards what other relays have forwarded, to the members of this relay only.
    private func receiveFromCluster() {
        let now = loop.now
        cluster?.receive(into: &relay, at: now) { datagram, channel, stream in
            shardedFanOut.send(datagram, channel: channel.number, stream: stream, except: nil)
        }
        flush(at: now)
    }

    private func clusterTimeElapsed() {
        let now = loop.now
        cluster?.timeElapsed(&relay, at: now)
        flush(at: now)
    }

    private func forward(
        _ content: Relay.Forwarded, _ datagram: Span<UInt8>, channel: ChannelIndex, talker: MemberID, at now: Instant
    ) {
        switch content {
        case .media:
            shardedFanOut.send(
                datagram, channel: channel.number, stream: talker.number * 2, except: talker.number)
        case .announcement(let epoch):
            let isFirst = announcements.isEmpty
            if !announcements.insert(datagram, of: epoch, channel: channel, talker: talker) {
                announce(datagram, channel: channel, talker: talker)
            } else if isFirst {
                announcementTimer?.arm(at: now + WaitingAnnouncements.wait)
            }
        }
    }

    /// Sends an announcement under a stream number of its own. A busy socket keeps only the latest packet of each
    /// stream number, so the following media packet would replace the announcement.
    private func announce(_ announcement: Span<UInt8>, channel: ChannelIndex, talker: MemberID) {
        shardedFanOut.send(
            announcement, channel: channel.number, stream: talker.number * 2 + 1, except: talker.number)
    }

    private func sendAnnouncements() {
        announcements.removeAll { announce($0, channel: $1, talker: $2) }
    }

    private func timeElapsed() {
        let now = loop.now
        relay.timeElapsed(at: now)
        flush(at: now)
    }

    /// Called when the socket's queue is empty again: sends the datagrams that the relay has queued meanwhile.
    private func drained() {
        while sendNext() {}
        if isEnding, !socket.isQueueing { loop.stop() }
    }

    /// Sends the datagrams and applies the events of the relay, and sets its timer.
    private func flush(at now: Instant) {
        while sendNext() {}
        while let event = relay.nextEvent() {
            switch event {
            case .joined(let member, let channel, let endpoint):
                let key = relay.trailerKey(of: member)
                shardedFanOut.add(member.number, to: channel.number, at: endpoint, trailers: key)
            case .left(let member, let channel):
                announcements.forget(member)
                shardedFanOut.remove(member.number, from: channel.number)
            case .moved(let member, let channel, let endpoint):
                shardedFanOut.move(member.number, in: channel.number, to: endpoint)
            case .ended(let channel): shardedFanOut.end(channel.number)
            case .talking(let member, let endpoint): talkerSockets.open(for: member, at: endpoint)
            case .quiet(let member): talkerSockets.close(for: member)
            }
        }
        cluster?.flush(&relay, at: now)
        while let snapshot = relay.nextSnapshot(at: now) { folder?.write(snapshot) { [wakeup] in wakeup.signal() } }
        if let deadline = relay.nextDeadline { relayTimer?.arm(at: deadline) } else { relayTimer?.disarm() }
    }

    /// Sends one datagram of the relay. Returns false if there is none or the socket is busy. The datagrams of a busy
    /// socket stay in the relay's queue, which has room for GOODBYE to thousands of members.
    private func sendNext() -> Bool {
        if socket.isQueueing { return false }
        var buffer = unsafe OutputSpan(buffer: datagram, initializedCount: 0)
        let destination = relay.nextDatagram(into: &buffer)
        if let destination { socket.send(buffer.span, to: destination) }
        _ = unsafe buffer.finalize(for: datagram)
        return destination != nil
    }

    private func wake() {
        let (stops, reload, otherListeners) = shared.withLock { shared in
            defer { (shared.reload, shared.otherListeners) = (nil, [:]) }
            return (shared.stops, shared.reload, shared.otherListeners)
        }
        if let reload { change(to: reload) }
        takeWritten()
        for (name, count) in otherListeners { relay.setOtherListeners(count, of: name, at: loop.now) }
        if !otherListeners.isEmpty { flush(at: loop.now) }
        if stops { loop.stop() }
    }

    /// Takes note of the states of channels that are on disk now.
    private func takeWritten() {
        guard let written = folder?.takeWritten(), !written.isEmpty else { return }
        for file in written {
            relay.snapshotWritten(file.snapshot, isStored: file.isStored, at: loop.now)
            if let notice = file.notice { notices(notice) }
        }
        flush(at: loop.now)
    }

    private func change(to loaded: LoadedConfiguration) {
        let now = loop.now
        let new = loaded.configuration
        if new.fixed != fixed { notices(.waitsForRestart) }
        relay.reload(new.relay, stores: loaded.stores, at: now)
        // Whether stations can pair is part of what a proof costs.
        relay.failedProofs(take: JoinProofCost.measured(by: relay))
        cluster?.reconfigure(for: &relay, at: now)
        flush(at: now)
        let openings = plain.set(new.plain, shardedFanOut: &shardedFanOut) { [unowned self] packet, stream, channel in
            shardedFanOut.send(packet, channel: channel, stream: stream, except: nil)
        }
        publish()
        for notice in openings + loaded.notices { notices(notice) }
        notices(.reloaded)
    }

    /// Runs once per second: sets the clock, publishes the status, and reports dropped packets.
    private func poll() {
        let now = loop.now
        relay.setClock(Self.clock, at: now)
        let status = publish()
        if let news = drops.news(in: status, at: now) { notices(news) }
        while let news = cluster?.nextNotice(of: relay) { notices(news) }
        for news in plain.announce(at: now) { notices(news) }
        pollTimer?.arm(at: now + .seconds(1))
    }

    @discardableResult
    private func publish() -> RelayServerStatus {
        let status = currentStatus
        let now = loop.now
        shared.withLock { ($0.status, $0.publication) = (status, now) }
        return status
    }

    private var currentStatus: RelayServerStatus {
        var status = RelayServerStatus(listening: localEndpoint)
        status.uptime = loop.now - start
        status.workers = shardedFanOut.threadCount
        status.talkerSockets = talkerSockets.count
        status.relay = relay.status
        status.cluster = cluster?.status
        status.fanOuts = status.relay.channels.map { shardedFanOut.statistics(of: $0.number) }
        status.plain = plain.status(shardedFanOut)
        status.socket = socket.statistics
        status.socket.failures.merge(shardedFanOut.failures, uniquingKeysWith: +)
        status.socket.merge(talkerSockets.statistics)
        status.socket.merge(plain.statistics)
        return status
    }

    /// Sends GOODBYE to all members, for at most one second.
    private func sendGoodbyes() {
        relay.stop(at: loop.now)
        flush(at: loop.now)
        if !socket.isQueueing { return }
        isEnding = true
        endTimer?.arm(at: loop.now + .seconds(1))
        loop.run()
    }

    /// Writes the states of channels with an owner that are not on disk.
    private func storeManagedChannels() {
        // The states that changed while others were being written follow in the second round.
        for _ in 0..<2 {
            folder?.close()
            takeWritten()
        }
        folder?.close()
    }

    private func close() {
        sendGoodbyes()
        storeManagedChannels()
        cluster?.close(&relay, at: loop.now)
        shardedFanOut.close()
        publish()
        talkerSockets.closeAll()
        plain.close()
        loop.closeAll()
    }
}
