internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourManagedChannel
internal import TenfourPackets

/// Our part in a managed channel: the roster and group secrets that we follow, the ones that we sign and draw as the owner or
/// a delegate, and the names of talkers (Protocol/13-members.md, Protocol/14-group-secrets.md). Opens no socket and no file.
struct ManagedMembership: Sendable {
    private var member: ManagedMember
    private var signer: GroupSecretSigner?
    private var verifier = AnnouncementVerifier()
    private let root: MediaRoot
    private let verifiedKeys: [MemberName: IdentityKey]
    /// The group media roots of the secrets that are held, the newest first.
    private var roots: [(secret: GroupSecretID, root: MediaRoot)] = []
    /// Our index in the roster.
    private var index: UInt16?
    private var replacesAtOnce = false
    private var isJoined = false
    /// The roster that we have signed as the owner, and that the relay does not have yet.
    private var ownRoster: SignedRoster?
    /// The moment of the latest packet of each member that was heard, by index.
    private(set) var lastHeard: [UInt16: Instant] = [:]
    private var toldKeyChanges: Set<Bytes32> = []
    private var toldTalkers: [SSRC: SignedTalker] = [:]
    /// The moment from which the changed file may be written; nil if it has not changed.
    private var fileDue: Instant?
    private var isFileBeingWritten = false
    private var events: [ManagedEvent] = []
    private var erased: [GroupSecretID] = []

    /// The number of members whose changed keys, and of SSRCs whose talkers, are remembered as told.
    private static let maximumToldCount = 256
    private static let fileRetryPause = Duration.seconds(1)

    /// `ownerHash` is the one that the relay has shown, which the link's fingerprint covers.
    init(_ identity: MemberIdentity, _ state: ManagedState, _ keys: ChannelKeys, ownerHash: OwnerHash) {
        root = keys.mediaRoot
        verifiedKeys = state.verifiedKeys
        member = ManagedMember(
            identity, channelID: keys.listenJoin.channelID, mediaRoot: keys.mediaRoot, ownerHash: ownerHash.bytes,
            file: state.file)
        if let roster = state.roster { member.restore(roster) }
        index = member.index
        updateRoots()
    }

    // MARK: - State

    var roster: SignedRoster? { member.roster }
    var isRemoved: Bool { member.isRemoved }
    var rosterRefusals: [RosterError: UInt64] { member.rosterRefusals }
    var secretRefusals: [ManagedMember.Refusal: UInt64] { member.refusals }
    var announcementRefusals: [AnnouncementVerifier.Refusal: UInt64] { verifier.refusals }

    /// The age of the newest group secret; nil without one. `clock` is in seconds since 1970.
    func secretAge(clock: UInt64) -> Duration? { member.secretAge(clock: clock).map { .seconds($0) } }

    /// The keys for our own stream; nil while there is no group secret, or no entry of ours in the roster.
    var streamKeys: StreamKeys? {
        guard let newest = roots.first, let roster, let index else { return nil }
        return StreamKeys(
            root: newest.root,
            name: StreamKeys.Name(
                identity: member.identity, secret: newest.secret, rosterVersion: roster.version, index: index,
                channelID: member.channelID),
            replacesAtOnce: replacesAtOnce)
    }

    /// The member whose packets were decrypted under `ssrc` in the last 15 s.
    func talker(of ssrc: SSRC, at now: Instant) -> SignedTalker? {
        guard let index = verifier.talker(of: ssrc, at: now), let entry = roster?.contents.entry(index) else {
            return nil
        }
        let isVerified = entry.name.flatMap { verifiedKeys[$0] }?.bytes == entry.key
        return SignedTalker(index: index, name: entry.name, isVerified: isVerified)
    }

    // MARK: - The session

    /// The relay has answered for the first time in a session.
    mutating func joined(at now: Instant, clock: UInt64, using generator: inout CSPRNG) {
        isJoined = true
        member.joined(at: now, clock: clock, using: &generator)
        updateSigner(at: now)
        let age = secretAge(clock: clock)
        signer?.joined(at: now, secretAge: age, using: &generator)
        depositOwnRoster(at: now)
    }

    /// The session has ended.
    mutating func left() {
        guard isJoined else { return }
        isJoined = false
        member.left()
        signer?.left()
    }

