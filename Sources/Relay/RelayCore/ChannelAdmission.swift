internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Admission to a channel within its member limit. A quarter of the limit is reserved for talkers. In a full channel, a
/// newcomer may displace a listener of the network with the most listeners. It does so if that network has more than
/// twice as many listeners as the newcomer's network has members.
extension Relay {
    /// Whether a JOIN from `sender` may succeed: the channel has room, the JOIN replaces an earlier session at the same
    /// transport address, or the newcomer may displace a listener.
    func mayEnter(_ channel: ChannelIndex, as role: Role, from sender: Endpoint) -> Bool {
        if isHere(sender, in: channel, as: role) { return true }
        if channels[channel]?.pass != nil {
            return hasRoom(in: channel, as: role) && pairs?.mayEnter(from: sender.address) ?? false
        }
        return hasRoom(in: channel, as: role) || mayDisplace(in: channel, from: sender.address)
    }

    /// Whether the channel and the relay have room for one more member with the role `role`.
    func hasRoom(in channel: ChannelIndex, as role: Role) -> Bool {
        guard let channel = channels[channel] else { return false }
        let places = channel.limits.channelMembers
        guard channel.status.memberCount < places, sessions.joinedCount < limits.members else { return false }
        if role == .talk { return true }
        return channel.status.listenerCount < RelayLimits.listenerPlaces(of: places)
            && listenerCount < RelayLimits.listenerPlaces(of: limits.members)
    }

    /// Whether a JOIN from `sender` would replace a joined session at the same transport address, and so needs no
    /// further room. A session that has not sent its first record does not count, because it uses no room.
    private func isHere(_ sender: Endpoint, in channel: ChannelIndex, as role: Role) -> Bool {
        var search = sessions.search(sender)
        while let member = sessions.next(&search, at: sender) {
            let session = sessions[member]
            // Lets a new talker replace a listener or a talker, and a new listener only a listener. A talker's room is
            // reserved for talkers.
            if session.channel == channel, session.state == .joined, role == .talk || session.role == role {
                return true
            }
        }
        return false
    }

    /// Whether a newcomer from `address` may displace a listener of the network with the most listeners.
    private func mayDisplace(in channel: ChannelIndex, from address: IPAddress) -> Bool {
        channels[channel]?.networks.mayDisplace(from: address) ?? false
    }

    /// Makes room for a member that has sent its first record, by displacing a listener if necessary. Returns false if
    /// there is no room.
    mutating func makeRoom(for member: MemberID, at now: Instant) -> Bool {
        let channel = sessions[member].channel
        if channels[channel]?.pass != nil { return makePairedRoom(for: member, in: channel, at: now) }
        if hasRoom(in: channel, as: sessions[member].role) { return true }
        guard mayDisplace(in: channel, from: sessions[member].endpoint.address),
            let newest = newestListenerOfLargestNetwork(in: channel)
        else { return false }
        displace(newest, at: now)
        return hasRoom(in: channel, as: sessions[member].role)
    }

    /// Makes room for a member of a channel of stations that have paired, by displacing a member of any such channel if
    /// necessary. Returns false if there is no room.
    private mutating func makePairedRoom(for member: MemberID, in channel: ChannelIndex, at now: Instant) -> Bool {
        guard hasRoom(in: channel, as: sessions[member].role) else { return false }
        if pairs?.hasRoom ?? false { return true }
        guard let yielding = pairs?.yielding(to: sessions[member].endpoint.address) else { return false }
        displace(yielding, at: now)
        return true
    }

    mutating func displace(_ member: MemberID, at now: Instant) {
        outbox.put(.goodbye(.displaced), for: member, of: &sessions)
        // Sends a second GOODBYE for implementations that do not know the reason `displaced`. Other implementations
        // have left after the first GOODBYE, and ignore the second one.
        outbox.put(.goodbye(.full), for: member, of: &sessions)
        end(member, at: now)
    }

    /// Ends sessions of listeners, the newest first, until no member limit is exceeded; call this after limits were
    /// lowered. Sessions of talkers are kept. If the whole relay is over its limit, listeners of the channel with the
    /// most listeners go first. Displacing one listener then makes room for one newcomer again.
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

    /// Returns the newest listener among the networks with the most listeners. The list of members is ordered newest
    /// first.
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

    /// Adds a member that has sent its first record to the counts of its channel.
    mutating func countPlace(_ member: MemberID) {
        let session = sessions[member]
        count(session, step: 1)
        if channels[session.channel]?.pass != nil { pairs?.joined(member, at: session.endpoint.address) }
    }

    /// Removes a member, whose session this was, from the counts of its channel.
    mutating func uncountPlace(_ member: MemberID, _ session: MemberSession) {
        count(session, step: -1)
        if channels[session.channel]?.pass != nil { pairs?.left(member, at: session.endpoint.address) }
    }

    /// Moves a member from the count of its old network to the count of the network of `address`. Must be called before
    /// the member's session moves.
    mutating func movePlace(_ member: MemberID, to address: IPAddress) {
        let session = sessions[member]
        let isListener = session.role == .listen
        channels[session.channel]?.networks.remove(session.endpoint.address, isListener: isListener)
        channels[session.channel]?.networks.add(address, isListener: isListener)
        guard channels[session.channel]?.pass != nil else { return }
        pairs?.left(member, at: session.endpoint.address)
        pairs?.joined(member, at: address)
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
    /// Returns the maximum number of listeners in a channel or relay that admits `places` members. A quarter of these
    /// members, and at least two, must be talkers. The result is at least 1, or zero if `places` is zero.
    static func listenerPlaces(of places: Int) -> Int { max(places - max(2, places / 4), min(places, 1)) }
}
