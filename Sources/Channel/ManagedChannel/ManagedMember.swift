public import TenfourAudioCore
public import TenfourChannelKeys

/// A member of a managed channel: it follows the roster, fetches group secrets and gives prekeys
/// (Protocol/14-group-secrets.md). Opens no socket and reads no clock.
///
/// After each input, take events until nil, then records until nil, then sleep until `nextDeadline`. Instants are of a
/// monotonic clock; `clock` is the time of day in seconds since 1970, which only dates prekeys.
public struct ManagedMember: Sendable {
    public enum Event: Sendable {
        /// `fileContent` has changed. It must be on disk before the records that follow are sent.
        case fileChanged
        /// There is a newer roster.
        case rosterChanged
        /// The owner has signed two lists of one version: something is wrong with the owner, or with its key.
        case twoLists
        /// There is a newer group secret. It is used for the next epoch that this member announces: at once if the
        /// value is true, because a member was removed, and announced 2 s ahead if not.
        case secretChanged(atOnce: Bool)
        /// The former secret is erased; SRTP keys that were made from it must be erased, too.
        case formerSecretErased
        /// No secret has come for 30 s: nobody has sealed one for this member yet.
        case waiting
        /// The owner has removed this member; its secrets are erased. The file must be erased as well.
        case removed
    }

    /// The reasons why a group secret was not taken.
    public enum Refusal: Hashable, Sendable, CaseIterable {
        /// It is lower than the one that is held.
        case lower
        /// It does not open with a prekey that is held, or its signer has not sealed it.
        case unopened
        /// Its signer is neither the owner nor a delegate.
        case notASigner
    }

    public let identity: MemberIdentity
    private var follower: RosterFollower
    private var prekeys: PrekeyStore
    /// The newest group secret; nil until one has come.
    public private(set) var secret: GroupSecret?
    /// The secret before that, with which packets that are on their way are decrypted.
    public private(set) var formerSecret: GroupSecret?
    public private(set) var refusals: [Refusal: UInt64] = [:]
    public private(set) var isRemoved = false
    private var received: UInt64 = 0
    /// The highest roster version that has lost a member.
    private var lossVersion: UInt32 = 0
    private var isJoined = false
    private var hasJoinedBefore = false
    private var eraseFormer, erasePrekeys, tellWaiting, fetchedDue, checkPrekeys: Instant?
    private var mustSendFetched = false
    private var events: [Event] = []

    /// After that time without NEWS the relay is known to have the newest prekey, and older ones are erased.
    static let prekeyOverlap: Duration = .seconds(10)
    private static let formerDuration: Duration = .seconds(120)
    private static let formerDurationAfterLoss: Duration = .seconds(10)
    private static let waitingDuration: Duration = .seconds(30)
    private static let fetchedPause: Duration = .seconds(10)
    private static let prekeyCheckPause: Duration = .seconds(3600)

    /// `channelID` and `mediaRoot` are those of the listen link, `ownerHash` that of the link's fingerprint. `file` is
    /// what `fileContent` was in the run before; one that is damaged or of another channel counts as none.
    public init(
        _ identity: MemberIdentity, channelID: UInt128, mediaRoot: MediaRoot, ownerHash: Bytes32,
        file: LockedBytes? = nil
    ) {
        self.identity = identity
        let stored = file.flatMap { $0.withBytes { GroupSecretFile(parsing: $0, channelID: channelID) } }
        follower = RosterFollower(
            channelID: channelID, ownerHash: ownerHash, mediaRoot: mediaRoot, mark: stored?.roster ?? .none)
        prekeys = stored?.prekeys ?? PrekeyStore()
        secret = stored?.secret
        received = stored?.received ?? 0
    }

    public var channelID: UInt128 { follower.channelID }
    public var roster: SignedRoster? { follower.held }
    public var rosterRefusals: [RosterError: UInt64] { follower.refusals }

    /// Takes over a roster that was verified before.
    package mutating func hold(_ roster: SignedRoster) { follower.hold(roster) }

    /// Takes over the roster that the run before has held, unless it is older than the one that `file` remembers, or has
    /// another owner. Returns whether it was taken.
    @discardableResult
    package mutating func restore(_ roster: SignedRoster) -> Bool { follower.restore(roster) }

