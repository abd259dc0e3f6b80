/// Where in a resource which frame of sound lies, as far as packets were parsed from the beginning on: one entry a second.
struct FrameIndex {
    struct Entry: Equatable {
        var offset: Int
        /// From the first packet on, its own start included.
        var frame: Int
    }

    private(set) var entries: [Entry]
    /// The first that was not parsed yet.
    private(set) var end: Entry
    /// Nothing follows `end`.
    private(set) var isComplete = false

    private var spacing: Int
    /// More entries than these would be a day and a half of sound: then every other one is let go.
    private static let limit = 1 << 17

    init(from offset: Int, spacing: Int) {
        end = Entry(offset: offset, frame: 0)
        entries = [end]
        self.spacing = max(spacing, 1)
    }

    /// A packet that begins at `end`, or behind it where something that is no packet lies between.
    mutating func append(offset: Int, byteCount: Int, frameCount: Int) {
        end.offset = offset
        if end.frame - entries[entries.count - 1].frame >= spacing {
            entries.append(end)
            if entries.count > Self.limit {
                entries = stride(from: 0, to: entries.count, by: 2).map { entries[$0] }
                spacing *= 2
            }
        }
        end = Entry(offset: offset + byteCount, frame: end.frame + frameCount)
    }

    mutating func complete() { isComplete = true }

    /// The last entry at or before `frame`.
    func entry(atOrBefore frame: Int) -> Entry {
        var (low, high) = (0, entries.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if entries[middle].frame <= frame { low = middle } else { high = middle }
        }
        return entries[low]
    }

    /// The last entry at or before the byte.
    func entry(atOrBeforeByte offset: Int) -> Entry {
        var (low, high) = (0, entries.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if entries[middle].offset <= offset { low = middle } else { high = middle }
        }
        return entries[low]
    }
}
