public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourPackets

/// The state of one channel at one relay of a cluster: its members and its talkers, as told to the other relays.
public struct ChannelState: Hashable, Sendable {
    /// The number of members that are not listed.
    public var unlistedCount: UInt32
    public var claims: [Claim]
    /// The members that are listed in the roster; none of them is gone.
    public var entries: [Roster.Entry]

    /// An SSRC that a talker has registered.
    public struct Claim: Hashable, Sendable {
        public var ssrc: SSRC
        /// The time of the claim by the relay's clock, in milliseconds since 1970.
        public var milliseconds: UInt64
        /// The age of the announcement in milliseconds; zero if there is none.
        public var announcementAge: UInt32
        /// The talker's last announcement, as a relay forwards it: 56 bytes, or none.
        public var announcement: [UInt8]
        /// The talker's name, at most 255 bytes of UTF-8; empty if it has sent none.
        public var name: String

        public init(
            ssrc: SSRC, milliseconds: UInt64, announcementAge: UInt32 = 0, announcement: [UInt8] = [], name: String = ""
        ) {
            self.ssrc = ssrc
            self.milliseconds = milliseconds
            self.announcementAge = announcementAge
            self.announcement = announcement
            self.name = name
        }

        /// The epoch of the announcement; nil if there is none.
        var epoch: Epoch? {
            guard case .announcement(let announcement)? = try? ControlPacket(parsing: announcement.span),
                announcement.ssrc == ssrc
            else { return nil }
            return announcement.epoch
        }
    }

    public init(unlistedCount: UInt32 = 0, claims: [Claim] = [], entries: [Roster.Entry] = []) {
        self.unlistedCount = unlistedCount
        self.claims = claims
        self.entries = entries
    }
}

/// The rank of a claim among claims of the same SSRC by talkers of several relays.
struct ClaimRank {
    var epoch: Epoch?
    var milliseconds: UInt64
    var relay: BootID

    /// Whether this claim is good, and `other` is not. All relays decide alike. Claims with the same epoch are of one
    /// talker that has moved, so the later one is good; otherwise the earlier one is.
    func prevails(over other: ClaimRank) -> Bool {
        let isEarlier = (milliseconds, relay.rawValue) < (other.milliseconds, other.relay.rawValue)
        return isSameTalker(as: other) ? !isEarlier : isEarlier
    }

    func isSameTalker(as other: ClaimRank) -> Bool { epoch != nil && epoch == other.epoch }
}

extension Relay {
    /// The configured channels with their indices.
    public var configuredChannels: [(index: ChannelIndex, configuration: RelayConfiguration.Channel)] {
        channels.indices.compactMap { index in
            channels[index].flatMap { $0.pass == nil ? (index, $0.configuration) : nil }
        }
    }

    /// The number of members of a channel at this relay; zero for a removed channel.
    public func memberCount(of channel: ChannelIndex) -> Int { channels[channel]?.status.memberCount ?? 0 }

    /// The state of a channel to be told to the other relays.
    public func state(of channel: ChannelIndex, at now: Instant) -> ChannelState {
        guard let entry = channels[channel] else { return ChannelState() }
        let own = entry.roster.listed.filter { !$0.isRemote }
        return ChannelState(
            unlistedCount: UInt32(clamping: entry.status.memberCount + entry.otherListenerCount - own.count),
            claims: entry.claimants.compactMap { claim(of: $0, at: now) },
            entries: own.map { Roster.Entry(number: $0.rosterNumber, .here(infos[sessions[$0].info])) })
    }

    private func claim(of member: MemberID, at now: Instant) -> ChannelState.Claim? {
        guard let talker = sessions[member].talker.flatMap({ talkers[$0] }), let ssrc = talker.claim else { return nil }
        let age = talker.announcement.isEmpty ? 0.0 : (now - talker.announcedAt) / .milliseconds(1)
        return ChannelState.Claim(
            ssrc: ssrc, milliseconds: talker.claimMilliseconds, announcementAge: UInt32(min(age, Double(Int32.max))),
            announcement: talker.announcement, name: talker.name ?? "")
    }

    /// Replaces what is known of a channel's members at another relay.
    public mutating func apply(_ state: ChannelState, of channel: ChannelIndex, from relay: BootID, at now: Instant) {
        guard let most = channels[channel]?.limits.channelTalkers, memberCount(of: channel) > 0 else { return }
        let claims = state.claims.prefix(most)
        for claim in claims { apply(claim, of: channel, from: relay, at: now) }
        for index in remotes.indices(in: channel, of: relay)
        where !claims.contains(where: { $0.ssrc == remotes[index]?.ssrc }) {
            releaseRemote(index, at: now)
        }
        channels[channel]?.remoteMembers.set(state.entries, unlistedCount: state.unlistedCount, of: relay)
        mergeRoster(of: channel, at: now)
    }

    private mutating func apply(
        _ claim: ChannelState.Claim, of channel: ChannelIndex, from relay: BootID, at now: Instant
    ) {
        let rank = ClaimRank(epoch: claim.epoch, milliseconds: claim.milliseconds, relay: relay)
        var talker = RemoteTalker(claim, rank, in: channel, at: now)
        if let member = ssrcs[claim.ssrc]?.first(where: { sessions[$0].channel == channel }),
            let index = sessions[member].talker, let own = self.rank(of: index)
        {
            guard rank.prevails(over: own) else { return }
            if !rank.isSameTalker(as: own) { outbox.put(.ssrcRefused(claim.ssrc), for: member, of: &sessions) }
            talker.counts = talkers[index]?.stream?.counts ?? talkers[index]?.counts
            silenceTalker(index)
        } else if let index = remotes.index(of: claim.ssrc, in: channel), let known = remotes[index] {
            // The clock of the talker's new relay may be behind that of one that is gone.
            let hasComeBack = known.heldUntil != nil && rank.isSameTalker(as: known.rank)
            guard known.rank.relay == relay || hasComeBack || rank.prevails(over: known.rank) else { return }
            remotes.update(index, by: talker)
            return
        }
        remotes.insert(talker)
    }

    private func rank(of index: TalkerIndex) -> ClaimRank? {
        guard let boot = clusterRequests.boot, let talker = talkers[index] else { return nil }
        return ClaimRank(epoch: talker.epoch, milliseconds: talker.claimMilliseconds, relay: boot)
    }

    /// Handles the end of another relay: nobody there is counted any more; its talkers and its listed members stay
    /// for a while, because they may come to another relay.
    public mutating func relayIsGone(_ relay: BootID, at now: Instant) {
        remotes.hold(talkersOf: relay, until: now + RemoteTalker.grace)
        for index in talkers.talking { talkers[index]?.stream?.remoteViews[relay] = nil }
        for channel in channels.indices {
            guard
                channels[channel]?.remoteMembers.hold(membersOf: relay, until: now + .seconds(Int(Self.lease))) ?? false
            else { continue }
            remotes.expect(now + .seconds(Int(Self.lease)))
            mergeRoster(of: channel, at: now)
        }
    }

    /// Forgets all that is known of a channel's members at other relays, because nobody here is left to tell.
    mutating func forgetRemotes(in channel: ChannelIndex) {
        for index in remotes.indices(in: channel) { removeRemote(index) }
        channels[channel]?.remoteMembers = RemoteMembers()
        channels[channel]?.roster.removeRemotes()
        channels[channel]?.status.remoteMemberCount = 0
    }
}
