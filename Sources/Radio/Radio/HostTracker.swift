internal import TenfourAudioCore
internal import TenfourRings
internal import TenfourSession
internal import TenfourThreads
internal import TenfourUV

/// Asks again what a host's name stands for, while nothing comes from where it was. Network thread.
///
/// The asking has a thread of its own: it lasts as long as the system waits for its name server, and the session's end does
/// not wait for that.
final class HostTracker {
    private let host: String
    private let port: UInt16
    private let interval: Duration
    private let longestInterval: Duration
    private let resolve: Resolve
    private let answer = Locked(Answer.none)
    private(set) var lastAsked: Instant
    /// The time from one question to the next.
    private var pause: Duration

    typealias Resolve = @Sendable (_ host: String, _ port: UInt16) -> [Endpoint]?

    private enum Answer: Sendable {
        case none
        case awaited
        case come([Endpoint])
    }

    /// `now` is when it was asked last. It is asked again after `interval`, then after twice as long each time, at most
    /// `longestInterval`.
    init(
        _ host: String, port: UInt16, every interval: Duration, atMost longestInterval: Duration, at now: Instant,
        resolve: @escaping Resolve = HostTracker.system
    ) {
        self.host = host
        self.port = port
        self.interval = interval
        self.longestInterval = longestInterval
        self.resolve = resolve
        pause = interval
        lastAsked = now
    }

    /// As the system resolves names.
    static let system: Resolve = { try? Resolver.resolve($0, port: $1) }

    /// To be called now and then. `isReached` where the host is known to be where it was. Returns what was found since, if
    /// anything was.
    func look(isReached: Bool, at now: Instant) -> [Endpoint]? {
        if isReached { pause = interval }
        let known = answer.withLock { answer in
            let known = answer
            if case .come = known { answer = .none }
            return known
        }
        switch known {
        case .come(let endpoints): return endpoints.isEmpty ? nil : endpoints
        case .awaited: return nil
        case .none:
            if !isReached, now - lastAsked >= pause { ask(at: now) }
            return nil
        }
    }

    /// Whether no answer is awaited.
    var isResponsive: Bool {
        answer.withLock { if case .awaited = $0 { false } else { true } }
    }

    private func ask(at now: Instant) {
        lastAsked = now
        pause = min(pause * 2, longestInterval)
        answer.withLock { $0 = .awaited }
        do throws(ThreadError) {
            try WorkerThread.detached { [host, port, resolve, answer] in
                let found = resolve(host, port) ?? []
                answer.withLock { $0 = .come(found) }
            }
        } catch {
            answer.withLock { $0 = .none }
        }
    }
}

/// Follows a partner whose address changes, as a machine at home does whose provider gives it another each night. Network thread.
final class PartnerTracker {
    private let finder: HostTracker
    private let interval: Duration
    /// When something last came.
    private var lastHeard: Instant

    /// Default: 10 s. Both ends report about every 5 s, whether they speak or not.
    static let interval = Duration.seconds(10)
    static let longestInterval = Duration.seconds(60)

    init(
        _ host: String, port: UInt16, every interval: Duration = PartnerTracker.interval,
        resolve: @escaping HostTracker.Resolve = HostTracker.system, at now: Instant
    ) {
        self.interval = interval
        finder = HostTracker(
            host, port: port, every: interval, atMost: max(Self.longestInterval, interval), at: now, resolve: resolve)
        lastHeard = now
    }

    /// Something came from the partner.
    func heard(at now: Instant) { lastHeard = now }

    /// To be called now and then. Returns where the partner's name leads to, where that was asked.
    func look(at now: Instant) -> [Endpoint]? { finder.look(isReached: now - lastHeard < interval, at: now) }
}
