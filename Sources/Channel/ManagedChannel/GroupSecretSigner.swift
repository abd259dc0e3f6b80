public import TenfourAudioCore
public import TenfourChannelKeys
internal import TenfourPacing

/// Draws group secrets, seals them for the members and deposits them at the relay: the part of the owner, and of each
/// delegate (Protocol/14-group-secrets.md). It opens no socket and reads no clock.
///
/// After each input, call `poll`, take records until nil and events until nil, then sleep until `nextDeadline`.
public struct GroupSecretSigner: Sendable {
    public enum Event: Sendable {
        /// The relay has stored this secret: from now on use it as a member (`ManagedMember.drew`).
        case deposited(GroupSecret)
        /// The relay has stored this roster, and it is in force.
        case rosterDeposited(version: UInt32)
    }

    private struct Waiting: Sendable {
        var prekey: Prekey
        /// The prekey to which the present secret was sealed; nil if it was not.
        var sealedTo: UInt32?
        var hasNewest: Bool
    }

    private struct Deposit: Sendable {
        /// The relay's answer when it has all.
        var answer: Deposited
        var secret: GroupSecret?
        var rosterVersion: UInt32?
        var records: [MemberRecord]
        var next = 0
        var attempts = 0
        var retry: Instant?
    }

    private let identity: MemberIdentity
    private let index: UInt16
    private let root: MediaRoot
    private var roster: SignedRoster
    /// The newest secret; its own one if this signer has drawn it.
    private var secret: GroupSecretID
    private var ownSecret: GroupSecret?
    private var members: [UInt16: Waiting] = [:]
    private var since: UInt64 = 0
    private var deposit: Deposit?
    /// Whether a secret must be deposited as soon as the prekeys are known.
    private var wantsSecret = false
    private var wantedRoster: [RosterDeposit] = []
    private var isJoined = false
    private var due: Instant?
    private var ask: Instant?
    private var isAsked = false
    private var lastDrawn: Instant?
    private var pace = TokenBucket(perSecond: 40, most: 80)
    private var paced: Instant?
    private var events: [Event] = []
    /// The number of prekeys that were refused: their signature is wrong, their id not higher, or their order low.
    public private(set) var refusedPrekeyCount: UInt64 = 0
    /// The number of members for whom the latest deposited secret is sealed.
    public private(set) var depositedCount = 0

    static let period: Duration = .seconds(3600)
    private static let askPause: Duration = .seconds(10)
    private static let answerPause: Duration = .seconds(1)
    private static let minimumDrawPause: Duration = .seconds(60)
    private static let maximumRetryPause = 8

    /// `secret` is the newest one that this signer holds as a member.
    public init(
        _ identity: MemberIdentity, index: UInt16, roster: SignedRoster, mediaRoot: MediaRoot,
        secret: GroupSecret? = nil
    ) {
        self.identity = identity
        self.index = index
        self.roster = roster
        root = mediaRoot
        self.secret = secret?.id ?? .none
        ownSecret = secret?.id.signer == index ? secret : nil
    }

    /// The relay has welcomed the signer. `secretAge` is the age of the newest secret; nil if there is none.
    public mutating func joined(
        at now: Instant, secretAge: Duration?, using generator: inout some RandomNumberGenerator
    ) {
        isJoined = true
        ask = now
        isAsked = false
        let age = secretAge ?? Self.period
        // Several signers that come at the same time wait by chance, so that mostly one draws.
        due =
            age >= Self.period
            ? now + .milliseconds(Int64.random(in: 0...10_000, using: &generator))
            : now + (Self.period - age) + Self.spread(using: &generator)
        if deposit != nil { restartDeposit() }
    }

    public mutating func left() {
        isJoined = false
        (ask, due, paced) = (nil, nil, nil)
    }

    /// ± 10 % of the period.
    private static func spread(using generator: inout some RandomNumberGenerator) -> Duration {
        .milliseconds(Int64.random(in: -360_000...360_000, using: &generator))
    }

    /// The member part has a newer roster. A signer that is the owner calls `deposit` instead.
    public mutating func follow(_ roster: SignedRoster) {
        guard roster.version > self.roster.version else { return }
        self.roster = roster
        members = members.filter { roster.contents.entry($0.key) != nil }
        // The relay has a newer roster than the one that is on its way, so it takes that one no more.
        if let version = deposit?.rosterVersion ?? wantedRoster.first?.version, version < roster.version {
            deposit = nil
            wantedRoster = []
        }
    }