    /// Takes over a roster that this member has signed as the owner, and that is in force at the relay.
    public mutating func signed(_ roster: SignedRoster) {
        guard !isRemoved, roster.version > self.roster?.version ?? 0 else { return }
        let old = self.roster
        follower.hold(roster)
        apply(.replaced, after: old)
    }

    /// The member's index in the roster; nil if it is not there, or no roster is held.
    public var index: UInt16? {
        roster?.contents.entries.first { $0.key == identity.key.bytes }?.index
    }

    /// The content of the member's file.
    public var fileContent: LockedBytes {
        GroupSecretFile(
            channelID: channelID, prekeys: prekeys, secret: secret, received: received, roster: follower.mark
        ).bytes
    }

    /// The age of the newest secret in seconds; nil without one. From 7200 on people should see it.
    public func secretAge(clock: UInt64) -> UInt64? { secret.map { _ in clock > received ? clock - received : 0 } }

    /// The relay has welcomed the member.
    public mutating func joined(
        at now: Instant, clock: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        guard !isRemoved else { return }
        isJoined = true
        follower.joined(at: now)
        if secret == nil { tellWaiting = now + Self.waitingDuration }
        refreshPrekeys(clock: clock, using: &generator)
        checkPrekeys = now + Self.prekeyCheckPause
        if prekeys.pairs.count > 1 { erasePrekeys = now + Self.prekeyOverlap }
        // After a new session the relay knows what it has stored, and sends NEWS if that is not enough.
        mustSendFetched = mustSendFetched || secret == nil || !hasJoinedBefore
        hasJoinedBefore = true
    }

    /// The session has ended.
    public mutating func left() {
        isJoined = false
        (erasePrekeys, tellWaiting, fetchedDue) = (nil, nil, nil)
    }

    /// The relay has said GOODBYE or REFUSAL with reason 8.
    public mutating func notAdmitted() { remove() }

    /// An authentic announcement has named this roster version.
    public mutating func versionHeard(_ version: UInt32, at now: Instant) { follower.versionHeard(version, at: now) }

    public mutating func receive(
        _ record: RelayRecord, at now: Instant, clock: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        guard isJoined, !isRemoved else { return }
        switch record {
        case .news(let news):
            let old = roster
            apply(follower.receive(news, at: now), after: old)
            guard !isRemoved else { return }
            if let sealed = news.secret { take(sealed, at: now, clock: clock, using: &generator) }
            mustSendFetched = true
            // While NEWS comes, the relay has not understood FETCHED.
            if erasePrekeys != nil { erasePrekeys = now + Self.prekeyOverlap }
        case .rosterPage(let page):
            let old = roster
            let outcome = follower.receive(page, at: now)
            apply(outcome, after: old)
            if outcome == .replaced { mustSendFetched = true }
        case .deposited, .prekeys: return
        }
    }

    private mutating func apply(_ outcome: RosterFollower.Outcome, after old: SignedRoster?) {
        switch outcome {
        case .unchanged: return
        case .twoLists: events.append(.twoLists)
        case .replaced:
            if let old, let new = roster, old.contents.entries.contains(where: { new.contents.entry($0.index) == nil })
            {
                lossVersion = new.version
            }
            events.append(.rosterChanged)
            events.append(.fileChanged)
            if index == nil { remove() }
        }
    }

    private mutating func take(
        _ news: RosterNews.Secret, at now: Instant, clock: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        if let secret, news.id <= secret.id {
            if news.id < secret.id { refusals[.lower, default: 0] += 1 }
            return
        }
        // A secret of a roster that has not come yet is taken when NEWS is repeated.
        guard let roster, let index, news.id.rosterVersion <= roster.version else { return }
        guard roster.isSigner(news.id.signer), let signer = roster.key(of: news.id.signer) else {
            refusals[.notASigner, default: 0] += 1
            return
        }
        let opened = prekeys.pair(news.sealed.prekeyID).flatMap {
            news.sealed.opened(
                news.id, with: $0, of: identity, index: index, signer: signer, channelID: channelID)
        }
        guard let opened else {
            refusals[.unopened, default: 0] += 1
            return
        }
        use(opened, at: now, clock: clock)
        // A secret that was sealed to the newest prekey leaves the older ones without a purpose.
        if prekeys.newest?.id == news.sealed.prekeyID { _ = prekeys.eraseOld() }
        prekeys.draw(clock: clock, using: &generator)
        erasePrekeys = now + Self.prekeyOverlap
        events.append(.fileChanged)
    }

