internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Who has a place in a channel. A quarter of the places is kept for talkers, and where a channel is full no network holds
/// more than twice what a newcomer's holds.
extension Relay {
    /// Whether a JOIN from there may succeed: there is room, its own place is there, or another's can be had.
    func mayEnter(_ channel: ChannelIndex, as role: Role, from sender: Endpoint) -> Bool {
        hasRoom(in: channel, as: role) || isHere(sender, in: channel, as: role)
            || mayDisplace(in: channel, from: sender.address)
    }

    /// Whether a place is free for one more of that role.
    func hasRoom(in channel: ChannelIndex, as role: Role) -> Bool {
        guard let channel = channels[channel] else { return false }
        let places = channel.limits.channelMembers
        guard channel.status.memberCount < places, sessions.joinedCount < limits.members else { return false }
        if role == .talk { return true }
        return channel.status.listenerCount < RelayLimits.listenerPlaces(of: places)
            && listenerCount < RelayLimits.listenerPlaces(of: limits.members)
    }

    /// A member that joins anew from where it was takes its own place. One whose first record has not come has none.
    private func isHere(_ sender: Endpoint, in channel: ChannelIndex, as role: Role) -> Bool {
        var search = sessions.search(sender)
        while let member = sessions.next(&search, at: sender) {
            let session = sessions[member]
            // The place of a listener is none of those that are kept for talkers.
            if session.channel == channel, session.state == .joined, role == .talk || session.role == role {
                return true
            }
        }
        return false
    }

    /// Whether the network of a newcomer holds less than half of what the listeners of another hold.
    private func mayDisplace(in channel: ChannelIndex, from address: IPAddress) -> Bool {
        guard let networks = channels[channel]?.networks, networks.mostListeners >= 2 else { return false }
        return networks.memberCount(near: address) * 2 < networks.mostListeners
    }

    /// Frees a place for a member whose first record has come. False where there is none to be had.
    mutating func makeRoom(for member: MemberID, at now: Instant) -> Bool {
        let channel = sessions[member].channel
        if hasRoom(in: channel, as: sessions[member].role) { return true }
        guard mayDisplace(in: channel, from: sessions[member].endpoint.address),
            let newest = newestListenerOfLargestNetwork(in: channel)
        else { return false }
        displace(newest, at: now)
        return hasRoom(in: channel, as: sessions[member].role)
    }

    private mutating func displace(_ member: MemberID, at now: Instant) {
        outbox.put(.goodbye(.displaced), for: member, of: &sessions)
        // A station that does not know that reason takes this one; any other has gone by then.
        outbox.put(.goodbye(.full), for: member, of: &sessions)
        end(member, at: now)
    }

    /// Limits were lowered: the newest listeners beyond them go, those of the fullest channel first where it is the whole relay that
    /// has too many. Talkers stay. From here on, a listener that is displaced leaves a place for the newcomer.
    mutating func shrink(at now: Instant) {
        for channel in channels.indices {
            while let places = channels[channel]?.limits.channelMembers, let status = channels[channel]?.status,
                status.memberCount > places || status.listenerCount > RelayLimits.listenerPlaces(of: places),
                let listener = newestListener(in: channel)
            {
                displace(listener, at: now)
            }
        }
        while sessions.joinedCount > limits.members || listenerCount > RelayLimits.listenerPlaces(of: limits.members),
            let channel = channels.fullest, let listener = newestListener(in: channel)
        {
            displace(listener, at: now)
        }
    }

    private func newestListener(in channel: ChannelIndex) -> MemberID? {
        var next = sessions.first(in: channel)
        while let member = next {
            if sessions[member].state == .joined, sessions[member].role == .listen { return member }
            next = sessions.next(behind: member)
        }
        return nil
    }

    /// The members of a channel lie newest first.
    private func newestListenerOfLargestNetwork(in channel: ChannelIndex) -> MemberID? {
        guard let networks = channels[channel]?.networks else { return nil }
        var next = sessions.first(in: channel)
        while let member = next {
            next = sessions.next(behind: member)
            let session = sessions[member]
            if session.state == .joined, session.role == .listen,
                networks.listenerCount(near: session.endpoint.address) == networks.mostListeners
            {
                return member
            }
        }
        return nil
    }

    /// Counts a member whose first record has come.
    mutating func countPlace(_ member: MemberID) { count(sessions[member], step: 1) }

    /// Counts a member no longer.
    mutating func uncountPlace(_ session: MemberSession) { count(session, step: -1) }

    /// Counts a member in its new network. To be called before it moves.
    mutating func movePlace(_ member: MemberID, to address: IPAddress) {
        let session = sessions[member]
        let isListener = session.role == .listen
        channels[session.channel]?.networks.remove(session.endpoint.address, isListener: isListener)
        channels[session.channel]?.networks.add(address, isListener: isListener)
    }

    private mutating func count(_ session: MemberSession, step: Int) {
        let channel = session.channel
        let isListener = session.role == .listen
        channels[channel]?.status.memberCount += step
        if isListener {
            channels[channel]?.status.listenerCount += step
            listenerCount += step
        }
        if step > 0 {
            channels[channel]?.networks.add(session.endpoint.address, isListener: isListener)
        } else {
            channels[channel]?.networks.remove(session.endpoint.address, isListener: isListener)
        }
    }
}

extension RelayLimits {
    /// Of so many places, those that listeners may take: a quarter, but two at least, is kept for talkers.
    static func listenerPlaces(of places: Int) -> Int { max(places - max(2, places / 4), min(places, 1)) }
}
