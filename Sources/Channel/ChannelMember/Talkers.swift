internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets

/// The SRTP keys of the other talkers, at most eight for each talker. The key that decrypted the latest packet is tried
/// first.
///
/// Every member can announce epochs for every SSRC, and make packets of them. So a key in use keeps its slot until it expires;
/// the others replace each other only, those first that were used least. Where several keys of an SSRC are used,
/// `SSRCOwner` keeps their packets apart.
struct Talkers: ~Copyable, Sendable {
    var contexts = InlineArray<128, SRTPContext?> { _ in nil }
    var keys = [EpochKey?](repeating: nil, count: Self.maximumKeyCount)
    /// The latest packets that each key has decrypted.
    var recent = [RecentPackets](repeating: RecentPackets(), count: Self.maximumKeyCount)
    var talkers: [Talker] = []
    private var announcementCount = 0
    var openedCount = 0
    /// The member of a managed channel whose packet was decrypted last; nil in an open channel.
    var latest: (ssrc: SSRC, index: UInt16)?
    /// The limits on the age of packets; nil if our clock says nothing about it.
    var freshness: MediaFreshness?
    /// Draws SSRCs of rivals that nobody can guess.
    var generator: CSPRNG
    /// Limits the packets for which a key is derived only to see whether they are authentic.
    var strays = TokenBucket(perSecond: 400, most: 400)
    /// The number of packets that somebody has put beside those of talkers under their SSRCs.
    var interferenceCount = 0

    /// A member that has announced an SSRC, and the keys announced for this SSRC.
    struct Talker: Sendable {
        let ssrc: SSRC
        /// The indices of the talker's keys in `keys`, in the order in which they are tried.
        var places: [Int] = []
        /// The newest epoch whose key has decrypted a packet; nil if there is none.
        var newest: Epoch?
        /// The serial number of the talker's latest announcement, counted over all talkers.
        var announced = 0
        /// The serial number of the talker's latest decrypted packet, counted over all talkers; 0 before the first
        /// packet.
        var opened = 0
        var owner = SSRCOwner()
    }

    static let maximumCount = 64
    static let maximumKeyCount = 128
    /// The maximum number of SRTP keys that are stored for a talker.
    static let maximumOwnCount = 8
    /// The highest packet rate of a talker: one packet for every 2.5 ms, the shortest Opus frame.
    static let mostPacketsPerSecond = 400

    /// The result of decrypting a packet.
    enum Outcome: Equatable {
        /// The packet was decrypted; the RTP packet has this many bytes.
        case opened(Int)
        case replayed
        /// The packet was delayed over 2 s longer than the fastest packet of its epoch, or is too old by the talker's
        /// clock. An attacker on the path may have held it back, or the network has become much slower.
        case late(EpochKey.Staleness)
        case malformed
        /// No known key decrypts the packet.
        case unopened
    }

    /// The result of handling an authentic announcement.
    enum AnnouncementResult: Equatable {
        /// The announcement brings a new key, or makes an expired key valid again. Held packets may be decrypted now.
        case begun
        case known
        /// The announced epoch is older than the epoch that the talker uses.
        case older
        /// The announcement states a time too far from our clock, or from the talker's clock as known from earlier
        /// packets.
        case offTime
        /// There is no slot for a key, because all stored keys are in use.
        case full
    }

    init(using generator: inout some RandomNumberGenerator) { self.generator = CSPRNG(using: &generator) }

    /// Whether `ssrc` is in the table: the SSRC has been announced, and its talker was not replaced by another one.
    func knows(_ ssrc: SSRC) -> Bool { index(of: ssrc) != nil }

    func index(of ssrc: SSRC) -> Int? { talkers.firstIndex { $0.ssrc == ssrc } }

    // MARK: - Announcements

    mutating func announcementArrived(
        _ announcement: AnnouncedEpoch, of origin: EpochOrigin, at now: ClockReading
    ) -> AnnouncementResult {
        announcementCount += 1
        guard let talker = index(of: announcement.ssrc) else {
            guard now.error(of: announcement) <= now.maximumError(of: announcement) else { return .offTime }
            guard makeRoom(at: now) else { return .full }
            talkers.append(Talker(ssrc: announcement.ssrc, announced: announcementCount))
            return addKey(of: talkers.count - 1, announcement, of: origin, at: now)
        }
        talkers[talker].announced = announcementCount
        let boot = now.bootMilliseconds
        let opened = talkers[talker].places.filter { place in
            keys[place].map { $0.hasOpened && $0.epoch == announcement.epoch && $0.origin.isSame(as: origin) } ?? false
        }
        let agreeing = opened.filter { keys[$0]?.clock.continues(announcement, at: boot) ?? false }
        // A key that somebody has made with another clock does not keep the talker's own announcement away.
        if !opened.isEmpty, !agreeing.isEmpty || now.error(of: announcement) > Self.presentError {
            return renew(agreeing.isEmpty ? opened : agreeing, of: talker, announcement, of: origin, at: now)
        }
        if isOlder(announcement, than: talker, at: now) { return .older }
        for place in talkers[talker].places {
            guard let key = keys[place], key.epoch == announcement.epoch, key.origin.isSame(as: origin),
                key.agrees(with: announcement, at: boot)
            else { continue }
            keys[place]?.announced = announcementCount
            _ = keys[place]?.renew(announcement, at: boot)
            return .known
        }
        guard isTimely(announcement, of: talker, at: now) else { return .offTime }
        return addKey(of: talker, announcement, of: origin, at: now)
    }

