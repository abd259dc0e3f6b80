internal import TenfourChannelKeys

/// Remembers refusals of JOINs whose proof was valid, so that a repeated JOIN is answered without checking its proof
/// again.
///
/// The cache has 1024 entries. The index of an entry consists of bits of the cookie; only the relay can choose these
/// bits. The cache allocates once, at the first refusal.
struct RefusalCache: Sendable {
    private var entries: [Entry?] = []

    private struct Entry: Sendable {
        let join: Join
        let refusal: Refusal
    }

    static let maximumCount = 1_024

    subscript(_ join: Join) -> Refusal? {
        guard !entries.isEmpty, let entry = entries[place(of: join)], entry.join == join else { return nil }
        return entry.refusal
    }

    mutating func insert(_ refusal: Refusal, of join: Join) {
        if entries.isEmpty { entries = [Entry?](repeating: nil, count: Self.maximumCount) }
        entries[place(of: join)] = Entry(join: join, refusal: refusal)
    }

    private func place(of join: Join) -> Int { Int(truncatingIfNeeded: join.cookie.mark) & (Self.maximumCount - 1) }
}
