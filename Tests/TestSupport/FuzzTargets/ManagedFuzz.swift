import TenfourAudioCore
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourPackets
import TenfourSeededRandom

/// Feeds the bytes as the line of an identity, and as the file of one.
func feedIdentity(_ bytes: Span<UInt8>) {
    if let line = try? IdentityLine(String(decoding: bytes.copied, as: UTF8.self)) {
        checkShown(line.name)
        precondition((try? IdentityLine(line.letters)) == line && (try? IdentityLine(line.words)) == line)
    }
    guard let identity = try? MemberIdentity(parsingFile: bytes) else { return }
    let again = identity.fileContent.withBytes { try? MemberIdentity(parsingFile: $0) }
    precondition(again?.key == identity.key)
}

/// Feeds the bytes as a roster: alone, as a member's file, signed by the owner, and as an encrypted page that the owner has
/// signed.
func feedRoster(_ bytes: Span<UInt8>) {
    if let list = try? AdmissionList(parsing: bytes) { precondition(list.bytes == bytes.copied) }
    let story = ManagedStory.shared
    if let kept = try? SignedRoster(parsingFile: bytes, channelID: story.channelID) {
        precondition(kept.fileContent == bytes.copied)
    }
    if bytes.count > 0, bytes.count <= 1024 {
        var member = story.newcomer
        let cipher = RosterCipher(story.root, RosterHead(story.next))
        let page = RosterPage(
            head: RosterHead(story.next), pageCount: 1, page: 0, sealed: cipher.sealedPage(bytes, 0))
        story.give(.rosterPage(page), to: &member)
        precondition(member.roster == nil || member.roster == story.next, "a roster that the owner has not signed")
    }
    guard let contents = try? RosterContents(parsing: bytes) else { return }
    precondition(contents.bytes == bytes.copied && contents.entries.count <= RosterContents.maximumEntryCount)
    for entry in contents.entries { checkShown(entry.name?.text ?? "") }
    var entries = contents.entries
    entries[0].key = story.owner.key.bytes
    guard
        let own = try? RosterContents(
            version: contents.version, time: contents.time, hasTagLists: contents.hasTagLists, entries: entries),
        let signed = try? SignedRoster(signing: own, by: story.owner, channelID: story.channelID)
    else { return }
    let verified = try? SignedRoster(
        verifying: own, signed.signature, ownerHash: story.owner.key.ownerHash, channelID: story.channelID)
    precondition(verified == signed)
    let kept = try? SignedRoster(parsingFile: signed.fileContent.span, channelID: story.channelID)
    precondition(kept == signed)
}

/// Feeds the bytes as a change of a roster: alone, and in news with the owner's signature of another change.
func feedRosterChange(_ bytes: Span<UInt8>) {
    let story = ManagedStory.shared
    if let change = try? RosterChange(parsing: bytes) {
        precondition(change.bytes == bytes.copied)
        if let applied = try? change.applied(to: story.roster.contents, version: 2, time: 0) {
            precondition((try? RosterContents(parsing: applied.bytes.span)) == applied)
        }
    }
    let head = RosterHead(story.next)
    guard let sealed = RosterCipher(story.root, head).sealedChange(bytes, follows: 1) else { return }
    var member = story.member
    story.give(.news(RosterNews(head: head, follows: 1, sealedChange: sealed, secret: nil)), to: &member)
    precondition(member.roster == story.roster || member.roster == story.next)
}

/// Feeds the bytes as a prekey that the member has signed: id, point. The signer seals to it, or refuses it.
func feedPrekey(_ bytes: Span<UInt8>) {
    guard bytes.count >= 36 else { return }
    let story = ManagedStory.shared
    let prekey = Prekey(
        id: bytes.uint32(at: 0), point: Bytes32(bytes, at: 4), index: 1, by: story.anna, channelID: story.channelID)
    var (signer, randomness) = (story.signer, SeededRandom(seed: 1))
    let entry = PrekeyList.Entry(index: 1, hasNewest: false, prekey: prekey)
    signer.receive(PrekeyList(next: 1, prekeys: [entry]), at: .start)
    let due = Instant.start + .seconds(11)
    signer.poll(at: due, using: &randomness)
    signer.receive(PrekeyList(next: 1, prekeys: [entry]), at: due)
    signer.poll(at: due, using: &randomness)
    var store = story.store
    while let record = signer.nextRecord(at: due) {
        precondition((try? MemberRecord(parsing: record.bytes.span)) == record)
        store.receive(record, from: 0, at: due)
    }
    check(store)
}

/// Feeds the bytes as each record to a relay's store, to a member and to a signer, and as a store's file.
func feedDeposit(_ bytes: Span<UInt8>) {
    let story = ManagedStory.shared
    for type: UInt8 in 15...22 {
        let content = [type] + bytes.copied
        if let record = try? MemberRecord(parsing: content.span) {
            precondition(record.bytes == content)
            for index: UInt16 in [0, 1, 2, 9] {
                var store = story.store
                store.receive(record, from: index, at: .start)
                check(store)
            }
        }
        guard let record = try? RelayRecord(parsing: content.span) else { continue }
        precondition(record.bytes == content)
        for var member in [story.member, story.newcomer] { story.give(record, to: &member) }
        var signer = story.signer
        if case .prekeys(let list) = record { signer.receive(list, at: .start) }
        if case .deposited(let deposited) = record { signer.receive(deposited, at: .start) }
    }
    let file = bytes.copied + sha256(bytes).span.copied
    for content in [bytes.copied, file, Array("tenfour managed channel 1\n".utf8) + file] {
        _ = try? ManagedChannelStore(
            parsingFile: content.span, ownerKey: story.owner.key, channelID: story.channelID)
    }
}

