internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets

// The packets of the talkers.
extension Talkers {
    /// Decrypts a packet of `ssrc` into `bytes`, which must have room for it. `boot` is CLOCK_BOOTTIME at its arrival.
    mutating func open(
        _ packet: Span<UInt8>, of ssrc: SSRC, into bytes: inout [UInt8], at boot: Instant
    ) -> Outcome {
        guard let talker = index(of: ssrc) else { return .unopened }
        let places = talkers[talker].places
        let digest = RecentPackets.Digest(of: packet)
        for place in places where recent[place].contains(digest) { return .replayed }
        let number = SequenceNumber(rawValue: packet.uint16(at: 2))
        let timestamp = RTPTimestamp(rawValue: packet.uint32(at: 4))
        let boot = boot.nanoseconds / 1_000_000
        var outcome = Outcome.unopened
        // One bit for each key that might decrypt the packet if its number, its timestamp or its bytes were others.
        var strayed: UInt8 = 0
        for (turn, place) in places.enumerated() {
            guard let key = keys[place], !key.isExpired(at: boot) else { continue }
            guard key.fits(number, timestamp, at: boot) else {
                strayed |= 1 << turn
                continue
            }
            switch Self.unprotect(packet, by: &contexts[place], into: &bytes) {
            case .opened(let byteCount):
                guard let staleness = key.staleness(timestamp, freshness, at: boot) else {
                    return opened(byteCount, by: place, of: talker, packet, into: &bytes, at: boot)
                }
                // Another key of this epoch may have the clock of the talker.
                outcome = .late(staleness)
            case .malformed: return .malformed
            case .replayed:
                if key.hasOpened { strayed |= 1 << turn }
                if outcome == .unopened { outcome = .replayed }
            case .unopened, .late: break
            }
        }
        guard outcome == .unopened || outcome == .replayed else { return outcome }
        for (turn, place) in places.enumerated() where strayed & 1 << turn != 0 {
            guard let stray = keys[place], !isTried(stray, number, places[..<turn]), !stray.isForgotten(number) else {
                continue
            }
            guard strays.spend(1, at: .start + .milliseconds(boot)) else { break }
            if let result = open(packet, beside: stray, of: talker, into: &bytes, at: boot) { return result }
        }
        return outcome
    }

    /// Whether one of the keys at `places` gives the same SRTP key and index for a packet `number` as `key`.
    private func isTried(_ key: EpochKey, _ number: SequenceNumber, _ places: ArraySlice<Int>) -> Bool {
        places.contains { place in
            guard let other = keys[place], other.hasOpened else { return false }
            return other.epoch == key.epoch && other.origin.isSame(as: key.origin)
                && other.closest(number) == key.closest(number)
        }
    }

    /// Decrypts a packet under the key of `stray` that does not fit what this key has decrypted: somebody with the same key has
    /// made the one or the other. Or it is early, because the announcement was old. It gets a key of its own. Returns nil if the
    /// packet is not authentic.
    private mutating func open(
        _ packet: Span<UInt8>, beside stray: EpochKey, of talker: Int, into bytes: inout [UInt8], at boot: Int64
    ) -> Outcome? {
        let ssrc = talkers[talker].ssrc
        let index = stray.closest(SequenceNumber(rawValue: packet.uint16(at: 2)))
        var context: SRTPContext? = try? SRTPContext(
            receiving: stray.masterKey(of: ssrc), ssrc: ssrc, at: index, packetsPerSecond: Self.mostPacketsPerSecond)
        guard case .opened(let byteCount) = Self.unprotect(packet, by: &context, into: &bytes) else { return nil }
        if let staleness = stray.staleness(RTPTimestamp(rawValue: packet.uint32(at: 4)), freshness, at: boot) {
            return .late(staleness)
        }
        guard let place = place(for: talker, at: boot) else { return nil }
        contexts[place] = consume context
        keys[place] = EpochKey(beside: stray, at: index, rivalSSRC: nextRivalSSRC(), boot)
        append(place, to: talker)
        return opened(byteCount, by: place, of: talker, packet, into: &bytes, at: boot)
    }

    private static func unprotect(
        _ packet: Span<UInt8>, by context: inout SRTPContext?, into bytes: inout [UInt8]
    ) -> Outcome {
        // Copies the packet anew for each key, because a key that fails may have overwritten the copy.
        for index in packet.indices { bytes[index] = packet[index] }
        var span = bytes.mutableSpan
        var opening = span._mutatingExtracting(..<packet.count)
        do throws(SRTPError) {
            guard let byteCount = try context?.unprotect(&opening) else { return .unopened }
            return .opened(byteCount)
        } catch {
            switch error {
            case .replayed, .old: return .replayed
            case .malformed, .noRoom: return .malformed
            case .forged, .otherSource, .keyUsedUp, .other: return .unopened
            }
        }
    }

