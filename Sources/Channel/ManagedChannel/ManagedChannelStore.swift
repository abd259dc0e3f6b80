public import TenfourAudioCore
public import TenfourChannelKeys
internal import TenfourPacing

/// The state that a relay keeps of one managed channel: whom to admit, the encrypted roster, and the sealed group secrets. It can
/// open none of them (Protocol/14-group-secrets.md). It opens no socket and no file, and reads no clock.
///
/// After each input, take `snapshot` and write its `fileContent` to the disk, on any thread, and report that by `stored`;
/// then take messages until nil; then sleep until `nextDeadline`. What a signer has deposited is acknowledged, and told
/// to the members, only when it is on disk.
public struct ManagedChannelStore: Sendable {
    public enum Message: Hashable, Sendable {
        case record(RelayRecord, to: UInt16)
        /// The member was removed: end its session with GOODBYE, reason 8.
        case goodbye(UInt16)
    }

    /// The reasons why a record was ignored; each is counted.
    public enum Refusal: Hashable, Sendable, CaseIterable {
        /// The sender may not deposit, or not ask for prekeys.
        case notASigner
        /// A secret was sealed for an index that is not on the admission list.
        case depositForStranger
        /// The deposit is not newer than the one that is held.
        case olderDeposit
        /// The roster's signature is not the owner's, or its hashes are others.
        case falseRoster
        /// More pages of the roster were asked for than are sent.
        case tooManyFetches
    }

    public let ownerKey: IdentityKey
    public let channelID: UInt128
    var roster: RelayRoster?
    var members: [RelayMember] = []
    /// Finds members by the hashes of their keys.
    var places = MemberPlaces()
    /// Whether the owner is here, before there is a roster.
    private var isOwnerHere = false
    /// The newest secret.
    public internal(set) var secretID = GroupSecretID.none
    /// The number of prekeys that have come, which orders them.
    var prekeyCount: UInt64 = 0
    public private(set) var refusals: [Refusal: UInt64] = [:]
    private(set) var unfinished: UnfinishedDeposit?
    private var replies: [Message] = []
    private var acknowledgements: [(UInt16, Deposited)] = []
    /// The number of acknowledgements of what is in the snapshot that is being written.
    private var writtenAcknowledgementCount = 0
    private var file = FileSchedule()
    private var cursor = 0
    /// No NEWS is due before this moment; nil if none is due at all.
    private var earliestNews: Instant?
    private var fetches = TokenBucket(perSecond: 200, most: 400)

    private static let unfinishedDuration: Duration = .seconds(60)
    private static let maximumReplyCount = 256
    private static let maximumNewsPause = 8

    /// `ownerKey` is the key in the relay's configuration; `channelID` that of the listen join key.
    public init(ownerKey: IdentityKey, channelID: UInt128) {
        self.ownerKey = ownerKey
        self.channelID = channelID
    }

    public var rosterVersion: UInt32 { roster?.head.version ?? 0 }

    /// Returns the member whose X25519 key has this hash (`AdmissionList.keyHash`); nil if it is not admitted. Before
    /// the first roster only the owner is admitted.
    public func admitted(_ agreementKey: Bytes32) -> AdmissionList.Entry? {
        let hash = AdmissionList.keyHash(of: agreementKey, channelID: channelID)
        if roster == nil, agreementKey == ownerKey.agreementKey {
            return AdmissionList.Entry(index: RosterEntry.ownerIndex, role: .talk, isDelegate: false, keyHash: hash)
        }
        return places.place(of: hash, in: members).map { members[$0].entry }
    }

    /// Whether the member with this index may be in the channel in this role.
    public func admits(_ index: UInt16, as role: Role) -> Bool {
        if roster == nil { return index == RosterEntry.ownerIndex }
        return members.place(of: index).map { members[$0].entry.allows(role) } ?? false
    }

    /// A member's session has sent its first record.
    public mutating func joined(_ index: UInt16, at now: Instant) {
        if roster == nil { isOwnerHere = index == RosterEntry.ownerIndex }
        guard let place = members.place(of: index) else { return }
        members[place].isHere = true
        schedule(place, at: now)
    }

    public mutating func left(_ index: UInt16) {
        if roster == nil { isOwnerHere = false }
        guard let place = members.place(of: index) else { return }
        members[place].isHere = false
        members[place].nextNews = nil
    }

    private func hasNewest(_ member: RelayMember) -> Bool {
        member.rosterVersion >= rosterVersion && (!member.hasBlob || member.secret >= secretID)
    }

