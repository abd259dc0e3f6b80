internal import TenfourRelayCore

/// Checks what channels with an owner need.
extension RelayFile {
    /// Adds the errors that only the whole configuration shows.
    func finishOwners(_ configuration: RelayServerConfiguration, _ errors: inout RelayFileErrors) {
        guard self.errors.isEmpty else { return }
        for (name, place) in ownerPlaces.sorted(by: { $0.key < $1.key }) {
            func note(_ text: String) { errors.note(RelayFileError(place, .message(text))) }
            if keyFile == nil {
                note(
                    "channel \(name) has an owner, so members must recognise this relay by its key: add relay-key FILE")
            }
            if !cluster.servers.isEmpty {
                note(
                    "channel \(name) has an owner, and the relays of a cluster cannot share the list of its members: serve it from a relay without nats, or remove owner="
                )
            }
            if configuration.web.channels.contains(where: { $0.name == name }) {
                note(
                    "channel \(name) has an owner, who cannot add this relay as a member: remove its lines web and icecast, or owner="
                )
            }
        }
    }
}
