internal import TenfourAudioCore
internal import TenfourChannelKeys

/// A requested page of listeners, while its records arrive.
struct ListenerRequest: Sendable {
    let position: Int
    private(set) var due: Instant
    private var sentCount = 0
    private var total = 0
    /// The entries of each record that has arrived. The key is the index of the record's first entry among all
    /// listeners.
    private var pieces: [UInt32: [Roster.Entry]] = [:]

    private static let maximumSendCount = 3
    private static let patience = Duration.seconds(1)

    init(from position: Int, at now: Instant) {
        self.position = position
        due = now
    }

    /// Counts a request that is about to be sent. Returns false if three requests have been sent without a complete
    /// answer.
    mutating func maySend(at now: Instant) -> Bool {
        guard sentCount < Self.maximumSendCount else { return false }
        sentCount += 1
        due = now + Self.patience
        return true
    }

    /// Stores one record of the page. Returns whether the page is complete.
    mutating func insert(_ head: Roster.PageHead, _ entries: [Roster.Entry]) -> Bool {
        let range = UInt32(clamping: position)..<UInt32(clamping: position + Roster.pageLength)
        guard range.contains(head.position) || head.total <= head.position else { return false }
        total = Int(head.total)
        pieces[head.position] = entries
        if pieces.count > Roster.pageLength { pieces = [:] }
        return pieces.values.reduce(0) { $0 + $1.count } >= min(max(total - position, 0), Roster.pageLength)
    }

    /// Returns the listeners of the page that have arrived so far, except ourselves.
    func page(besides own: UInt64, under root: MediaRoot) -> ListenerPage {
        var members: [ChannelMember] = []
        for (_, entries) in pieces.sorted(by: { $0.key < $1.key }) {
            for entry in entries {
                guard case .here(.some(let sealed)) = entry.state, sealed.id != own,
                    let info = sealed.opened(under: root)
                else { continue }
                members.append(ChannelMember(id: sealed.id, info: info, isListed: false))
            }
        }
        return ListenerPage(members: members, position: position, total: total)
    }
}