    private mutating func schedule(_ place: Int, at now: Instant) {
        members[place].attempts = 0
        members[place].nextNews = nil
        if roster != nil, !hasNewest(members[place]) { sendNews(to: place, at: now) }
    }

    private mutating func sendNews(to place: Int, at moment: Instant) {
        members[place].nextNews = moment
        earliestNews = min(earliestNews ?? moment, moment)
    }

    public mutating func receive(_ record: MemberRecord, from index: UInt16, at now: Instant) {
        switch record {
        case .fetched(let fetched): receive(fetched, from: index, at: now)
        case .rosterFetch(let fetch): sendPages(from: fetch.firstPage, to: index, at: now)
        case .prekeyRequest(let since): sendPrekeys(since: since, to: index)
        case .rosterDeposit(let part): receive(part, from: index, at: now)
        case .deposit(let deposit): receive(deposit, from: index, at: now)
        }
    }

    private mutating func receive(_ fetched: Fetched, from index: UInt16, at now: Instant) {
        guard let place = members.place(of: index) else { return }
        if members[place].rosterVersion != fetched.rosterVersion || members[place].secret != fetched.secret {
            members[place].rosterVersion = fetched.rosterVersion
            members[place].secret = fetched.secret
            file.writeSoon(at: now)
        }
        if let prekey = fetched.prekey, prekey.id > members[place].prekey?.id ?? 0 {
            prekeyCount += 1
            members[place].prekey = prekey
            members[place].prekeyNumber = prekeyCount
            file.writeSoon(at: now)
        }
        if hasNewest(members[place]) {
            members[place].nextNews = nil
        } else if members[place].isHere, members[place].nextNews == nil {
            // The member has lost what it had.
            schedule(place, at: now)
        }
    }

    private mutating func sendPages(from first: UInt16, to index: UInt16, at now: Instant) {
        guard let roster, !file.isHeld, Int(first) < roster.pages.count else { return }
        guard fetches.spend(1, at: now) else { return refuse(.tooManyFetches) }
        for page in Int(first)..<min(Int(first) + RosterFollower.pagesPerRequest, roster.pages.count) {
            reply(
                .record(
                    .rosterPage(
                        RosterPage(
                            head: roster.head, pageCount: UInt16(roster.pages.count), page: UInt16(page),
                            sealed: roster.pages[page])), to: index))
        }
    }

    private mutating func sendPrekeys(since: UInt64, to index: UInt16) {
        guard isSigner(index) else { return refuse(.notASigner) }
        // A relay that has lost its file counts from 1 again.
        let since = since > prekeyCount ? 0 : since
        let newer = members.filter { $0.prekeyNumber > since }.sorted { $0.prekeyNumber < $1.prekeyNumber }
        let entries = newer.prefix(PrekeyList.maximumCount).compactMap { member in
            member.prekey.map {
                PrekeyList.Entry(
                    index: member.index, hasNewest: secretID != .none && member.secret >= secretID, prekey: $0)
            }
        }
        let last = newer.prefix(PrekeyList.maximumCount).last?.prekeyNumber ?? since
        reply(.record(.prekeys(PrekeyList(next: last, prekeys: entries)), to: index))
    }

    private func isSigner(_ index: UInt16) -> Bool {
        if roster == nil { return index == RosterEntry.ownerIndex }
        return members.place(of: index).map { members[$0].entry.isSigner } ?? false
    }

    // MARK: Deposits

    private mutating func receive(_ part: RosterDeposit, from index: UInt16, at now: Instant) {
        guard index == RosterEntry.ownerIndex else { return refuse(.notASigner) }
        guard part.version > rosterVersion else {
            if part.version == rosterVersion, case .head(let head) = part.part, head.roster == roster?.head,
                !head.hasSecret
            {
                return acknowledge(
                    Deposited(id: GroupSecretID(rosterVersion: rosterVersion, generation: 0, signer: 0), count: 0),
                    to: index, at: now)
            }
            if case .head = part.part { refuse(.olderDeposit) }
            return
        }
        guard begin(from: index, at: now) else { return }
        switch part.part {
        case .head(let head):
            guard unfinished?.roster?.head != head else { return }
            unfinished?.roster = UnfinishedDeposit.Roster(head, key: part.signaturePrefix)
            if unfinished?.secret?.id.rosterVersion != part.version { unfinished?.secret = nil }
        case .admission(let place, let entries):
            guard unfinished?.roster?.key == part.signaturePrefix else { return }
            unfinished?.roster?.insert(entries, at: place)
        case .page(let page, let sealed):
            guard unfinished?.roster?.key == part.signaturePrefix else { return }
            unfinished?.roster?.insert(sealed, at: page)
        }
        finish(at: now)
    }

