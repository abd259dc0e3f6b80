import TenfourChannelMember
import TenfourCommandSupport
import TenfourPackets
import TenfourRadio

/// Handles the key w: lists the members and talkers present. In a channel it also lists the listeners' names, fifty at
/// a time.
struct WhoIsHere {
    let isChannel: Bool
    /// The position of the first listener on the next page; nil if the next press of w starts the list again.
    private var nextPage: Int?
    /// Whether a page of listeners was requested and has not arrived yet.
    private var isAsked = false

    init(isChannel: Bool, isAsked: Bool = false) {
        self.isChannel = isChannel
        self.isAsked = isAsked
    }

    /// The maximum number of columns per line, without its prefix.
    private static let width = 68

    /// Returns the lines that can be shown immediately. In a channel, `lines(of:)` returns the listeners' names when
    /// they arrive. `others` are talkers who are heard and are on no list; `mark` returns the number and the volume of a
    /// talker.
    mutating func lines(
        _ session: RadioSession, isReached: Bool, others: [(ssrc: SSRC, name: String)] = [],
        marking mark: (SSRC) -> PersonMark = { _ in PersonMark() }
    ) -> [String] {
        guard let snapshot = session.snapshot, isReached else {
            return ["this station is not in the channel, so no list of members is available"]
        }
        let heard = others.map { other in
            let mark = mark(other.ssrc)
            return "\(mark.prefix)\(other.name)  \(mark.volume.map { "\($0), " } ?? "")heard"
        }
        guard let people = People(snapshot, isChannel: isChannel) else {
            return ["this relay does not list its members"] + heard
        }
        guard isChannel, people.hasListeners else {
            nextPage = nil
            return people.lines(marking: mark) + heard
        }
        session.requestListeners(from: nextPage ?? 0)
        isAsked = true
        return nextPage == nil ? people.lines(marking: mark) + heard : []
    }

    /// Returns lines with the listeners' names if `event` is a page of listeners that was requested.
    mutating func lines(of event: ChannelEvent) -> [String] {
        guard case .listeners(let page) = event, isAsked else { return [] }
        isAsked = false
        nextPage = page.next
        guard !page.members.isEmpty else {
            return [
                page.position > 0
                    ? "there are no more listeners"
                    : "no listener here has a name; those in browsers and players have none"
            ]
        }
        var lines = ["listening" + (page.position > 0 ? ", from number \(page.position + 1) on" : "") + ":"]
        for name in page.members.map({ People.name(of: $0) }) {
            if let last = lines.last, lines.count > 1, last.columnCount + name.columnCount + 2 <= Self.width {
                lines[lines.count - 1] = last + ", " + name
            } else {
                lines.append("  " + name)
            }
        }
        if let next = page.next { lines.append("  w shows more of the \(page.total), from number \(next + 1) on") }
        return lines
    }
}