/// Feeds the bytes as a signed announcement: alone, and with a right tag and signature.
func feedSignedAnnouncement(_ bytes: Span<UInt8>) {
    let story = ManagedStory.shared
    var verifier = AnnouncementVerifier()
    if let announcement = try? SignedAnnouncement(parsing: bytes) {
        precondition(announcement.bytes == bytes.copied)
        precondition(verifier.check(announcement, under: [story.root], roster: story.roster, at: .start) != .accepted)
    }
    guard bytes.count >= 42, let content = try? AnnouncedEpoch(parsing: bytes.extracting(0..<36)) else { return }
    let index = UInt16(bytes[41])
    let announcement = SignedAnnouncement(
        content, rosterVersion: bytes.uint32(at: 36), index: index, by: story.anna, channelID: story.channelID,
        under: story.root)
    let verdict = verifier.check(announcement, under: [story.root], roster: story.roster, at: .start)
    let refusal: AnnouncementVerifier.Refusal = index == 0 ? .falseName : .notAMember
    precondition(verdict == (index == 1 ? .accepted : .refused(refusal)))
}

/// What a store keeps can be read again, and is bounded.
private func check(_ store: ManagedChannelStore) {
    let story = ManagedStory.shared
    let content = store.fileContent
    let again = try? ManagedChannelStore(
        parsingFile: content.span, ownerKey: story.owner.key, channelID: story.channelID)
    precondition(again?.fileContent == content, "what was written cannot be read")
    precondition(store.rosterVersion <= 1, "a roster that the owner has not signed")
    // An unfinished deposit may announce 4096 members and 421 pages.
    precondition(store.memoryByteCount < 1 << 20)
}

/// A channel with an owner, Anna, who talks, and Bob, who listens; and the next roster, without Bob.
private struct ManagedStory: Sendable {
    let channelID: UInt128 = 77
    let root = MediaRoot(copying: [UInt8](repeating: 5, count: 32).span)
    let owner, anna: MemberIdentity
    let roster, next: SignedRoster
    let member, newcomer: ManagedMember
    let signer: GroupSecretSigner
    let store: ManagedChannelStore

    static let shared: ManagedStory = {
        do { return try ManagedStory() } catch { preconditionFailure("the story is wrong: \(error)") }
    }()

    private init() throws {
        var randomness = SeededRandom(seed: 20)
        owner = MemberIdentity(using: &randomness)
        anna = MemberIdentity(using: &randomness)
        let bob = MemberIdentity(using: &randomness)
        let keys: [(IdentityKey, Role)] = [(owner.key, .talk), (anna.key, .talk), (bob.key, .listen)]
        let entries = keys.enumerated().map { number, member in
            RosterEntry(
                index: UInt16(number), role: member.1, added: 0, key: member.0, name: MemberName("Member \(number)"))
        }
        roster = try SignedRoster(
            signing: RosterContents(version: 1, time: 0, hasTagLists: false, entries: entries), by: owner,
            channelID: channelID)
        next = try SignedRoster(
            signing: RosterContents(version: 2, time: 0, hasTagLists: false, entries: entries.dropLast()), by: owner,
            channelID: channelID, known: roster)
        var newcomer = ManagedMember(anna, channelID: channelID, mediaRoot: root, ownerHash: owner.key.ownerHash)
        var member = newcomer
        member.hold(roster)
        member.joined(at: .start, clock: 1_000_000, using: &randomness)
        newcomer.joined(at: .start, clock: 1_000_000, using: &randomness)
        (self.member, self.newcomer) = (member, newcomer)
        var signer = GroupSecretSigner(owner, index: 0, roster: roster, mediaRoot: root)
        signer.joined(at: .start, secretAge: nil, using: &randomness)
        self.signer = signer
        var store = ManagedChannelStore(ownerKey: owner.key, channelID: channelID)
        for part in RosterDeposit.parts(of: roster, after: nil, hasSecret: false, mediaRoot: root) {
            store.receive(.rosterDeposit(part), from: 0, at: .start)
        }
        store.stored(true, at: .start)
        precondition(store.rosterVersion == 1)
        self.store = store
    }

    /// Gives a member a record and takes all its answers.
    func give(_ record: RelayRecord, to member: inout ManagedMember) {
        var randomness = SeededRandom(seed: 3)
        member.receive(record, at: .start, clock: 1_000_001, using: &randomness)
        member.poll(at: .start, clock: 1_000_001, using: &randomness)
        while member.nextEvent() != nil {}
        while let answer = member.nextRecord(at: .start, receipt: 0) {
            precondition((try? MemberRecord(parsing: answer.bytes.span)) == answer)
        }
        precondition(member.secret == nil, "a secret that nobody has sealed")
    }
}