    /// The member part has a secret that another signer has drawn.
    public mutating func follow(
        _ other: GroupSecretID, at now: Instant, using generator: inout some RandomNumberGenerator
    ) {
        guard other > secret, other > deposit?.answer.id ?? .none else { return }
        secret = other
        ownSecret = nil
        if deposit?.secret != nil { deposit = nil }
        for key in members.keys { members[key]?.sealedTo = nil }
        if isJoined { due = now + Self.period + Self.spread(using: &generator) }
    }

    /// The owner deposits a roster that it has signed, and draws a secret with it if a member was lost, or if a secret is
    /// due or on its way. `drawsSecret` asks for one in any case.
    ///
    /// The same roster may be deposited again: a relay that has lost its state takes it, and others say that they have it.
    public mutating func deposit(_ new: SignedRoster, drawsSecret: Bool = false, at now: Instant) {
        let old = roster
        let losesMember = old.contents.entries.contains { new.contents.entry($0.index) == nil }
        wantsSecret = wantsSecret || losesMember || drawsSecret || deposit?.secret != nil
        deposit = nil
        follow(new)
        wantedRoster = RosterDeposit.parts(
            of: new, after: old.version < new.version ? old : nil, hasSecret: wantsSecret, mediaRoot: root)
        if wantsSecret { askNow(at: now) }
    }

    private mutating func askNow(at now: Instant) {
        ask = now
        isAsked = false
    }

    public mutating func receive(_ deposited: Deposited, at now: Instant) {
        guard let deposit, deposited == deposit.answer else { return }
        self.deposit = nil
        depositedCount = Int(deposited.count)
        if let version = deposit.rosterVersion { events.append(.rosterDeposited(version: version)) }
        if let secret = deposit.secret, secret.id > self.secret {
            self.secret = secret.id
            ownSecret = secret
            events.append(.deposited(secret))
        }
    }

    public mutating func receive(_ list: PrekeyList, at now: Instant) {
        since = list.next
        for entry in list.prekeys { take(entry) }
        // A full record has more behind it.
        ask = list.prekeys.count == PrekeyList.maximumCount ? now : now + Self.askPause
        isAsked = list.prekeys.count < PrekeyList.maximumCount
    }

    private mutating func take(_ entry: PrekeyList.Entry) {
        guard let key = roster.key(of: entry.index), entry.index != index else { return }
        let known = members[entry.index]
        guard entry.prekey.id > known?.prekey.id ?? 0,
            entry.prekey.isSigned(by: key, index: entry.index, channelID: roster.channelID)
        else {
            if entry.prekey != known?.prekey { refusedPrekeyCount += 1 }
            members[entry.index]?.hasNewest = entry.hasNewest
            return
        }
        members[entry.index] = Waiting(prekey: entry.prekey, sealedTo: known?.sealedTo, hasNewest: entry.hasNewest)
    }

    /// Does what is due.
    public mutating func poll(at now: Instant, using generator: inout some RandomNumberGenerator) {
        guard isJoined else { return }
        if let due, due <= now {
            self.due = nil
            wantsSecret = true
            askNow(at: now)
        }
        if var current = deposit, let retry = current.retry, retry <= now {
            (current.next, current.retry) = (0, nil)
            deposit = current
        }
        guard deposit == nil, isAsked else {
            if deposit == nil, !wantsSecret, !wantedRoster.isEmpty { begin(nil, at: now) }
            return
        }
        if wantsSecret {
            draw(at: now, using: &generator)
        } else if !wantedRoster.isEmpty {
            begin(nil, at: now)
        } else {
            sealAgain(at: now, using: &generator)
        }
    }

    private mutating func draw(at now: Instant, using generator: inout some RandomNumberGenerator) {
        wantsSecret = false
        lastDrawn = now
        due = now + Self.period + Self.spread(using: &generator)
        let generation = secret.rosterVersion == roster.version ? secret.generation : 0
        guard generation < .max else { return }
        let drawn = GroupSecret(
            GroupSecretID(rosterVersion: roster.version, generation: generation + 1, signer: index),
            LockedBytes(count: GroupSecret.byteCount, using: &generator))
        for key in members.keys {
            members[key]?.sealedTo = nil
            members[key]?.hasNewest = false
        }
        begin(drawn, at: now, entries: seal(drawn, for: members.keys.sorted(), using: &generator))
    }

