internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// The SRTP keys of the other talkers, at most eight for each talker. The key that decrypted the latest packet is tried
/// first.
///
/// Every member can announce epochs for every SSRC. So a key that has decrypted packets keeps its slot until it
/// expires; until then, no key that has decrypted nothing can replace it.
struct Talkers: ~Copyable, Sendable {
    private var contexts = InlineArray<128, SRTPContext?> { _ in nil }
    private var keys = [EpochKey?](repeating: nil, count: Self.maximumKeyCount)
    private var talkers: [Talker] = []
    private var announcementCount = 0
    private var openedCount = 0
    /// The member of a managed channel whose packet was decrypted last; nil in an open channel.
    private(set) var latest: (ssrc: SSRC, index: UInt16)?
    /// The limits on the age of packets; nil if our clock says nothing about it.
    var freshness: MediaFreshness?

    /// A member that has announced an SSRC, and the keys announced for this SSRC.
    private struct Talker: Sendable {
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
    }

    private static let maximumCount = 64
    private static let maximumKeyCount = 128
    /// The maximum number of SRTP keys that are stored for a talker.
    private static let maximumOwnCount = 8
    /// The maximum number of a talker's keys that have decrypted packets. If there are more, the key that was used
    /// least recently is removed.
    private static let maximumOpenedCount = 4
    /// The highest packet rate of a talker: one packet for every 2.5 ms, the shortest Opus frame.
    private static let mostPacketsPerSecond = 400

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
        /// There is no free slot for a key, because all stored keys are in use.
        case full
    }

    /// Whether `ssrc` is in the table: the SSRC has been announced, and its talker was not replaced by another one.
    func knows(_ ssrc: SSRC) -> Bool { index(of: ssrc) != nil }

    private func index(of ssrc: SSRC) -> Int? { talkers.firstIndex { $0.ssrc == ssrc } }

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
        for place in talkers[talker].places {
            guard let key = keys[place], key.epoch == announcement.epoch, key.origin.isSame(as: origin),
                key.hasOpened
            else { continue }
            return renew(place, of: talker, announcement, of: origin, at: now)
        }
        if isOlder(announcement.epoch, than: talker, at: boot) { return .older }
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

    /// Handles another announcement of an epoch whose key has already decrypted packets.
    private mutating func renew(
        _ place: Int, of talker: Int, _ announcement: AnnouncedEpoch, of origin: EpochOrigin, at now: ClockReading
    ) -> AnnouncementResult {
        let boot = now.bootMilliseconds
        guard var key = keys[place] else { return .offTime }
        let wasExpired = key.isExpired(at: boot)
        key.announced = announcementCount
        if !key.renew(announcement, at: boot) {
            // Resets the clock only for an epoch without timing, because such an epoch announces the wall clock. The
            // wall clock may be set at any time.
            guard !key.clock.isTimed, now.error(of: announcement) <= Announcement.maximumClockError else {
                return .offTime
            }
            key.resetClock(announcement, at: boot)
        }
        keys[place] = key
        if key.isBeyondReach(announcement.index) {
            return addKey(of: talker, announcement, of: origin, clock: key.clock, at: now)
        }
        return wasExpired ? .begun : .known
    }

    /// Whether `epoch` is older than the newest epoch that the talker uses.
    private func isOlder(_ epoch: Epoch, than talker: Int, at boot: Int64) -> Bool {
        guard let newest = talkers[talker].newest, epoch < newest else { return false }
        // Accepts an older epoch if the key of the newest epoch has expired, because the talker's clock may have been
        // set back since.
        return ownKeys(of: talker).contains { $0.epoch == newest && $0.hasOpened && !$0.isExpired(at: boot) }
    }

    private func ownKeys(of talker: Int) -> [EpochKey] { talkers[talker].places.compactMap { keys[$0] } }

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
            || !own.contains { $0.epoch == announcement.epoch && $0.error + Self.sameError < error }
    }

    /// A tolerance for the differences between two announcements and our clock, in milliseconds. If these differences
    /// are at most this far apart, neither announcement counts as closer to our clock.
    private static let sameError: UInt64 = 250

    private mutating func addKey(
        of talker: Int, _ announcement: AnnouncedEpoch, of origin: EpochOrigin, clock: SenderClock? = nil,
        at now: ClockReading
    ) -> AnnouncementResult {
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
        keys[place] = EpochKey(announcement, of: origin, clock: clock, announced: announcementCount, at: now)
        // Inserts the new key after the keys that have decrypted packets, and before the keys that have not. Keys are
        // tried in this order.
        let workingCount = talkers[talker].places.prefix { keys[$0]?.hasOpened ?? false }.count
        talkers[talker].places.insert(place, at: workingCount)
        forgetEmpty()
        return .begun
    }

    /// Returns a free slot for a new key of `talker`. If all slots are taken, it first drops a key that has decrypted
    /// nothing or, if there is none, an expired key. Returns nil if no key can be dropped.
    private mutating func place(for talker: Int, at boot: Int64) -> Int? {
        let isFull = talkers[talker].places.count >= Self.maximumOwnCount
        if !isFull, let free = keys.firstIndex(where: { $0 == nil }) { return free }
        let spare = spare(among: isFull ? talkers[talker].places : Array(keys.indices), at: boot)
        if let spare { remove(spare) }
        return spare
    }

    /// Returns the index of the key to drop: of the keys that have decrypted nothing, the key announced longest ago. If
    /// all keys have decrypted packets, it is the expired key whose latest decrypted packet is the oldest; nil if no
    /// key has expired.
    private func spare(among places: [Int], at boot: Int64) -> Int? {
        var (unopened, expired): (EpochKey?, EpochKey?)
        var (unopenedPlace, expiredPlace): (Int?, Int?)
        for place in places {
            guard let key = keys[place] else { continue }
            if !key.hasOpened, key.announced < unopened?.announced ?? .max {
                (unopened, unopenedPlace) = (key, place)
            } else if key.hasOpened, key.isExpired(at: boot), key.opened < expired?.opened ?? .max {
                (expired, expiredPlace) = (key, place)
            }
        }
        return unopenedPlace ?? expiredPlace
    }

    private mutating func remove(_ place: Int) {
        keys[place] = nil
        contexts[place] = nil
        for index in talkers.indices { talkers[index].places.removeAll { $0 == place } }
    }

    /// Removes the keys of these origins.
    mutating func erase(where isErased: (EpochOrigin) -> Bool) {
        for place in keys.indices { if let key = keys[place], isErased(key.origin) { remove(place) } }
        forgetEmpty()
    }

    /// Removes talkers that have no key, if none of their packets was ever decrypted.
    private mutating func forgetEmpty() { talkers.removeAll { $0.places.isEmpty && $0.newest == nil } }

    /// Makes room for one more talker. If the table is full, removes the talker announced longest ago among the talkers
    /// without any decrypted packet. If there is none, removes the talker whose latest decrypted packet is the oldest
    /// among the talkers whose keys have expired. Returns false if no talker can be removed.
    private mutating func makeRoom(at now: ClockReading) -> Bool {
        guard talkers.count >= Self.maximumCount else { return true }
        let boot = now.bootMilliseconds
        let unheard = talkers.indices.filter { talkers[$0].newest == nil }
            .min { talkers[$0].announced < talkers[$1].announced }
        let expired = talkers.indices.filter { ownKeys(of: $0).allSatisfy { $0.isExpired(at: boot) } }
            .min { talkers[$0].opened < talkers[$1].opened }
        guard let talker = unheard ?? expired else { return false }
        for place in talkers[talker].places { remove(place) }
        talkers.remove(at: talker)
        return true
    }

    // MARK: - Packets

    /// Decrypts a packet of `ssrc` into `bytes`, which must have room for it. `boot` is CLOCK_BOOTTIME at its arrival.
    mutating func open(
        _ packet: Span<UInt8>, of ssrc: SSRC, into bytes: inout [UInt8], at boot: Instant
    ) -> Outcome {
        guard let talker = index(of: ssrc) else { return .unopened }
        let timestamp = RTPTimestamp(rawValue: packet.uint32(at: 4))
        let boot = boot.nanoseconds / 1_000_000
        var outcome = Outcome.unopened
        for place in talkers[talker].places {
            guard let key = keys[place], !key.isExpired(at: boot) else { continue }
            switch unprotect(packet, by: place, into: &bytes) {
            case .opened(let byteCount):
                guard let staleness = key.staleness(timestamp, freshness, at: boot) else {
                    worked(place, of: talker, packet, at: boot)
                    return .opened(byteCount)
                }
                // If the key has decrypted a packet before, its clock is right, so the packet is late. If not, its
                // announcement may have stated a wrong time, so the next key is tried.
                if key.hasOpened { return .late(staleness) }
                outcome = .late(staleness)
            case .malformed: return .malformed
            case .replayed: if outcome == .unopened { outcome = .replayed }
            case .unopened, .late: break
            }
        }
        return outcome
    }

    private mutating func unprotect(_ packet: Span<UInt8>, by place: Int, into bytes: inout [UInt8]) -> Outcome {
        // Copies the packet anew for each key, because a key that fails may have overwritten the copy.
        for index in packet.indices { bytes[index] = packet[index] }
        var span = bytes.mutableSpan
        var opening = span._mutatingExtracting(..<packet.count)
        do throws(SRTPError) {
            guard let byteCount = try contexts[place]?.unprotect(&opening) else { return .unopened }
            return .opened(byteCount)
        } catch {
            switch error {
            case .replayed, .old: return .replayed
            case .malformed, .noRoom: return .malformed
            case .forged, .otherSource, .keyUsedUp, .other: return .unopened
            }
        }
    }

    private mutating func worked(_ place: Int, of talker: Int, _ packet: Span<UInt8>, at boot: Int64) {
        openedCount += 1
        latest = keys[place]?.origin.index.map { (talkers[talker].ssrc, $0) }
        talkers[talker].opened = openedCount
        keys[place]?.opened = openedCount
        guard let key = keys[place], !key.hasOpened else {
            keys[place]?.worked(packet, at: boot, others: [])
            if talkers[talker].places.first != place { putFirst(place, of: talker) }
            return
        }
        // Removes the other keys of this epoch, whose announcements stated a wrong time or packet index.
        let others = talkers[talker].places.filter { $0 != place && keys[$0]?.epoch == key.epoch }
        let clocks = others.compactMap { keys[$0]?.clock }
        keys[place]?.worked(packet, at: boot, others: clocks)
        for other in others { remove(other) }
        talkers[talker].newest = max(talkers[talker].newest ?? key.epoch, key.epoch)
        putFirst(place, of: talker)
        let working = talkers[talker].places.filter { keys[$0]?.hasOpened ?? false }
        if working.count > Self.maximumOpenedCount,
            let oldest = working.min(by: { (keys[$0]?.opened ?? 0) < (keys[$1]?.opened ?? 0) })
        {
            remove(oldest)
        }
    }

    private mutating func putFirst(_ place: Int, of talker: Int) {
        talkers[talker].places.removeAll { $0 == place }
        talkers[talker].places.insert(place, at: 0)
    }
}
