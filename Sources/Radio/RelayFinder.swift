internal import Engine
internal import Handoff
internal import Network
internal import Sound

/// Asks again what a relay's name stands for, while the relay does not answer where it was. Network thread.
///
/// The asking has a thread of its own: it lasts as long as the system waits for its name server, and the session's end does
/// not wait for that.
final class RelayFinder {
    private let host: String
    private let port: UInt16
    private let resolve: Resolve
    private let answer = Locked(Answer.none)
    private var lastAsked: Instant

    typealias Resolve = @Sendable (_ host: String, _ port: UInt16) -> [Endpoint]?

    private enum Answer: Sendable {
        case none
        case awaited
        case come([Endpoint])
    }

    /// Name servers are not asked more often.
    static let interval = Duration.seconds(30)

    /// `now` is when it was asked last.
    init(
        _ host: String, port: UInt16, at now: Instant,
        resolve: @escaping Resolve = { try? Resolver.resolve($0, port: $1) }
    ) {
        self.host = host
        self.port = port
        self.resolve = resolve
        lastAsked = now
    }

    /// To be called now and then. Returns what was found since, if anything was.
    func look(isJoined: Bool, at now: Instant) -> [Endpoint]? {
        let known = answer.withLock { answer in
            let known = answer
            if case .come = known { answer = .none }
            return known
        }
        switch known {
        case .come(let endpoints): return endpoints.isEmpty ? nil : endpoints
        case .awaited: return nil
        case .none:
            if !isJoined, now - lastAsked >= Self.interval { ask(at: now) }
            return nil
        }
    }

    private func ask(at now: Instant) {
        lastAsked = now
        answer.withLock { $0 = .awaited }
        do throws(NetworkError) {
            try DetachedThread.run { [host, port, resolve, answer] in
                let found = resolve(host, port) ?? []
                answer.withLock { $0 = .come(found) }
            }
        } catch {
            answer.withLock { $0 = .none }
        }
    }
}
