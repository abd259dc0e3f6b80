import TenfourChannelMember
import TenfourRadio

/// The key w: who is here, and in a channel the names of those who listen, fifty at a time.
struct WhoIsHere {
    let isChannel: Bool
    /// Where the next page of listeners begins; nil while none is asked for or shown.
    private var nextPage: Int?
    private var isAsked = false

    init(isChannel: Bool, isAsked: Bool = false) {
        self.isChannel = isChannel
        self.isAsked = isAsked
    }

    /// In letters of one line, beside what comes before it.
    private static let width = 68

    /// What to say at once; in a channel `lines(of:)` follows.
    mutating func lines(_ session: RadioSession, isReached: Bool) -> [String] {
        guard let snapshot = session.snapshot, isReached else {
            return ["not in the channel, so the list of members is not available"]
        }
        guard let people = People(snapshot, isChannel: isChannel) else {
            return ["this relay does not list its members"]
        }
        guard isChannel, people.hasListeners else {
            nextPage = nil
            return people.lines
        }
        session.requestListeners(from: nextPage ?? 0)
        isAsked = true
        return nextPage == nil ? people.lines : []
    }

    /// The names of listeners that have come.
    mutating func lines(of event: ChannelEvent) -> [String] {
        guard case .listeners(let page) = event, isAsked else { return [] }
        isAsked = false
        nextPage = page.next
        guard !page.members.isEmpty else {
            return [page.position > 0 ? "there are no more who listen" : "nobody who listens is here any more"]
        }
        var lines = ["listening" + (page.position > 0 ? ", from number \(page.position + 1) on" : "") + ":"]
        for name in page.members.map({ People.name(of: $0) }) {
            if let last = lines.last, lines.count > 1, last.count + name.count + 2 <= Self.width {
                lines[lines.count - 1] = last + ", " + name
            } else {
                lines.append("  " + name)
            }
        }
        if let next = page.next { lines.append("  w shows the others of \(page.total), from number \(next + 1) on") }
        return lines
    }
}