    /// The relay has ended the session because we were removed.
    mutating func notAdmitted() { member.notAdmitted() }

    mutating func receive(_ record: RelayRecord, at now: Instant, clock: UInt64, using generator: inout CSPRNG) {
        switch record {
        case .deposited(let deposited): signer?.receive(deposited, at: now)
        case .prekeys(let list): signer?.receive(list, at: now)
        case .news, .rosterPage: member.receive(record, at: now, clock: clock, using: &generator)
        }
    }

    /// Does what is due, and takes the events of the state machines.
    mutating func poll(at now: Instant, clock: UInt64, using generator: inout CSPRNG) {
        member.poll(at: now, clock: clock, using: &generator)
        signer?.poll(at: now, using: &generator)
        while let event = signer?.nextEvent() { apply(event, at: now, clock: clock) }
        while let event = member.nextEvent() { apply(event, at: now, using: &generator) }
    }

    private mutating func apply(_ event: GroupSecretSigner.Event, at now: Instant, clock: UInt64) {
        switch event {
        case .rosterDeposited(let version):
            if let own = ownRoster, own.version == version {
                ownRoster = nil
                member.signed(own)
            }
            events.append(.rosterDeposited(version: version))
        case .deposited(let secret):
            events.append(.secretDeposited(memberCount: signer.map(\.depositedCount) ?? 0))
            member.drew(secret, at: now, clock: clock)
        }
    }

    private mutating func apply(_ event: ManagedMember.Event, at now: Instant, using generator: inout CSPRNG) {
        switch event {
        case .fileChanged: fileDue = fileDue ?? now
        case .rosterChanged:
            updateSigner(at: now)
            events.append(.rosterChanged(version: roster?.version ?? 0))
        case .twoLists: events.append(.twoRosters)
        case .secretChanged(let atOnce):
            replacesAtOnce = atOnce
            updateRoots()
            guard let id = member.secret?.id else { return }
            if id.signer != index { signer?.follow(id, at: now, using: &generator) }
            events.append(.secretChanged(signer: id.signer))
        case .formerSecretErased: updateRoots()
        case .waiting: events.append(.waiting)
        case .removed:
            signer = nil
            ownRoster = nil
            fileDue = now
            updateRoots()
            events.append(.removed)
        }
    }

    private mutating func updateRoots() {
        let held = [member.secret, member.formerSecret].compactMap(\.self)
        erased += roots.map(\.secret).filter { old in !held.contains { $0.id == old } }
        roots = held.map { secret in
            let known = roots.first { $0.secret == secret.id }?.root
            return (secret.id, known ?? secret.mediaRoot(from: root, channelID: member.channelID))
        }
    }

    mutating func nextEvent() -> ManagedEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// The next group secret whose SRTP keys must be erased.
    mutating func nextErasedSecret() -> GroupSecretID? { erased.isEmpty ? nil : erased.removeFirst() }

    /// The content of the next record for the relay. There is none while a changed file is not on disk.
    mutating func nextRecord(at now: Instant, receipt: UInt64) -> [UInt8]? {
        guard isJoined, !isRemoved else { return nil }
        if fileDue == nil, !isFileBeingWritten, let record = member.nextRecord(at: now, receipt: receipt) {
            return record.bytes
        }
        return signer?.nextRecord(at: now)?.bytes
    }

    /// The moment of the next `poll`. While a changed file is not on disk, the member's records wait, and `fileStored` goes on.
    var nextDeadline: Instant? {
        let isFilePending = fileDue != nil || isFileBeingWritten
        return [isFilePending ? nil : member.nextDeadline, signer?.nextDeadline].compactMap(\.self).min()
    }

    // MARK: - The file

    /// Returns a change of the file. The next one comes only after `fileStored`.
    mutating func takeFile(at now: Instant) -> ManagedFileChange? {
        guard let due = fileDue, due <= now, !isFileBeingWritten else { return nil }
        fileDue = nil
        isFileBeingWritten = true
        return isRemoved ? .erase : .write(member.fileContent)
    }

