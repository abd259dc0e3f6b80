public import TenfourAudioCore
internal import TenfourChannelKeys
public import TenfourManagedChannel
public import TenfourPackets

/// Being a member of a managed channel: its records, its group secrets, and the names of its talkers.
extension Channel {
    /// Whether the channel has an owner; false until a relay has shown it.
    public var isManaged: Bool { owner != nil }

    /// Whether the relay has shown that the channel has an owner, and `restore` must be called before anything else.
    public var wantsState: Bool { owner != nil && managed == nil }

    /// Takes over what we have kept from the run before.
    public mutating func restore(_ state: ManagedState) {
        guard wantsState, let owner, let identity = configuration.identity else { return }
        managed = ManagedMembership(identity, state, configuration.keys, ownerHash: owner)
    }

    /// The newest list of members that the owner has signed; nil until it has come, and in a channel without an owner.
    public var signedRoster: SignedRoster? { managed?.roster }

    /// Whether there are keys for our stream; false in a managed channel whose group secret we do not have yet.
    public var canEncrypt: Bool { streamKeys != nil }

    /// The age of the newest group secret; nil without one.
    public func secretAge(at now: Instant) -> Duration? {
        guard let managed, let clock = clockSeconds(at: now) else { return nil }
        return managed.secretAge(clock: clock)
    }

    /// The member who has announced the key of the packets that were decrypted under `ssrc` in the last 15 s; nil in a
    /// channel without an owner.
    public func signedTalker(of ssrc: SSRC, at now: Instant) -> SignedTalker? { managed?.talker(of: ssrc, at: now) }

    /// The moment of the latest packet of each member of the channel that was heard in this run, by its index in the roster.
    public var lastHeard: [UInt16: Instant] { managed?.lastHeard ?? [:] }

    /// Deposits a roster that we have signed as the owner. An event says when it is in force.
    public mutating func deposit(_ roster: SignedRoster, at now: Instant) {
        managed?.deposit(roster, at: now)
        pollManaged(at: now)
    }

    /// The next change of our file, after each input, as with `nextEvent`; then call `fileStored`. Until then there is no
    /// other change, and no record goes out that depends on this one.
    public mutating func takeFile(at now: Instant) -> ManagedFileChange? { managed?.takeFile(at: now) }

    /// Reports whether the change that `takeFile` has returned is on disk.
    public mutating func fileStored(_ isStored: Bool, at now: Instant) {
        lastInput = now
        managed?.fileStored(isStored, at: now)
        pollManaged(at: now)
    }

    // MARK: - Time

    private func clockSeconds(at now: Instant) -> UInt64? { reading(at: now)?.wall.seconds }

    mutating func managedSessionAnswered(at now: Instant) {
        configuration.drawAnew(&generator)
        let clock = clockSeconds(at: now) ?? 0
        managed?.joined(at: now, clock: clock, using: &generator)
        pollManaged(at: now)
    }

    /// Does what is due in a managed channel, and sends its records.
    mutating func pollManaged(at now: Instant) {
        guard let due = managed.map(\.nextDeadline) else { return }
        if due.map({ $0 <= now }) ?? false { configuration.drawAnew(&generator) }
        let clock = clockSeconds(at: now) ?? 0
        managed?.poll(at: now, clock: clock, using: &generator)
        var erases = false
        while let secret = managed?.nextErasedSecret() {
            erases = true
            sendStream.erase(secret)
        }
        while let event = managed?.nextEvent() {
            if case .rosterChanged = event { erases = true }
            events.post(.managed(event))
        }
        if erases, let managed { opener.erase { !managed.isHeld($0) } }
        guard isAnswered, let receipt = session?.receipt else { return }
        while let content = managed?.nextRecord(at: now, receipt: receipt) {
            session?.send(managed: content, into: &outbox)
        }
    }

    // MARK: - Records

    mutating func readManaged(_ range: Range<Int>, at now: Instant) -> Reception {
        guard managed != nil, isAnswered else { return .discarded(.unexpected) }
        guard let record = try? RelayRecord(parsing: bytes.span.extracting(range)) else {
            return .discarded(.malformed)
        }
        configuration.drawAnew(&generator)
        let clock = clockSeconds(at: now) ?? 0
        managed?.receive(record, at: now, clock: clock, using: &generator)
        pollManaged(at: now)
        return .handled
    }

    // MARK: - Media

    /// The keys for our own stream; nil in a managed channel without a group secret.
    var streamKeys: StreamKeys? {
        owner == nil ? StreamKeys(root: configuration.keys.mediaRoot) : managed?.streamKeys
    }

    mutating func readSignedAnnouncement(_ datagram: Span<UInt8>, at now: Instant) -> Reception {
        guard managed != nil else { return .discarded(.unexpected) }
        let verified: (epoch: AnnouncedEpoch, origin: EpochOrigin)?
        do throws(ChannelDiscard) {
            verified = try managed?.verify(datagram.extracting(ControlPacket.signedAnnouncementRange), at: now)
        } catch {
            if error == .forged { forgeries.secretIsUnknown() }
            pollManaged(at: now)
            return .discarded(error)
        }
        pollManaged(at: now)
        guard let verified else { return .discarded(.unexpected) }
        return announced(verified.epoch, by: verified.origin, at: now)
    }

    /// Records that a packet was decrypted.
    mutating func packetDecrypted(at now: Instant) {
        session?.keepalive.mediaReceived(at: now)
        guard managed != nil, let latest = opener.latest else { return }
        managed?.packetDecrypted(latest.ssrc, by: latest.index, at: now)
        while let event = managed?.nextEvent() { events.post(.managed(event)) }
    }
}
