public import TenfourAudioCore

/// Listeners of a channel that are not members of this relay, but are counted with them.
extension Relay {
    /// Sets the number of listeners that the roster of the channel `name` counts in addition to the members. It is
    /// negative if a member is not a listener itself: the gateway that hears the channel for listeners over HTTP, while
    /// there are none.
    public mutating func setOtherListeners(_ count: Int, of name: String, at now: Instant) {
        for channel in channels.indices where channels[channel]?.status.name == name {
            guard channels[channel]?.otherListenerCount != count else { continue }
            channels[channel]?.otherListenerCount = count
            if channels[channel]?.status.memberCount ?? 0 > 0 { rosterCountChanged(in: channel, at: now) }
        }
    }
}
