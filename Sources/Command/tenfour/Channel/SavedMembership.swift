import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRadio
import TenfourSession

/// This user's membership in channels that have an owner: the identity, and the files in `$XDG_STATE_HOME/tenfour/channels`,
/// by default in `~/.local/state`.
enum SavedMembership {
    /// Returns the files of a channel.
    static func files(of keys: ChannelKeys) throws(RadioError) -> MembershipFiles {
        guard let folder = UserFile.folder("XDG_STATE_HOME", otherwise: ".local/state") else {
            throw RadioError(
                .unavailable,
                "there is no folder for the channel's secret: set HOME, or set XDG_STATE_HOME to an absolute path")
        }
        return MembershipFiles(in: folder + "/tenfour/channels", channelID: keys.listenJoin.channelID)
    }
}

extension RadioConfiguration {
    /// Creates a configuration that joins the channel of `link`, as `joining` does. In a channel that has an owner, this
    /// user's identity is used if there is one.
    static func entering(
        _ link: ChannelLink, as role: Role, rtpSession: RTPSessionConfiguration = .init(), localPort: UInt16? = nil
    ) throws(RadioError) -> Self {
        var configuration = try joining(link, as: role, rtpSession: rtpSession, localPort: localPort)
        // Only a link with a fingerprint names an owner.
        guard link.fingerprint != nil, case .channel(var settings) = configuration.protection,
            let identity = try SavedIdentity.existing()
        else { return configuration }
        settings.membership = .init(identity, try SavedMembership.files(of: settings.keys))
        configuration.protection = .channel(settings)
        return configuration
    }
}
