internal import TenfourChannelKeys

/// The refusals of JOINs that had proved a key: a JOIN that comes again is looked up and not proved again.
///
/// So many as there is room for, each in the place that its cookie gives it: nobody but the relay chooses cookies. Allocates
/// once, with the first.
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
