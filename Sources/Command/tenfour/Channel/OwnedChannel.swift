import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRadio

/// A channel that has an owner, as the commands `tenfour channel members`, `add`, `remove` and `verify` see it.
struct OwnedChannel {
    let link: ChannelLink
    let settings: ChannelSettings
    let identity: MemberIdentity
    let files: MembershipFiles

    /// Throws with the remedy if the channel is open, or this user has no identity.
    init(_ link: ChannelLink) throws(RadioError) {
        self.link = link
        guard link.fingerprint != nil else {
            throw RadioError(
                .usage,
                "\(link.name) is an open channel: it has one secret and no list of members. `tenfour channel new NAME --owner` makes a channel with an owner"
            )
        }
        guard let identity = try SavedIdentity.existing() else {
            throw RadioError(
                .unavailable, "you have no identity: run `tenfour id`, and send the line to the channel's owner")
        }
        let role: Role = if case .secret(let secret) = link.opening, secret.kind == .listen { .listen } else { .talk }
        let configuration = try RadioConfiguration.entering(link, as: role)
        guard case .channel(let settings) = configuration.protection, let files = settings.membership?.files else {
            preconditionFailure("a channel's link gives a channel")
        }
        (self.settings, self.identity, self.files) = (settings, identity, files)
    }

    /// The newest list of members: that of a station that is in the channel, or else the one that the relay has.
    func roster() throws(RadioError) -> SignedRoster {
        if !files.lock(), let roster = try files.roster() { return roster }
        let visit = try ChannelVisit(settings)
        defer { visit.leave() }
        return try visit.roster()
    }

    /// Signs the list that `change` makes of the newest one, and waits until the relay has it.
    func deposit(
        _ change: (RosterContents) throws(RadioError) -> [RosterEntry]
    ) throws(RadioError) -> ChannelVisit.Deposit {
        let sign = { (old: SignedRoster) throws(RadioError) -> SignedRoster in
            let new = try signed(change(old.contents), after: old)
            try files.write(new)
            return new
        }
        guard files.lock() else { return try depositByStation(sign) }
        let visit = try ChannelVisit(settings)
        defer { visit.leave() }
        return try visit.deposit(sign)
    }

    private func signed(_ entries: [RosterEntry], after old: SignedRoster) throws(RadioError) -> SignedRoster {
        let problem: RosterError
        do throws(RosterError) {
            let contents = try RosterContents(
                version: old.version + 1, time: UInt32(clamping: WallTime.seconds),
                hasTagLists: old.contents.hasTagLists,
                entries: entries)
            return try SignedRoster(signing: contents, by: identity, channelID: old.channelID, known: old)
        } catch { problem = error }
        switch problem {
        case .owner: throw RadioError(.unavailable, "only the owner of \(link.name) can change its list of members")
        case .duplicate: throw RadioError(.usage, "a member of \(link.name) has this key, or this name, already")
        case .tooManyEntries:
            throw RadioError(
                .unavailable, "\(link.name) has \(RosterContents.maximumEntryCount) members, and can have no more")
        default: throw RadioError(.failure, "the list of members cannot be signed (\(problem))")
        }
    }

    /// The owner's station is in the channel, finds the new list in the file, and deposits it.
    private func depositByStation(
        _ sign: (SignedRoster) throws(RadioError) -> SignedRoster
    ) throws(RadioError) -> ChannelVisit.Deposit {
        guard let old = try files.roster() else {
            throw RadioError(.unavailable, "your station has not received the list of members yet: try again")
        }
        let new = try sign(old)
        for _ in 0..<Self.waitCount {
            if files.depositedVersion >= new.version { return .init(roster: new, sealedCount: nil) }
            WallTime.sleep(milliseconds: 100)
        }
        throw RadioError(
            .unavailable,
            "your station has not deposited the new list in 30 s: check that it is in the channel; it goes on trying")
    }

    private static let waitCount = 300
}
