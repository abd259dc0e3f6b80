import ArgumentParser
import TenfourChannelKeys
import TenfourMetrics
import TenfourRadio
import TenfourSession

/// The address at which a relay or a station serves its metrics.
struct MetricsAddress: ExpressibleByArgument {
    let endpoint: Endpoint

    init?(argument: String) {
        guard let endpoint = Endpoint(listeningAt: argument) else { return nil }
        self.endpoint = endpoint
    }

    static let help = ArgumentHelp(
        "Serve metrics for Prometheus (/metrics) and a health check (/healthz) over HTTP at this address. With a port alone, such as 9104, only this machine can reach them.",
        valueName: "address:port")
}

extension MetricsServer {
    /// Starts to answer at `address`. Throws `.unavailable` with the remedy.
    static func started(at address: Endpoint, _ subject: Subject) throws(RadioError) -> MetricsServer {
        do throws(MetricsServerError) { return try MetricsServer(listeningAt: address, subject) } catch {
            throw RadioError(.unavailable, error.description)
        }
    }
}

extension StationMetrics {
    init(_ configuration: RadioConfiguration) {
        var channel: String?
        if case .channel(let settings) = configuration.protection { channel = settings.keys.name }
        self.init(version: Tenfour.number, channel: channel, packetDuration: configuration.coding.frame)
    }
}
