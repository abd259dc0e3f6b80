/// An index of frame offsets, one entry per second, for all packets parsed from the start on. Positions are in ticks of
/// `FrameHeader`.
struct FrameIndex {
    struct Entry: Equatable {
        var offset: Int
        /// The position in ticks, counted from the first packet, encoder delay included.
        var time: Int
    }

    private(set) var entries: [Entry]
    /// The offset and position of the first packet that is not parsed yet.
    private(set) var end: Entry
    /// Whether `end` is the end of the stream.
    private(set) var isComplete = false

    private var spacing: Int
    /// The largest number of entries, 36 hours of audio; beyond it every other entry is dropped.
    private static let limit = 1 << 17

    init(from offset: Int, spacing: Int) {
        end = Entry(offset: offset, time: 0)
        entries = [end]
        self.spacing = max(spacing, 1)
    }

    /// Appends a packet that begins at byte `offset`: at `end`, or later if other bytes lie before the packet.
    mutating func append(offset: Int, byteCount: Int, duration: Int) {
        end.offset = offset
        if end.time - entries[entries.count - 1].time >= spacing {
            entries.append(end)
            if entries.count > Self.limit {
                entries = stride(from: 0, to: entries.count, by: 2).map { entries[$0] }
                spacing *= 2
            }
        }
        end = Entry(offset: offset + byteCount, time: end.time + duration)
    }

    mutating func complete() { isComplete = true }

    /// Returns the last entry at or before `time`.
    func entry(atOrBefore time: Int) -> Entry {
        var (low, high) = (0, entries.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if entries[middle].time <= time { low = middle } else { high = middle }
        }
        return entries[low]
    }

    /// Returns the last entry at or before byte `offset`.
    func entry(atOrBeforeByte offset: Int) -> Entry {
        var (low, high) = (0, entries.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if entries[middle].offset <= offset { low = middle } else { high = middle }
        }
        return entries[low]
    }
}
