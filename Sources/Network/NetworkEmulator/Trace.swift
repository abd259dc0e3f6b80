private import TenfourAudioCore

/// A recorded sequence of delays and losses. It repeats when it ends.
public struct Trace: Hashable, Sendable {
    public enum Entry: Hashable, Sendable {
        case lost
        /// The packet is delayed by this duration, zero or more.
        case delayed(Duration)
    }

    public let entries: [Entry]
    /// The time from which each entry is valid, in nanoseconds after the first entry. Empty for a trace without times,
    /// in which each packet takes the next entry.
    let times: [Int64]
    /// The time after which a timed trace repeats, in nanoseconds; zero for a trace without times.
    let period: Int64

    /// Creates a trace in which each packet takes the next entry, whenever the packet is sent. At least one entry is
    /// required.
    public init(packets entries: [Entry]) {
        precondition(!entries.isEmpty, "a trace holds at least one entry")
        self.entries = entries
        times = []
        period = 0
    }

    /// Creates a trace in which each entry is valid for `duration` (above zero, at most a day), for all packets sent in
    /// that time. At least one entry is required.
    public init(slots entries: [Entry], of duration: Duration) {
        let step = duration.asDelay
        precondition(step > 0, "a slot is longer than zero and at most a day")
        self.init(times: entries.indices.map { Int64($0) * step }, entries: entries, lasting: step)
    }

    /// Creates a timed trace. `times`, in nanoseconds, begin with zero and ascend; the last entry is valid for `rest`
    /// nanoseconds.
    init(times: [Int64], entries: [Entry], lasting rest: Int64) {
        precondition(!entries.isEmpty && times.count == entries.count, "each entry of a trace has its time")
        self.entries = entries
        self.times = times
        period = times[times.count - 1] + rest
    }

    /// Whether a packet takes the entry for the time at which it is sent. If false, each packet takes the next entry.
    public var isTimed: Bool { !times.isEmpty }

    /// The entry for the packet with this index (0 for the first), sent `time` nanoseconds after the beginning of the
    /// link.
    func entry(forPacket index: Int, at time: Int64) -> Entry {
        guard isTimed else { return entries[index % entries.count] }
        let moment = max(time, 0) % period
        var low = 0
        var high = times.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if times[middle] <= moment { low = middle } else { high = middle }
        }
        return entries[low]
    }
}

extension Trace {
    /// Makes a trace by sending `count` packets (1 or more) of `byteCount` bytes through `network`, one packet every
    /// `slot`. Use it for programs that read traces but no models. A duplicated packet is recorded once.
    public init(
        of network: NetworkModel, seed: UInt64, count: Int, slot: Duration = .milliseconds(20), byteCount: Int = 80
    ) {
        var link = EmulatedLink(network, seed: seed, beginning: .start)
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for index in 0..<count {
            let sent = Instant(nanoseconds: Int64(index) * slot.asDelay)
            switch link.fate(ofPacket: byteCount, at: sent) {
            case .lost: entries.append(.lost)
            case .delivered(let time), .doubled(let time, _): entries.append(.delayed(time - sent))
            }
        }
        self.init(slots: entries, of: slot)
    }
}
