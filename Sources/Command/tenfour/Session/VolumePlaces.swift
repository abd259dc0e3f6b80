import TenfourRadio

/// The talkers whose volume is not the usual one. A session keeps the volumes of a limited number of talkers, and this
/// table decides which: somebody who appears under many SSRCs does not displace those that the user has set.
struct VolumePlaces {
    /// The entry that was set last is the last one.
    private var entries: [Entry] = []
    private var present: Set<ListedTalker.Place> = []
    /// The names of the talkers who are here.
    private var names: [ListedTalker.Place: String] = [:]

    struct Entry {
        let place: ListedTalker.Place
        let volume: TalkerVolume
        /// Whether the user has set it in this talk; otherwise it comes from the file.
        let isByUser: Bool
        /// Whether it was set or kept under a name.
        var isNamed: Bool
    }

    /// A volume that is not yet in the file.
    struct Unwritten {
        let place: ListedTalker.Place
        let volume: TalkerVolume
        let name: String
    }

    subscript(place: ListedTalker.Place) -> Entry? { entries.first { $0.place == place } }

    func name(of place: ListedTalker.Place) -> String? { names[place] }

    /// These talkers are here now.
    mutating func follow(_ talkers: [ListedTalker]) {
        present = Set(talkers.map(\.place))
        names = [:]
        for talker in talkers { names[talker.place] = talker.keptName }
    }

    /// Returns the volumes of the talkers who have their first name now.
    mutating func takeUnwritten() -> [Unwritten] {
        var unwritten: [Unwritten] = []
        for index in entries.indices where !entries[index].isNamed {
            guard let name = name(of: entries[index].place) else { continue }
            entries[index].isNamed = true
            unwritten.append(Unwritten(place: entries[index].place, volume: entries[index].volume, name: name))
        }
        return unwritten
    }

    /// Inserts a volume. If its session has no room, an entry is removed. Volumes of the file remove only those of
    /// talkers who are away and, if they mute, those that do not mute.
    mutating func insert(
        _ volume: TalkerVolume, of place: ListedTalker.Place, isByUser: Bool
    ) -> (isFound: Bool, removed: ListedTalker.Place?) {
        let wasNamed = self[place]?.isNamed ?? false
        entries.removeAll { $0.place == place }
        guard volume != .usual else { return (true, nil) }
        var removed: ListedTalker.Place?
        if entries.count(where: { $0.place.session == place.session }) >= RadioSession.talkerVolumeCount {
            guard let index = leastNeeded(in: place.session, for: volume, isByUser: isByUser) else {
                return (false, nil)
            }
            removed = entries.remove(at: index).place
        }
        let isNamed = wasNamed || name(of: place) != nil
        entries.append(Entry(place: place, volume: volume, isByUser: isByUser, isNamed: isNamed))
        return (true, removed)
    }

    /// Returns the entry of a session that can be removed for a new one: the oldest of those who are away, or else of those
    /// who are not muted, or else of those from the file. Of each, those from the file come first.
    private func leastNeeded(in session: Int, for volume: TalkerVolume, isByUser: Bool) -> Int? {
        func first(where isSuited: (Entry) -> Bool) -> Int? {
            entries.firstIndex { $0.place.session == session && isSuited($0) }
        }
        func isAway(_ entry: Entry) -> Bool { !present.contains(entry.place) }
        if let away = first(where: { isAway($0) && !$0.isByUser }) ?? first(where: isAway) { return away }
        guard isByUser || volume.isMuted else { return nil }
        if let heard = first(where: { !$0.volume.isMuted && !$0.isByUser }) ?? first(where: { !$0.volume.isMuted }) {
            return heard
        }
        return isByUser ? first { !$0.isByUser } ?? first { _ in true } : nil
    }
}