    /// Takes a secret that this member has drawn itself, as a signer.
    public mutating func drew(_ secret: GroupSecret, at now: Instant, clock: UInt64) {
        guard !isRemoved, secret.id > self.secret?.id ?? .none else { return }
        use(secret, at: now, clock: clock)
        events.append(.fileChanged)
    }

    private mutating func use(_ new: GroupSecret, at now: Instant, clock: UInt64) {
        let isAfterLoss = lossVersion > secret?.id.rosterVersion ?? .max && lossVersion <= new.id.rosterVersion
        if secret != nil {
            formerSecret = secret
            eraseFormer = now + (isAfterLoss ? Self.formerDurationAfterLoss : Self.formerDuration)
        }
        secret = new
        received = clock
        (tellWaiting, fetchedDue) = (nil, nil)
        events.append(.secretChanged(atOnce: isAfterLoss))
    }

    private mutating func remove() {
        guard !isRemoved else { return }
        isRemoved = true
        left()
        mustSendFetched = false
        prekeys.eraseAll()
        (secret, formerSecret, eraseFormer, checkPrekeys) = (nil, nil, nil, nil)
        events.append(.removed)
    }

    private mutating func refreshPrekeys(clock: UInt64, using generator: inout some RandomNumberGenerator) {
        var isChanged = prekeys.eraseExpired(clock: clock)
        if prekeys.newest == nil {
            prekeys.draw(clock: clock, using: &generator)
            isChanged = true
        }
        if isChanged { events.append(.fileChanged) }
    }

    /// Does what is due. Call it after each input, and at `nextDeadline`.
    public mutating func poll(
        at now: Instant, clock: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        if let due = eraseFormer, due <= now {
            (formerSecret, eraseFormer) = (nil, nil)
            events.append(.formerSecretErased)
        }
        if let due = erasePrekeys, due <= now {
            erasePrekeys = nil
            if prekeys.eraseOld() { events.append(.fileChanged) }
        }
        if let due = checkPrekeys, due <= now {
            checkPrekeys = now + Self.prekeyCheckPause
            if prekeys.eraseExpired(clock: clock) {
                events.append(.fileChanged)
                mustSendFetched = isJoined
            }
        }
        if mustSendFetched { refreshPrekeys(clock: clock, using: &generator) }
        guard isJoined else { return }
        if let due = tellWaiting, due <= now {
            tellWaiting = nil
            events.append(.waiting)
        }
        if let due = fetchedDue, due <= now {
            mustSendFetched = true
        }
    }

    public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// The next record for the relay. `receipt` is the session's receipt.
    public mutating func nextRecord(at now: Instant, receipt: UInt64) -> MemberRecord? {
        guard isJoined else { return nil }
        if mustSendFetched {
            mustSendFetched = false
            // Without a secret nothing tells whether the prekey has arrived.
            fetchedDue = secret == nil ? now + Self.fetchedPause : nil
            let prekey = index.flatMap { index in
                prekeys.newest?.signed(by: identity, index: index, channelID: channelID)
            }
            return .fetched(
                Fetched(rosterVersion: roster?.version ?? 0, secret: secret?.id ?? .none, prekey: prekey))
        }
        return follower.poll(at: now).map { .rosterFetch(RosterFetch(firstPage: $0, receipt: receipt)) }
    }

    /// The moment of the next call of `poll`, or of `nextRecord`; nil if nothing is due.
    public var nextDeadline: Instant? {
        [eraseFormer, erasePrekeys, tellWaiting, fetchedDue, checkPrekeys, isJoined ? follower.due : nil]
            .compactMap(\.self).min()
    }
}
