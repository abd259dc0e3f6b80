internal import TenfourRelayCore
internal import TenfourSession

/// Parses the lines about operation and public audiences: `metrics` and `icecast`.
extension RelayFile {
    mutating func addMetrics(_ text: String, _ place: RelayFileError.Place) throws(RelayFileError) {
        guard let endpoint = Endpoint(listeningAt: text) else {
            throw RelayFileError(place, .value("metrics", .listening))
        }
        guard metrics == nil else { throw RelayFileError(place, .again("metrics")) }
        metrics = endpoint
    }

    /// Parses the value of `icecast`: `NAME=FILE`. The channel need not be heard over HTTP.
    mutating func addIcecast(_ text: String, _ place: RelayFileError.Place) throws(RelayFileError) {
        let (name, file) = try nameAndValue(text, "icecast", .icecast, place)
        guard icecastFiles[name] == nil else { throw RelayFileError(place, .again("icecast \(name)")) }
        icecastFiles[name] = IcecastLine(file: String(file), place: place)
    }

    /// Adds the channels of `icecast` lines to those that the gateway receives, and errors that only the whole
    /// configuration shows.
    func finishIcecast(_ configuration: inout RelayServerConfiguration, _ errors: inout RelayFileErrors) {
        for (name, line) in icecastFiles.sorted(by: { $0.key < $1.key }) {
            let isEncrypted = configuration.relay.channels.contains { $0.name == name }
            guard isEncrypted || configuration.plain.contains(where: { $0.name == name }) else {
                errors.note(RelayFileError(line.place, .unknownChannel(name)))
                continue
            }
            if let index = configuration.web.channels.firstIndex(where: { $0.name == name }) {
                configuration.web.channels[index].icecastFile = line.file
            } else {
                var channel = WebConfiguration.Channel(name: name)
                channel.isServed = false
                channel.icecastFile = line.file
                if isEncrypted { channel.linkFile = "\(name).link" }
                configuration.web.channels.append(channel)
            }
        }
    }
}
