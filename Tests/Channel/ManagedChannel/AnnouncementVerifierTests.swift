import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourSeededRandom
import Testing

@testable import TenfourManagedChannel

/// Signed announcements: the vector, and each check in its order.
struct AnnouncementVerifierTests {
    private let vectors = ManagedVectors.written
    private let root: MediaRoot
    private let roster: SignedRoster
    private var verifier = AnnouncementVerifier()

    init() throws {
        let vectors = vectors
        let secret = GroupSecret(
            GroupSecretID(rosterVersion: 5, generation: 3, signer: 7),
            LockedBytes(copying: hex(vectors.groupSecret).span))
        root = secret.mediaRoot(from: MediaRootVector.root, channelID: vectors.channel)
        roster = try SignedRoster(
            signing: RosterContents(parsing: ManagedVectors.bytes("roster").span), by: vectors.identity("owner"),
            channelID: vectors.channel)
    }

    private func announcement(
        _ ssrc: UInt32 = 1, index: UInt16 = 1, by name: String = "anna", number: UInt16 = 0, version: UInt32 = 4,
        channel: UInt128? = nil, under other: MediaRoot? = nil
    ) -> SignedAnnouncement {
        let content = AnnouncedEpoch(
            suite: SRTPSuite(rawValue: 1)!, ssrc: SSRC(ssrc), epoch: Epoch(rawValue: 5),
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: number)), at: WallClock(milliseconds: 9_000)
        )
        return SignedAnnouncement(
            content, rosterVersion: version, index: index, by: vectors.identity(name),
            channelID: channel ?? vectors.channel, under: other ?? root)
    }

    private mutating func check(_ announcement: SignedAnnouncement, at seconds: Int = 0) -> AnnouncementVerifier.Verdict
    {
        verifier.check(announcement, under: [root], roster: roster, at: .start + .seconds(seconds))
    }

    @Test func theVectorIsReadAndWritten() throws {
        let bytes = Array(ManagedVectors.bytes("announcement").dropFirst(4))
        let read = try SignedAnnouncement(parsing: bytes.span)
        #expect(read.bytes == bytes)
        #expect(read.content.ssrc == SSRC(0xA0B0_C0D0) && read.content.index.sequenceNumber.rawValue == 65_534)
        #expect(read.rosterVersion == 4 && read.index == 1 && read.content.seconds == UInt64(vectors.added) + 300)
        var verifier = verifier
        #expect(verifier.check(read, under: [root], roster: roster, at: .start) == .accepted)
        #expect(
            SignedAnnouncement(
                read.content, rosterVersion: 4, index: 1, by: vectors.identity("anna"), channelID: vectors.channel,
                under: root) == read)
    }

    @Test func bytesOfAnotherFormAreRefused() {
        let bytes = announcement().bytes
        for count in [0, 52, 123, 125] {
            let other = Array((bytes + bytes).prefix(count))
            #expect(throws: ControlParseError.length(count)) { try SignedAnnouncement(parsing: other.span) }
        }
        for (offset, value): (Int, UInt8) in [(0, 9), (1, 1), (42, 1), (43, 1)] {
            var changed = bytes
            changed[offset] = value
            #expect(throws: ControlParseError.value) { try SignedAnnouncement(parsing: changed.span) }
        }
    }

    /// Changes each bit: nothing is accepted, and almost nothing costs a signature.
    @Test mutating func noChangedByteIsAccepted() throws {
        let bytes = announcement().bytes
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            guard let read = try? SignedAnnouncement(parsing: changed.span) else { continue }
            #expect(check(read) == .refused(.forged), "byte \(place)")
        }
    }

    @Test mutating func aStrangerToTheGroupSecretForgesNothing() {
        #expect(check(announcement(under: MediaRootVector.root)) == .refused(.forged))
        // The former secret is good, too.
        let verdict = verifier.check(
            announcement(), under: [MediaRootVector.root, root], roster: roster, at: .start)
        #expect(verdict == .accepted)
    }

    @Test mutating func onlyATalkerOfTheRosterAnnounces() {
        #expect(check(announcement(index: 9, by: "bob")) == .refused(.notAMember), "a listener")
        #expect(check(announcement(index: 2)) == .refused(.notAMember), "an index that is not there")
        #expect(verifier.announcedRosterVersion == 4)
        #expect(check(announcement(index: 2, version: 6)) == .refused(.notAMember))
        #expect(verifier.announcedRosterVersion == 6, "the roster must be fetched")
    }

    @Test mutating func nobodyTakesAnothersName() {
        #expect(check(announcement(index: 0, by: "anna")) == .refused(.falseName))
        #expect(check(announcement(channel: 7)) == .refused(.falseName), "an announcement of another channel")
        #expect(check(announcement()) == .accepted)
    }

    @Test mutating func anSSRCBelongsToItsTalkerFor15Seconds() {
        verifier.packetDecrypted(SSRC(1), by: 0, at: .start)
        #expect(check(announcement(1), at: 14) == .refused(.anotherMembersSSRC))
        #expect(check(announcement(2), at: 14) == .accepted)
        #expect(check(announcement(1, index: 0, by: "owner"), at: 14) == .accepted)
        #expect(verifier.talker(of: SSRC(1), at: .start + .seconds(14)) == 0)
        #expect(verifier.talker(of: SSRC(1), at: .start + .seconds(15)) == nil)
        #expect(check(announcement(1), at: 15) == .accepted)
    }

    /// 100 at once, then 50 a second. The same bytes again cost nothing.
    @Test mutating func signaturesAreLimited() {
        var accepted: [SignedAnnouncement] = []
        for number in 0..<130 {
            let announcement = announcement(UInt32(number))
            if check(announcement) == .accepted { accepted.append(announcement) }
        }
        #expect(accepted.count == 100 && verifier.refusals == [.tooMany: 30])
        for announcement in accepted { #expect(check(announcement) == .accepted) }
        #expect((200..<300).count { check(announcement($0), at: 1) == .accepted } == 50)
    }

    /// Nor do many SSRCs displace those that were announced in the last 15 s.
    @Test mutating func noMoreThan256SSRCsAreRemembered() {
        for number in 0..<256 {
            #expect(check(announcement(UInt32(number)), at: number / 25) == .accepted)
        }
        #expect(check(announcement(256), at: 12) == .refused(.tooMany))
        #expect(check(announcement(0), at: 12) == .accepted)
        #expect(check(announcement(257), at: 16) == .accepted)
    }
}
