internal import CShout
internal import Glibc
internal import TenfourClocks
internal import TenfourPacing
internal import TenfourSystem

/// The work of a feed's thread: it connects, sends, and connects again after a pause.
struct FeedRun {
    private let settings: IcecastSettings
    private let shared: Locked<IcecastFeed.Shared>
    private let wakeup: WakeupPipe
    private let changed: @Sendable (IcecastStatus) -> Void
    private var backoff = Backoff(first: .seconds(1), longest: .seconds(60), spread: 0.8...1.2)

    /// The time within which a server must accept the feed.
    private static let loginTime = Duration.seconds(10)
    /// The number of bytes beyond the kernel's buffer at which a server takes too little.
    private static let maximumQueuedByteCount = 64 << 10
    /// The time for which a feed must have lasted, to connect again without a growing pause.
    private static let steadyTime = Duration.seconds(30)

    init(
        _ settings: IcecastSettings, _ shared: Locked<IcecastFeed.Shared>, _ wakeup: WakeupPipe,
        _ changed: @escaping @Sendable (IcecastStatus) -> Void
    ) {
        (self.settings, self.shared, self.wakeup, self.changed) = (settings, shared, wakeup, changed)
    }

    mutating func untilStopped() {
        var generator = SystemRandomNumberGenerator()
        while !isStopping {
            let start = ContinuousClock.now
            let failure = feed()
            guard let failure, !isStopping else { break }
            report { status in
                status.isConnected = false
                status.lastFailure = failure
                status.failures[failure, default: 0] += 1
            }
            if failure == .ended || failure == .stalled, ContinuousClock.now - start > Self.steadyTime {
                backoff.succeeded()
            }
            rest(for: backoff.next(using: &generator))
        }
        report { $0.isConnected = false }
    }

    /// Feeds until the connection fails, and returns the reason; nil if the feed was stopped.
    private func feed() -> IcecastFailure? {
        guard ShoutConnection.hasDescriptor else { return .tooManyOpenFiles }
        guard let connection = ShoutConnection(settings) else { return .other }
        let deadline = ContinuousClock.now + Self.loginTime
        while true {
            if isStopping { return nil }
            let state = connection.step()
            if case .failed(let code) = state { return failure(code) }
            if state == .connected { break }
            if ContinuousClock.now > deadline { return .silent }
            usleep(20_000)
        }
        // Begins at the newest page: pages that have waited would delay all listeners for ever.
        shared.withLock { shared in shared.status.droppedByteCount += shared.pages.removeAll() }
        report { status in
            status.isConnected = true
            status.lastFailure = nil
            status.connectedCount += 1
        }
        return send(on: connection)
    }

    private func send(on connection: borrowing ShoutConnection) -> IcecastFailure? {
        var header: [UInt8] = []
        while true {
            let (isStopping, wanted, pages) = shared.withLock { shared in
                (shared.isStopping, shared.header, shared.header.isEmpty ? [] : shared.pages.takeAll())
            }
            if isStopping { return nil }
            // Sends the header pages first, and again when another stream has begun.
            let bytes = wanted == header ? pages : wanted + pages
            header = wanted
            if !bytes.isEmpty {
                guard connection.send(bytes) else { return .ended }
                shared.withLock { $0.status.sentByteCount += bytes.count }
            }
            guard connection.step() == .connected else { return .ended }
            if connection.queuedByteCount > Self.maximumQueuedByteCount { return .stalled }
            wakeup.wait(atMost: 1_000)
        }
    }

    private func failure(_ code: Int32) -> IcecastFailure {
        switch code {
        case SHOUTERR_NOCONNECT, SHOUTERR_SOCKET: .unreachable
        case SHOUTERR_NOLOGIN: MountProbe.isOccupied(settings) ? .mountInUse : .password
        case SHOUTERR_NOTLS, SHOUTERR_TLSBADCERT: .encryption
        default: .other
        }
    }

    private var isStopping: Bool { shared.withLock(\.isStopping) }

    /// Changes the status, and reports it if its sentence is another one: not at each attempt that fails as the last.
    private func report(_ change: (inout IcecastStatus) -> Void) {
        let (before, after) = shared.withLock { shared in
            let before = shared.status
            change(&shared.status)
            return (before, shared.status)
        }
        if after.sentence != before.sentence { changed(after) }
    }

    /// Waits for the time, or until the feed is stopped. Pages that arrive meanwhile wait in their bounded queue.
    private func rest(for pause: Duration) {
        let end = ContinuousClock.now + pause
        while !isStopping, ContinuousClock.now < end {
            wakeup.wait(atMost: PollTimeout.milliseconds(in: end - ContinuousClock.now, atMost: 1_000))
        }
    }
}
