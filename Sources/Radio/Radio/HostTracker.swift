internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourSession
internal import TenfourSystem
internal import TenfourUV

/// Looks up a host name again while no datagram arrives from its known address. Use it on the network thread only.
///
/// Each lookup has its own thread, because it blocks as long as the system waits for its name server. The end of the
/// session does not wait for this thread.
final class HostTracker {
    private let host: String
    private let port: UInt16
    private let resolve: Resolve
    private let lookup = Locked(LookupState.idle)
    private(set) var lastLookup: Instant
    private var backoff: Backoff
    /// The time from the last lookup to the next one.
    private var pause: Duration

    typealias Resolve = @Sendable (_ host: String, _ port: UInt16) -> [Endpoint]?

    private enum LookupState: Sendable {
        case idle
        case pending
        case found([Endpoint])
    }

    /// `now` is the time of the last lookup. The next lookup starts after `interval`. Each later pause is twice as long
    /// as the pause before it, and at most `longestInterval`.
    init(
        _ host: String, port: UInt16, every interval: Duration, atMost longestInterval: Duration, at now: Instant,
        resolve: @escaping Resolve = HostTracker.system
    ) {
        self.host = host
        self.port = port
        self.resolve = resolve
        backoff = Backoff(first: interval, longest: longestInterval)
        pause = backoff.next()
        lastLookup = now
    }

    /// The system's resolver.
    static let system: Resolve = { try? Resolver.resolve($0, port: $1) }

    /// Starts a lookup if one is due. Call this repeatedly. `isReached` states whether the host answers at its known
    /// address. Returns the addresses that a lookup has found since the last call; nil if there are none.
    func poll(isReached: Bool, at now: Instant) -> [Endpoint]? {
        if isReached {
            backoff.succeeded()
            pause = backoff.next()
        }
        let known = lookup.withLock { lookup in
            let known = lookup
            if case .found = known { lookup = .idle }
            return known
        }
        switch known {
        case .found(let endpoints): return endpoints.isEmpty ? nil : endpoints
        case .pending: return nil
        case .idle:
            if !isReached, now - lastLookup >= pause { startLookup(at: now) }
            return nil
        }
    }

    /// Whether no lookup is running.
    var isResponsive: Bool {
        lookup.withLock { if case .pending = $0 { false } else { true } }
    }

    private func startLookup(at now: Instant) {
        lastLookup = now
        pause = backoff.next()
        lookup.withLock { $0 = .pending }
        do throws(ThreadError) {
            try WorkerThread.detached { [host, port, resolve, lookup] in
                let found = resolve(host, port) ?? []
                lookup.withLock { $0 = .found(found) }
            }
        } catch {
            lookup.withLock { $0 = .idle }
        }
    }
}

/// Follows a peer whose address changes, such as a home router that gets another address each night. Use it on the
/// network thread only.
final class PartnerTracker {
    private let tracker: HostTracker
    private let interval: Duration
    /// The time of the last datagram from the peer.
    private var lastReceived: Instant

    /// The default time without a datagram after which the name is looked up: 10 s. Both ends send reports about every
    /// 5 s, whether they talk or not.
    static let interval = Duration.seconds(10)
    /// The longest time between two lookups.
    static let longestInterval = Duration.seconds(60)

    init(
        _ host: String, port: UInt16, every interval: Duration = PartnerTracker.interval,
        resolve: @escaping HostTracker.Resolve = HostTracker.system, at now: Instant
    ) {
        self.interval = interval
        tracker = HostTracker(
            host, port: port, every: interval, atMost: max(Self.longestInterval, interval), at: now, resolve: resolve)
        lastReceived = now
    }

    /// Records that a datagram has arrived from the peer.
    func recordReception(at now: Instant) { lastReceived = now }

    /// Looks up the peer's name if a lookup is due. Call this repeatedly. Returns new addresses; nil if there are none.
    func poll(at now: Instant) -> [Endpoint]? { tracker.poll(isReached: now - lastReceived < interval, at: now) }
}
