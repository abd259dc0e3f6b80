internal import TenfourAudioCore
internal import TenfourPackets

/// Requests that wait for the floor: emergencies first, then in the order in which they came.
struct FloorQueue {
    struct Entry {
        var member: FloorMemberID
        var number: UInt32
        var ssrc: SSRC
        var priority: FloorPriority
        /// The time of the member's last message.
        var lastHeard: Instant
    }

    private(set) var entries: [Entry] = []

    /// The index of the member's entry.
    func index(of member: FloorMemberID) -> Int? { entries.firstIndex { $0.member == member } }

    /// Adds an entry. If the queue is full, an emergency replaces the last normal request, which is returned; a normal
    /// request is returned itself.
    mutating func insert(_ entry: Entry) -> Entry? {
        var displaced: Entry?
        if entries.count >= FloorTiming.queueCapacity {
            guard let last = entries.last, last.priority < entry.priority else { return entry }
            displaced = entries.removeLast()
        }
        entries.insert(entry, at: entries.firstIndex { $0.priority < entry.priority } ?? entries.count)
        return displaced
    }

    mutating func remove(at index: Int) -> Entry { entries.remove(at: index) }

    mutating func removeFirst() -> Entry? { entries.isEmpty ? nil : entries.removeFirst() }

    mutating func removeAll() { entries = [] }

    mutating func heard(at index: Int, _ now: Instant) { entries[index].lastHeard = now }

    /// Removes the entries of members that were last heard at `moment` or earlier, and returns them.
    mutating func removeSilent(since moment: Instant) -> [Entry] {
        let silent = entries.filter { $0.lastHeard <= moment }
        if !silent.isEmpty { entries.removeAll { $0.lastHeard <= moment } }
        return silent
    }

    /// The earliest time at which a member was last heard.
    var oldest: Instant? { entries.lazy.map(\.lastHeard).min() }
}