    /// Reports whether the change is on disk. If not, it comes again in a second.
    mutating func fileStored(_ isStored: Bool, at now: Instant) {
        isFileBeingWritten = false
        if !isStored { fileDue = now + Self.fileRetryPause }
    }

    // MARK: - Signing

    /// Deposits a roster that we have signed as the owner. It is in force when the relay has it.
    mutating func deposit(_ roster: SignedRoster, at now: Instant) {
        guard roster.version > max(member.roster?.version ?? 0, ownRoster?.version ?? 0) else { return }
        ownRoster = roster
        if signer != nil, isJoined { signer?.deposit(roster, at: now) }
    }

    /// A relay that has lost its files, or does not know the first roster, is given the owner's. A secret that is older than
    /// the roster is replaced, because a run that has removed a member may have ended before the secret was deposited.
    private mutating func depositOwnRoster(at now: Instant) {
        guard index == RosterEntry.ownerIndex, let roster = ownRoster ?? member.roster else { return }
        let isOld = member.secret.map { $0.id.rosterVersion < roster.version } ?? true
        signer?.deposit(roster, drawsSecret: isOld, at: now)
    }

    private mutating func updateSigner(at now: Instant) {
        index = member.index
        guard !isRemoved, let roster, let index, roster.isSigner(index) else {
            signer = nil
            return
        }
        if signer == nil {
            signer = GroupSecretSigner(
                member.identity, index: index, roster: roster, mediaRoot: root, secret: member.secret)
        } else {
            signer?.follow(roster)
        }
        if let own = ownRoster, own.version <= roster.version { ownRoster = nil }
    }

    // MARK: - Talkers

    /// Verifies the announcement in 124 bytes, and returns the origin of its key.
    mutating func verify(
        _ bytes: Span<UInt8>, at now: Instant
    ) throws(ChannelDiscard) -> (AnnouncedEpoch, EpochOrigin) {
        guard let announcement = try? SignedAnnouncement(parsing: bytes) else { throw .malformed }
        guard let roster, let under = roots.first(where: { announcement.isAuthentic(under: $0.root) }) else {
            throw .forged
        }
        let verdict = verifier.check(announcement, under: [under.root], roster: roster, at: now)
        if verifier.announcedRosterVersion > roster.version {
            member.versionHeard(verifier.announcedRosterVersion, at: now)
        }
        if case .refused(let refusal) = verdict { throw refusal.discard }
        guard isKeyUnchanged(roster, announcement.index) else { throw .changedKey }
        return (announcement.content, EpochOrigin(root: under.root, secret: under.secret, index: announcement.index))
    }

    /// Whether the member's key is the one that the user has compared, or none was compared under its name.
    private mutating func isKeyUnchanged(_ roster: SignedRoster, _ index: UInt16) -> Bool {
        guard let entry = roster.contents.entry(index), let name = entry.name, let known = verifiedKeys[name],
            known.bytes != entry.key
        else { return true }
        if toldKeyChanges.count < Self.maximumToldCount, toldKeyChanges.insert(entry.key).inserted {
            events.append(.keyChanged(name))
        }
        return false
    }

    /// Records that a packet was decrypted under a key that this member has announced.
    mutating func packetDecrypted(_ ssrc: SSRC, by index: UInt16, at now: Instant) {
        verifier.packetDecrypted(ssrc, by: index, at: now)
        lastHeard[index] = now
        guard let talker = talker(of: ssrc, at: now), toldTalkers[ssrc] != talker else { return }
        if toldTalkers.count >= Self.maximumToldCount { toldTalkers = [:] }
        toldTalkers[ssrc] = talker
        events.append(.talkerKnown(ssrc, talker))
    }

    /// Whether keys of this origin may still decrypt: the secret is held, and the member may talk.
    func isHeld(_ origin: EpochOrigin) -> Bool {
        guard let index = origin.index else { return false }
        return roots.contains { $0.secret == origin.secret } && roster?.contents.entry(index)?.role == .talk
    }
}

extension AnnouncementVerifier.Refusal {
    fileprivate var discard: ChannelDiscard {
        switch self {
        case .forged: .forged
        case .notAMember: .notAMember
        case .anotherMembersSSRC: .anotherMembersSSRC
        case .tooMany: .tooManySignatures
        case .falseName: .falseName
        }
    }
}
