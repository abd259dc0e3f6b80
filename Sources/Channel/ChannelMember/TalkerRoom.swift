internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

// Which keys and talkers are stored, and which make room for others.
extension Talkers {
    /// Inserts a new key after the keys that have decrypted packets, and before the keys that have not. Keys are tried in
    /// this order.
    mutating func append(_ place: Int, to talker: Int) {
        let workingCount = talkers[talker].places.prefix { keys[$0]?.hasOpened ?? false }.count
        talkers[talker].places.insert(place, at: workingCount)
    }

    mutating func nextRivalSSRC() -> SSRC { SSRC(UInt32(truncatingIfNeeded: generator.next())) }

    /// Returns a free slot for a new key of `talker`. If all slots are taken, it first drops the key that was used least.
    /// Returns nil if all keys are in use.
    mutating func place(for talker: Int, at boot: Int64) -> Int? {
        let isFull = talkers[talker].places.count >= Self.maximumOwnCount
        if !isFull, let free = keys.firstIndex(where: { $0 == nil }) { return free }
        let spare =
            spare(among: isFull ? talkers[talker].places : Array(keys.indices), at: boot)
            ?? (isFull ? leastRival(of: talker, at: boot) : nil)
        if let spare { remove(spare) }
        return spare
    }

    /// Returns the key that was used least of those that neither own the SSRC nor have owned it last. A talker's next key gets
    /// its slot, because anyone with a listen link can keep keys in use.
    private func leastRival(of talker: Int, at boot: Int64) -> Int? {
        let owner = talkers[talker].owner
        return talkers[talker].places.filter { $0 != owner.place && $0 != owner.former }
            .min { place, other in
                guard let key = keys[place], let another = keys[other] else { return keys[place] == nil }
                return isSpare(key, before: another, at: boot)
            }
    }

    /// Returns the index of the key to drop: of the keys that have decrypted nothing, the key announced longest ago; if there is
    /// none, of the expired ones and then of those that are not in use the one that was used least, and of these the one whose
    /// latest decrypted packet is the oldest. Keys with which a talker was heard come last. Returns nil if all keys are in use.
    private func spare(among places: [Int], at boot: Int64) -> Int? {
        var least: (key: EpochKey, place: Int)?
        for place in places {
            guard let key = keys[place], !key.hasOpened || !key.isInUse(at: boot) else { continue }
            if let (other, _) = least, !isSpare(key, before: other, at: boot) { continue }
            least = (key, place)
        }
        return least?.place
    }

    private func isSpare(_ key: EpochKey, before other: EpochKey, at boot: Int64) -> Bool {
        if key.hasOpened != other.hasOpened { return !key.hasOpened }
        if !key.hasOpened { return key.announced < other.announced }
        return isSpare(
            (heardSince(key, at: boot), key.use(at: boot), key.opened),
            before: (heardSince(other, at: boot), other.use(at: boot), other.opened))
    }

    /// Compares two keys or talkers that have decrypted packets. What anyone with a listen link has made does not displace a
    /// talker who was heard before and is silent now.
    private func isSpare(
        _ one: (since: Int64, use: Int, opened: Int), before other: (since: Int64, use: Int, opened: Int)
    ) -> Bool {
        one.since != other.since ? one.since > other.since : (one.use, one.opened) < (other.use, other.opened)
    }

    /// The time from which the key was in use, if it has owned its SSRC and has not expired; otherwise the largest number.
    private func heardSince(_ key: EpochKey, at boot: Int64) -> Int64 {
        guard key.wasOwner, !key.isExpired(at: boot) else { return .max }
        return key.usedSince ?? .max
    }

    mutating func remove(_ place: Int) {
        keys[place] = nil
        contexts[place] = nil
        recent[place] = RecentPackets()
        for index in talkers.indices {
            talkers[index].places.removeAll { $0 == place }
            talkers[index].owner.removed(place)
        }
    }

    /// Removes the keys of these origins.
    mutating func erase(where isErased: (EpochOrigin) -> Bool) {
        for place in keys.indices { if let key = keys[place], isErased(key.origin) { remove(place) } }
        forgetEmpty()
    }

    /// Removes talkers that have no key, if none of their packets was ever decrypted.
    mutating func forgetEmpty() { talkers.removeAll { $0.places.isEmpty && $0.newest == nil } }

    /// Makes room for one more talker. If the table is full, removes the talker announced longest ago among the talkers
    /// without any decrypted packet. If there is none, removes the one that was used least among the talkers without a key in
    /// use; those who were heard, and whose keys have not expired, come last. Returns false if no talker can be removed.
    mutating func makeRoom(at now: ClockReading) -> Bool {
        guard talkers.count >= Self.maximumCount else { return true }
        let boot = now.bootMilliseconds
        let unheard = talkers.indices.filter { talkers[$0].newest == nil }
            .min { talkers[$0].announced < talkers[$1].announced }
        let unused = talkers.indices.filter { ownKeys(of: $0).allSatisfy { !$0.isInUse(at: boot) } }
            .min { isSpare(use(of: $0, at: boot), before: use(of: $1, at: boot)) }
        guard let talker = unheard ?? unused else { return false }
        for place in talkers[talker].places { remove(place) }
        talkers.remove(at: talker)
        return true
    }

    private func use(of talker: Int, at boot: Int64) -> (since: Int64, use: Int, opened: Int) {
        let own = ownKeys(of: talker)
        return (
            own.map { heardSince($0, at: boot) }.min() ?? .max, own.map { $0.use(at: boot) }.max() ?? -1,
            talkers[talker].opened
        )
    }
}