    /// Takes note of a decrypted packet, and writes the SSRC under which it is delivered.
    private mutating func opened(
        _ byteCount: Int, by place: Int, of talker: Int, _ packet: Span<UInt8>, into bytes: inout [UInt8],
        at boot: Int64
    ) -> Outcome {
        worked(place, of: talker, packet, at: boot)
        let isDelivered = isDelivered(by: place, of: talker, packet, at: boot)
        if talkers[talker].places.first != place { putFirst(place, of: talker) }
        if !isDelivered, let key = keys[place] {
            for index in 0..<4 {
                bytes[8 + index] = UInt8(truncatingIfNeeded: key.rivalSSRC.rawValue >> (24 - 8 * index))
            }
        }
        return .opened(byteCount)
    }

    private mutating func worked(_ place: Int, of talker: Int, _ packet: Span<UInt8>, at boot: Int64) {
        openedCount += 1
        latest = keys[place]?.origin.index.map { (talkers[talker].ssrc, $0) }
        talkers[talker].opened = openedCount
        keys[place]?.opened = openedCount
        recent[place].insert(RecentPackets.Digest(of: packet))
        guard let key = keys[place], !key.hasOpened else {
            keys[place]?.worked(packet, at: boot, others: [])
            return
        }
        // Removes the other keys of this epoch that have decrypted nothing: their announcements stated a wrong time or
        // packet index.
        let others = talkers[talker].places.filter {
            $0 != place && keys[$0]?.epoch == key.epoch && keys[$0]?.hasOpened == false
        }
        let clocks = others.compactMap { keys[$0]?.clock }
        keys[place]?.worked(packet, at: boot, others: clocks)
        for other in others { remove(other) }
        talkers[talker].newest = max(talkers[talker].newest ?? key.epoch, key.epoch)
    }

    /// Puts a key first in the order in which keys are tried, behind the owner of the SSRC: what both decrypt is the owner's.
    private mutating func putFirst(_ place: Int, of talker: Int) {
        let owner = talkers[talker].owner.place
        talkers[talker].places.removeAll { $0 == place }
        talkers[talker].places.insert(place, at: owner != nil && owner == talkers[talker].places.first ? 1 : 0)
    }

    // MARK: - Several keys of one SSRC

    /// Whether a former owner gets its SSRC back from the present one: the one that was in use earlier does at once. The other one
    /// does not while the SSRC is contested, so they do not alternate.
    private func hasPriority(_ former: EpochKey, over present: EpochKey?, isContested: Bool, at boot: Int64) -> Bool {
        guard let present else { return true }
        if former.usedSince ?? .max < present.usedSince ?? .max { return true }
        return !isContested && former.use(at: boot) > present.use(at: boot)
    }

    /// Whether a packet that the key at `place` has decrypted is delivered under the announced SSRC.
    private mutating func isDelivered(
        by place: Int, of talker: Int, _ packet: Span<UInt8>, at boot: Int64
    ) -> Bool {
        let number = SequenceNumber(rawValue: packet.uint16(at: 2))
        var owner = talkers[talker].owner
        defer {
            interferenceCount += owner.interferenceCount - talkers[talker].owner.interferenceCount
            talkers[talker].owner = owner
        }
        guard let key = keys[place], owner.place != place else {
            owner.heard(number, at: boot)
            return true
        }
        let present = owner.place.flatMap { keys[$0] }
        if key.wasOwner {
            if owner.isJustBefore(number, at: boot) { return true }
            // A talker whose packets go on at once has not begun another epoch.
            if owner.isNew(at: boot)
                || hasPriority(key, over: present, isContested: owner.isContested(at: boot), at: boot)
            {
                owner.giveBack(to: place, from: number, at: boot)
                return true
            }
        }
        // In a managed channel, the member has signed that both epochs are its own.
        let isSigned = key.origin.index != nil && key.origin.index == present?.origin.index
        let timestamp = RTPTimestamp(rawValue: packet.uint32(at: 4))
        let isNext =
            key.epoch > present?.epoch ?? key.epoch
            && (isSigned
                || owner.isContinued(by: number, announcedAt: key.made, at: boot)
                    && present?.fits(number, timestamp, at: boot) ?? true)
        let isSilent = owner.isSilent(at: boot)
        guard isNext || isSilent else {
            owner.rivalHeard(at: boot)
            return false
        }
        owner.take(place, from: number, continues: !isSilent, at: boot)
        keys[place]?.wasOwner = true
        return true
    }
}