    /// Handles another announcement of an epoch whose keys at `places` have already decrypted packets.
    private mutating func renew(
        _ places: [Int], of talker: Int, _ announcement: AnnouncedEpoch, of origin: EpochOrigin, at now: ClockReading
    ) -> AnnouncementResult {
        var clock: SenderClock?
        var (isExpired, isInReach) = (false, false)
        for place in places {
            guard let key = renewed(place, announcement, at: now) else { continue }
            clock = clock ?? key.clock
            isExpired = isExpired || keys[place]?.isExpired(at: now.bootMilliseconds) ?? false
            isInReach = isInReach || !key.isBeyondReach(announcement.index)
            keys[place] = key
        }
        guard let clock else { return .offTime }
        guard isInReach else { return addKey(of: talker, announcement, of: origin, clock: clock, at: now) }
        return isExpired ? .begun : .known
    }

    /// Returns the key after another announcement of its epoch; nil if the announcement contradicts its clock.
    private func renewed(_ place: Int, _ announcement: AnnouncedEpoch, at now: ClockReading) -> EpochKey? {
        guard var key = keys[place] else { return nil }
        key.announced = announcementCount
        if !key.renew(announcement, at: now.bootMilliseconds) {
            // Resets the clock only for an epoch without timing, because such an epoch announces the wall clock. The
            // wall clock may be set at any time.
            guard !key.clock.isTimed, now.error(of: announcement) <= Announcement.maximumClockError else { return nil }
            key.resetClock(announcement, at: now.bootMilliseconds)
        }
        return key
    }

    /// The largest difference, in milliseconds, between our clock and that of an announcement of the present.
    private static let presentError = UInt64(SenderClock.patience)

    /// Whether the announced epoch is older than the newest epoch that the talker uses, and may have been recorded. Everybody
    /// with a listen link can make a newer one: it does not keep an announcement away that is of the present by our clock, or by
    /// the clock of a key of this SSRC.
    private func isOlder(_ announcement: AnnouncedEpoch, than talker: Int, at now: ClockReading) -> Bool {
        guard let newest = talkers[talker].newest, announcement.epoch < newest else { return false }
        let boot = now.bootMilliseconds
        // Accepts an older epoch if the key of the newest epoch has expired, because the talker's clock may have been
        // set back since.
        let own = ownKeys(of: talker).filter { $0.hasOpened && !$0.isExpired(at: boot) }
        guard own.contains(where: { $0.epoch == newest }) else { return false }
        return now.error(of: announcement) > Self.presentError
            && !own.contains { $0.clock.continues(announcement, at: boot) }
    }

    func ownKeys(of talker: Int) -> [EpochKey] { talkers[talker].places.compactMap { keys[$0] } }

    /// Whether the time in an announcement is close enough to the talker's clock as known from earlier packets, or to
    /// our clock. Applies to the first announcement of an epoch, and to an announcement that disagrees with the epoch's
    /// earlier announcements.
    private func isTimely(_ announcement: AnnouncedEpoch, of talker: Int, at now: ClockReading) -> Bool {
        let own = ownKeys(of: talker)
        // Checks the talker's known clock first, because our wall clock may have been set since we heard the talker.
        let boot = now.bootMilliseconds
        if own.contains(where: { $0.hasOpened && $0.clock.continues(announcement, at: boot) }) { return true }
        let error = now.error(of: announcement)
        guard error <= now.maximumError(of: announcement) else { return false }
        // Refuses the announcement if both clocks are synchronised and an earlier announcement of this epoch was closer
        // to our clock. The closer announcement is then the true one.
        return !now.bothSynchronised(announcement)
            || !own.contains {
                $0.epoch == announcement.epoch && !$0.isExpired(at: boot) && $0.error + Self.sameError < error
            }
    }

    /// A tolerance for the differences between two announcements and our clock, in milliseconds. If these differences
    /// are at most this far apart, neither announcement counts as closer to our clock.
    private static let sameError: UInt64 = 250

    private mutating func addKey(
        of talker: Int, _ announcement: AnnouncedEpoch, of origin: EpochOrigin, clock: SenderClock? = nil,
        at now: ClockReading
    ) -> AnnouncementResult {
        let made = ownKeys(of: talker).filter { $0.epoch == announcement.epoch }.map(\.made).min()
        let key = origin.root.masterKey(announcement.suite, ssrc: announcement.ssrc, epoch: announcement.epoch)
        guard let place = place(for: talker, at: now.bootMilliseconds),
            let context = try? SRTPContext(
                receiving: key, ssrc: announcement.ssrc, at: announcement.index,
                packetsPerSecond: Self.mostPacketsPerSecond)
        else {
            forgetEmpty()
            return .full
        }
        contexts[place] = consume context
        keys[place] = EpochKey(
            announcement, of: origin, clock: clock, announced: announcementCount, since: made,
            rivalSSRC: nextRivalSSRC(), at: now)
        append(place, to: talker)
        forgetEmpty()
        return .begun
    }
}
