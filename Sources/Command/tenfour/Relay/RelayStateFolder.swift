import Glibc
import TenfourRelayCore
import TenfourRelayServer

/// The folder in which a relay keeps the members of channels that have an owner.
extension RelaySource {
    /// Returns `named`, or else the default; nil if the user has no folder for it and no channel needs one. Makes the folder
    /// if a channel needs it and `makes` is true. Throws with the remedy if the relay cannot read and write its files there.
    static func stateFolder(
        _ named: String?, for relay: RelayConfiguration, makes: Bool
    ) throws(RelayFileErrors) -> String? {
        let channels = relay.channels.filter { $0.owner != nil }.map(\.name)
        guard let folder = named ?? defaultStateFolder else {
            guard !channels.isEmpty else { return nil }
            throw RelayFileErrors(
                RelayFileError(
                    open: "state", "there is no folder for the members of channel \(channels[0]): add state DIR"))
        }
        if makes, let fault = ManagedChannelFolder.fault(of: folder, for: channels) {
            throw RelayFileErrors(RelayFileError(open: folder, fault))
        }
        return folder
    }

    /// systemd's folder for the service; `/var/lib/tenfour` for root; otherwise a folder of the user's.
    private static var defaultStateFolder: String? {
        let given = unsafe getenv("STATE_DIRECTORY").map { unsafe String(cString: $0) } ?? ""
        // systemd separates several folders by colons.
        if let first = given.split(separator: ":").first, first.hasPrefix("/") { return String(first) }
        if geteuid() == 0 { return "/var/lib/tenfour" }
        return UserFile.folder("XDG_STATE_HOME", otherwise: ".local/state").map { $0 + "/tenfour/relay" }
    }
}
