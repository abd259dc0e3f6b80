public import TenfourAudioCore
public import TenfourChannelKeys
internal import TenfourPacing
public import TenfourPackets

/// Decides whether a signed announcement is what it says, in the order of Protocol/13-members.md: cheap checks come
/// first, and signatures are limited to 50 a second.
///
/// It remembers at most 256 SSRCs. The checks of page 05, such as freshness, come after it.
public struct AnnouncementVerifier: Sendable {
    /// The reason why an announcement is refused; each is counted.
    public enum Refusal: Hashable, Sendable, CaseIterable {
        /// The tag was not made with a group secret that is held.
        case forged
        /// The index is not in the roster that is held, or has only the role of a listener.
        case notAMember
        /// Another member has sent packets under this SSRC in the last 15 s.
        case anotherMembersSSRC
        /// More signatures, or SSRCs, than are checked.
        case tooMany
        /// The signature is not the member's.
        case falseName
    }

    public enum Verdict: Hashable, Sendable {
        case accepted
        case refused(Refusal)
    }

    /// The time for which an SSRC belongs to a member after its last packet.
    public static let claimDuration: Duration = .seconds(15)
    static let maximumSSRCCount = 256
    private static let signaturesPerSecond = 50.0
    private static let signatureBurst = 100.0

    /// The number of refused announcements, by reason.
    public private(set) var refusals: [Refusal: UInt64] = [:]
    /// The highest roster version that an authentic announcement has named. If it is higher than the version that is
    /// held, the roster must be fetched.
    public private(set) var announcedRosterVersion: UInt32 = 0
    private var signatures = TokenBucket(perSecond: signaturesPerSecond, most: signatureBurst)
    private var claims: [SSRC: Claim] = [:]
    private var verified: [SSRC: Verified] = [:]

    /// An SSRC belongs to the member whose packets were decrypted under it.
    private struct Claim {
        var index: UInt16
        var last: Instant
    }

    /// The latest announcement of an SSRC whose signature was right.
    private struct Verified {
        var announcement: SignedAnnouncement
        var key: IdentityKey
        var last: Instant
    }

    public init() {}

    /// Checks an announcement. `roots` are the group media roots of the secrets that are held, the newest first.
    public mutating func check(
        _ announcement: SignedAnnouncement, under roots: [MediaRoot], roster: SignedRoster, at now: Instant
    ) -> Verdict {
        guard let refusal = refusal(of: announcement, under: roots, roster: roster, at: now) else { return .accepted }
        refusals[refusal, default: 0] += 1
        return .refused(refusal)
    }

    private mutating func refusal(
        of announcement: SignedAnnouncement, under roots: [MediaRoot], roster: SignedRoster, at now: Instant
    ) -> Refusal? {
        guard roots.contains(where: { announcement.isAuthentic(under: $0) }) else { return .forged }
        announcedRosterVersion = max(announcedRosterVersion, announcement.rosterVersion)
        let index = announcement.index
        guard roster.contents.entry(index)?.role == .talk, let key = roster.key(of: index) else { return .notAMember }
        let ssrc = announcement.content.ssrc
        if let claim = claims[ssrc], claim.index != index, now - claim.last < Self.claimDuration {
            return .anotherMembersSSRC
        }
        // The key is compared too, because a new roster may give the same bytes another meaning.
        if let known = verified[ssrc], known.announcement == announcement, known.key == key {
            verified[ssrc]?.last = now
            return nil
        }
        guard makeRoom(for: ssrc, at: now), signatures.spend(1, at: now) else { return .tooMany }
        guard announcement.isSigned(by: key, channelID: roster.channelID) else { return .falseName }
        verified[ssrc] = Verified(announcement: announcement, key: key, last: now)
        return nil
    }

    /// Records that a packet was decrypted under an epoch that the member `index` has announced. Until 15 s after the
    /// last packet no other member can announce this SSRC.
    public mutating func packetDecrypted(_ ssrc: SSRC, by index: UInt16, at now: Instant) {
        guard claims[ssrc] != nil || claims.count < Self.maximumSSRCCount || dropClaims(at: now) else { return }
        claims[ssrc] = Claim(index: index, last: now)
    }

    /// The member whose packets are decrypted under this SSRC; nil if none was in the last 15 s.
    public func talker(of ssrc: SSRC, at now: Instant) -> UInt16? {
        claims[ssrc].flatMap { now - $0.last < Self.claimDuration ? $0.index : nil }
    }

    /// Whether there is room to remember an announcement of this SSRC. SSRCs that were not announced for 15 s are
    /// forgotten to make room, and no others: a member with many SSRCs cannot displace those of others.
    private mutating func makeRoom(for ssrc: SSRC, at now: Instant) -> Bool {
        if verified[ssrc] != nil || verified.count < Self.maximumSSRCCount { return true }
        verified = verified.filter { now - $0.value.last < Self.claimDuration }
        return verified.count < Self.maximumSSRCCount
    }

    private mutating func dropClaims(at now: Instant) -> Bool {
        claims = claims.filter { now - $0.value.last < Self.claimDuration }
        return claims.count < Self.maximumSSRCCount
    }
}
