import ArgumentParser
import TenfourChannelKeys
import TenfourMetrics
import TenfourRadio
import TenfourRelayServer
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

/// A host name for which a relay or a station answers over HTTP.
struct HTTPHostName: ExpressibleByArgument {
    let name: String

    init?(argument: String) {
        guard let name = WebConfiguration.hostName(argument) else { return nil }
        self.name = name
    }

    static let help = ArgumentHelp(
        "Answer HTTP requests also for this host name of the machine, such as radio.lan. IP addresses and localhost need no option.",
        valueName: "name")
}

/// Where a station serves its metrics, and for which host names.
struct MetricsSettings {
    var address: Endpoint
    var names: Set<String>

    /// Returns nil if no address is given.
    init?(_ address: MetricsAddress?, _ names: [HTTPHostName]) {
        guard let address else { return nil }
        self.address = address.endpoint
        self.names = Set(names.map(\.name))
    }
}

extension MetricsServer {
    /// Starts to answer at `address`, also for `names`. Throws `.unavailable` with the remedy.
    static func started(
        at address: Endpoint, names: Set<String>, _ subject: Subject
    ) throws(RadioError) -> MetricsServer {
        do throws(MetricsServerError) {
            return try MetricsServer(listeningAt: address, names: names, subject)
        } catch {
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
