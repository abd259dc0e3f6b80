public import TenfourRadio
public import TenfourRelayServer
internal import TenfourRings

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
