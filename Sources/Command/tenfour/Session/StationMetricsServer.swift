import TenfourMetrics
import TenfourRadio
import TenfourSession
import TenfourSystem

/// Serves the metrics of a station for as long as its process lives, while sessions come and go. Any thread may use it.
final class StationMetricsServer: Sendable {
    private let settings: MetricsSettings
    private let subject = StationSubject(version: Tenfour.number)
    private let server = Locked<MetricsServer?>(nil)

    /// Opens nothing yet.
    init(at settings: MetricsSettings) { self.settings = settings }

    /// The address, including a port that the system chose; nil while it is not open.
    var endpoint: Endpoint? { server.withLock { $0?.endpoint } }

    /// Opens the address, unless it is open. Throws `.unavailable` with the remedy.
    func open() throws(RadioError) {
        guard endpoint == nil else { return }
        let new = try MetricsServer.started(at: settings.address, names: settings.names, subject.subject)
        server.withLock { $0 = new }
    }

    /// Serves the metrics of a session from now on.
    func begin(_ session: RadioSession, _ configuration: RadioConfiguration) {
        subject.set(.station(session, StationMetrics(configuration)))
    }

    /// The session has ended.
    func end() { subject.set(nil) }

    func stop() {
        let last = server.withLock { server in
            defer { server = nil }
            return server
        }
        last?.stop()
    }
}
