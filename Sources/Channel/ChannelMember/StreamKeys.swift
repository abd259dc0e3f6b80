internal import TenfourChannelKeys
internal import TenfourManagedChannel

/// The keys for the next epoch of our own stream, and in a managed channel the name under which we announce it.
struct StreamKeys: Sendable {
    let root: MediaRoot
    /// Our name in a managed channel; nil in an open channel.
    var name: Name?
    /// Whether the epoch in use must end now if it has another root, because a member was removed.
    var replacesAtOnce = false

    struct Name: Sendable {
        let identity: MemberIdentity
        /// The group secret from which the root follows.
        let secret: GroupSecretID
        let rosterVersion: UInt32
        let index: UInt16
        let channelID: UInt128
    }

    /// Appends the announcement of `epoch` under `root`, which is that of the epoch.
    func write(_ epoch: AnnouncedEpoch, under root: MediaRoot, into datagram: inout OutputSpan<UInt8>) {
        guard let name else { return ControlPacket.write(Announcement(epoch, under: root), into: &datagram) }
        let announcement = SignedAnnouncement(
            epoch, rosterVersion: name.rosterVersion, index: name.index, by: name.identity, channelID: name.channelID,
            under: root
        ).bytes
        ControlPacket.write(signedAnnouncement: announcement.span, into: &datagram)
    }
}