    private mutating func receive(_ deposit: GroupSecretDeposit, from index: UInt16, at now: Instant) {
        guard index == deposit.id.signer, isSigner(index) else { return refuse(.notASigner) }
        if deposit.isAddition || deposit.id == secretID { return add(deposit, from: index, at: now) }
        let newVersion = unfinished?.roster?.head.roster.version
        guard deposit.id > secretID, [rosterVersion, newVersion].contains(deposit.id.rosterVersion) else {
            return refuse(.olderDeposit)
        }
        guard begin(from: index, at: now) else { return }
        if unfinished?.secret?.id != deposit.id || unfinished?.secret?.total != deposit.total {
            unfinished?.secret = UnfinishedDeposit.Secret(id: deposit.id, total: deposit.total)
        }
        for entry in deposit.entries { unfinished?.secret?.insert(entry) }
        finish(at: now)
    }

    /// Stores the present secret for members with newer prekeys, or acknowledges a deposit that is held.
    private mutating func add(_ deposit: GroupSecretDeposit, from index: UInt16, at now: Instant) {
        guard deposit.id == secretID else { return refuse(.olderDeposit) }
        if deposit.isAddition {
            for entry in deposit.entries {
                guard let place = members.place(of: entry.index) else {
                    refuse(.depositForStranger)
                    continue
                }
                members[place].sealed = entry.sealed
                if members[place].isHere { schedule(place, at: now) }
            }
            file.hold(at: now)
        }
        acknowledge(Deposited(id: deposit.id, count: UInt32(deposit.total)), to: index, at: now)
    }

    /// Returns whether the unfinished deposit is this signer's. One of another signer gives way when it is too old, or
    /// to the owner.
    private mutating func begin(from index: UInt16, at now: Instant) -> Bool {
        if let old = unfinished, now - old.began < Self.unfinishedDuration {
            if old.signer == index { return true }
            guard index == RosterEntry.ownerIndex else { return false }
        }
        unfinished = UnfinishedDeposit(signer: index, began: now)
        return true
    }

    private mutating func finish(at now: Instant) {
        guard let deposit = unfinished else { return }
        if let new = deposit.roster {
            guard new.missingCount == 0 else { return }
            if new.head.hasSecret {
                guard let secret = deposit.secret, secret.isComplete,
                    secret.id.rosterVersion == new.head.roster.version
                else { return }
            }
        } else {
            guard deposit.secret?.isComplete ?? false else { return }
        }
        unfinished = nil
        if let new = deposit.roster, !replaceRoster(new, at: now) { return refuse(.falseRoster) }
        // Before the acknowledgement, which waits for the disk.
        file.hold(at: now)
        if let new = deposit.roster {
            if !new.head.hasSecret {
                let id = GroupSecretID(rosterVersion: rosterVersion, generation: 0, signer: 0)
                acknowledge(Deposited(id: id, count: 0), to: deposit.signer, at: now)
            }
        }
        if let secret = deposit.secret, secret.isComplete, secret.id > secretID {
            replaceSecret(secret)
            acknowledge(
                Deposited(id: secret.id, count: UInt32(secret.total)), to: deposit.signer, at: now)
        }
        for place in members.indices where members[place].isHere { schedule(place, at: now) }
    }

    /// Puts a roster in force. Returns false, and changes nothing, unless the owner has signed it.
    private mutating func replaceRoster(_ new: UnfinishedDeposit.Roster, at now: Instant) -> Bool {
        let entries = new.entries.compactMap(\.self)
        let version = new.head.roster.version
        guard entries.count == new.entries.count,
            let list = try? AdmissionList(version: version, checking: entries),
            ownerKey.hasSigned(
                new.head.roster.message(channelID, new.head.rosterHash, list.hash), new.head.roster.signature)
        else { return false }
        let old = members
        members = list.entries.map { entry in
            var member = RelayMember(entry)
            if let place = old.place(of: entry.index) { member.inherit(from: old[place]) }
            return member
        }
        places = MemberPlaces(members)
        if old.isEmpty { members[0].isHere = isOwnerHere }
        // A member that may talk no more must join anew, too.
        for member in old where member.isHere {
            let new = members.place(of: member.index).map { members[$0] }
            let stays = new.map { $0.keyHash == member.keyHash && $0.entry.allows(member.entry.role) }
            if !(stays ?? false) { reply(.goodbye(member.index)) }
        }
        roster = RelayRoster(
            head: new.head.roster, hash: new.head.rosterHash, pages: new.pages, follows: new.head.follows,
            sealedChange: new.head.sealedChange)
        return true
    }

