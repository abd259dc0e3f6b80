import TenfourRadio
import TenfourRelayServer
import TenfourWeb

extension RelayServerConfiguration {
    /// Reads the settings of the Icecast servers, by channel. Relative paths begin in the folder of `config`. Throws
    /// with the remedy if a file is missing, if other users can read its password, or if it has an error.
    func icecastSettings(besides config: String?) throws(RelayFileErrors) -> [String: IcecastSettings] {
        var settings: [String: IcecastSettings] = [:]
        for channel in web.channels {
            guard let file = channel.icecastFile else { continue }
            let path = RelaySource.path(file, besides: config)
            let bytes = try Self.content(
                ofSecret: path, "host, mount and password of the Icecast server, one per line,")
            do throws(IcecastFileError) { settings[channel.name] = try IcecastSettings(parsing: bytes) } catch {
                throw RelayFileErrors(RelayFileError(error.line, of: path, error.message))
            }
        }
        return settings
    }
}

extension IcecastFeeds {
    /// Starts and stops feeds as the configuration says. Throws `.unavailable` with the remedy.
    func start(_ settings: [String: IcecastSettings]) throws(RadioError) {
        do throws(IcecastFeedError) { try set(settings) } catch { throw RadioError(.unavailable, error.description) }
    }
}
