internal import TenfourClocks
public import TenfourRadio
public import TenfourRelayServer
internal import TenfourSystem

extension MetricsServer.Subject {
    /// A relay. `more` adds what is not in the relay's own status.
    public static func relay(
        _ server: RelayServer, version: String, more: @escaping @Sendable (inout MetricsText) -> Void = { _ in }
    ) -> Self {
        Self(
            update: {},
            metrics: { [weak server] in
                var text = MetricsText()
                if let server { text.addRelay(server.status, version: version) }
                more(&text)
                text.addProcess()
                return text
            },
            lastWorked: { [weak server] in server?.lastPublication })
    }

    /// A station: a session of `RadioSession`, which `metrics` describes.
    public static func station(_ session: RadioSession, _ metrics: StationMetrics) -> Self {
        let metrics = Locked(metrics)
        return Self(
            update: { [weak session] in
                guard let snapshot = session?.snapshot else { return }
                metrics.withLock { $0.update(with: snapshot) }
            },
            metrics: { metrics.withLock(\.text) },
            lastWorked: { [weak session] in session?.lastPublication })
    }
}

/// The subject of a station whose process outlives its sessions. Between sessions the metrics are those of the process,
/// and the station counts as working. Any thread may use it.
public final class StationSubject: Sendable {
    private let session = Locked<MetricsServer.Subject?>(nil)
    private let version: String

    public init(version: String) { self.version = version }

    /// Takes over the subject of a session that begins, or nil when it ends.
    public func set(_ subject: MetricsServer.Subject?) { session.withLock { $0 = subject } }

    /// What a server is started with.
    public var subject: MetricsServer.Subject {
        MetricsServer.Subject(
            update: { [session] in session.withLock { $0 }?.update() },
            metrics: { [session, version] in
                session.withLock { $0 }?.metrics()
                    ?? StationMetrics(version: version, channel: nil, packetDuration: .zero).text
            },
            lastWorked: { [session] in
                guard let session = session.withLock({ $0 }) else { return MonotonicClock.now }
                return session.lastWorked()
            })
    }
}