    private mutating func replaceSecret(_ secret: UnfinishedDeposit.Secret) {
        secretID = secret.id
        for place in members.indices { members[place].sealed = nil }
        for (number, index) in secret.indexes.enumerated() {
            guard let place = members.place(of: index) else {
                refuse(.depositForStranger)
                continue
            }
            members[place].sealed = secret.sealed(at: number)
        }
    }

    private mutating func refuse(_ refusal: Refusal) { refusals[refusal, default: 0] += 1 }

    // MARK: The disk

    private mutating func acknowledge(_ deposited: Deposited, to index: UInt16, at now: Instant) {
        acknowledgements.append((index, deposited))
        if !file.isHeld { sendAcknowledgements(acknowledgements.count) }
    }

    private mutating func sendAcknowledgements(_ count: Int) {
        for (index, deposited) in acknowledgements.prefix(count) { reply(.record(.deposited(deposited), to: index)) }
        acknowledgements.removeFirst(count)
    }

    /// The moment from which `fileContent` should be written; nil if nothing has changed, or while it is being written.
    public var storeDue: Instant? { file.deadline }

    /// Returns what is to be written now; nil if nothing is. `stored` must follow when it is on disk.
    public mutating func snapshot(at now: Instant) -> ManagedChannelStore? {
        guard let due = file.deadline, due <= now else { return nil }
        file.begin()
        writtenAcknowledgementCount = acknowledgements.count
        return self
    }

    /// Reports whether the snapshot is on disk, or the present content if there was none. After a failure it is to be
    /// written again in a second.
    public mutating func stored(_ isStored: Bool, at now: Instant) {
        let count = file.isWriting ? writtenAcknowledgementCount : acknowledgements.count
        file.finish(isStored: isStored, at: now)
        if isStored { sendAcknowledgements(count) } else { acknowledgements.removeFirst(count) }
    }

    // MARK: Messages

    private mutating func reply(_ message: Message) {
        // A member that asks faster than messages are taken loses answers. There is one goodbye for each member at most.
        guard replies.count < Self.maximumReplyCount || isGoodbye(message) else { return }
        replies.append(message)
    }

    /// The next message for a member; nil if none is due.
    public mutating func nextMessage(at now: Instant) -> Message? {
        if let old = unfinished, now - old.began >= Self.unfinishedDuration { unfinished = nil }
        if !replies.isEmpty, !file.isHeld || !isGoodbye(replies[0]) { return replies.removeFirst() }
        guard !file.isHeld, let roster, let earliestNews, earliestNews <= now else { return nil }
        for _ in members.indices {
            cursor = cursor + 1 < members.count ? cursor + 1 : 0
            guard let due = members[cursor].nextNews, due <= now else { continue }
            let pause = min(1 << min(Int(members[cursor].attempts), 3), Self.maximumNewsPause)
            members[cursor].attempts = min(members[cursor].attempts + 1, 3)
            sendNews(to: cursor, at: now + .seconds(pause))
            return .record(.news(news(for: members[cursor], roster)), to: members[cursor].index)
        }
        self.earliestNews = members.lazy.compactMap(\.nextNews).min()
        return nil
    }

    private func isGoodbye(_ message: Message) -> Bool { if case .goodbye = message { true } else { false } }

    private func news(for member: RelayMember, _ roster: RelayRoster) -> RosterNews {
        let follows = member.rosterVersion == roster.follows && roster.follows > 0
        let secret = member.secret < secretID ? member.sealed : nil
        return RosterNews(
            head: roster.head, follows: follows ? roster.follows : 0, sealedChange: follows ? roster.sealedChange : [],
            secret: secret.map { RosterNews.Secret(id: secretID, sealed: $0) })
    }

    /// The moment of the next message, or of the next writing; nil if nothing is due. There may be no message then.
    public var nextDeadline: Instant? {
        guard !file.isHeld, let earliestNews else { return storeDue }
        return storeDue.map { min($0, earliestNews) } ?? earliestNews
    }
}