    private mutating func seal(
        _ secret: GroupSecret, for indexes: [UInt16], using generator: inout some RandomNumberGenerator
    ) -> [GroupSecretDeposit.Entry] {
        let sealer = GroupSecretSealer(secret, pair: LockedBytes(count: 32, using: &generator))
        return indexes.compactMap { index in
            guard let member = members[index], let key = roster.key(of: index) else { return nil }
            let sealed = sealer.sealed(
                for: index, key, member.prekey, by: identity, channelID: roster.channelID)
            members[index]?.sealedTo = member.prekey.id
            if sealed == nil { refusedPrekeyCount += 1 }
            return sealed.map { GroupSecretDeposit.Entry(index: index, sealed: $0) }
        }
    }

    /// Seals the present secret for members that have given a newer prekey without having fetched it. A signer that has
    /// not drawn the present secret draws a new one for them, at most once a minute.
    private mutating func sealAgain(at now: Instant, using generator: inout some RandomNumberGenerator) {
        let behind = members.filter { !$0.value.hasNewest && $0.value.sealedTo != $0.value.prekey.id }.keys.sorted()
        guard !behind.isEmpty, secret != .none || ownSecret != nil else { return }
        guard let ownSecret else {
            if lastDrawn.map({ now - $0 >= Self.minimumDrawPause }) ?? true { wantsSecret = true }
            return
        }
        let entries = seal(ownSecret, for: Array(behind.prefix(GroupSecretDeposit.maximumCount)), using: &generator)
        guard !entries.isEmpty else { return }
        let record = GroupSecretDeposit(
            id: ownSecret.id, isAddition: true, total: UInt16(entries.count), entries: entries)
        deposit = Deposit(
            answer: Deposited(id: ownSecret.id, count: UInt32(entries.count)), records: [.deposit(record)])
    }

    private mutating func begin(
        _ secret: GroupSecret?, at now: Instant, entries: [GroupSecretDeposit.Entry] = []
    ) {
        var records = wantedRoster.map { MemberRecord.rosterDeposit($0) }
        let version = wantedRoster.first?.version
        wantedRoster = []
        if let secret {
            for start in stride(from: 0, to: max(entries.count, 1), by: GroupSecretDeposit.maximumCount) {
                let part = Array(entries[start..<min(start + GroupSecretDeposit.maximumCount, entries.count)])
                records.append(
                    .deposit(
                        GroupSecretDeposit(
                            id: secret.id, isAddition: false, total: UInt16(entries.count), entries: part)))
            }
        }
        let id = secret?.id ?? GroupSecretID(rosterVersion: version ?? 0, generation: 0, signer: 0)
        deposit = Deposit(
            answer: Deposited(id: id, count: UInt32(entries.count)), secret: secret, rosterVersion: version,
            records: records)
    }

    private mutating func restartDeposit() {
        deposit?.next = 0
        deposit?.retry = nil
    }

    public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// The next record for the relay. At most 80 come at once, and 40 a second, below the relay's limit.
    public mutating func nextRecord(at now: Instant) -> MemberRecord? {
        guard isJoined else { return nil }
        let isAskDue = ask.map { $0 <= now } ?? false
        let isDepositDue = deposit.map { $0.next < $0.records.count } ?? false
        guard isAskDue || isDepositDue else { return nil }
        guard pace.spend(1, at: now) else {
            paced = now + .milliseconds(25)
            return nil
        }
        paced = nil
        if isAskDue {
            ask = now + Self.answerPause
            return .prekeyRequest(since: since)
        }
        guard var current = deposit else { return nil }
        let record = current.records[current.next]
        current.next += 1
        if current.next == current.records.count {
            current.retry = now + .seconds(min(1 << current.attempts, Self.maximumRetryPause))
            current.attempts = min(current.attempts + 1, 6)
        }
        deposit = current
        return record
    }

    public var nextDeadline: Instant? {
        guard isJoined else { return nil }
        // While the pace holds records back, a question that is due waits, too.
        return [due, paced == nil ? ask : nil, deposit?.retry, paced].compactMap(\.self).min()
    }
}
