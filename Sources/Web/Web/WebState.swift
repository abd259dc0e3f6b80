internal import TenfourAudioCore
internal import TenfourJSON

/// The state of a channel that its page shows. It is sent to all pages when it changes.
struct WebState {
    var channel: String
    var isEncrypted: Bool
    var listenerCount: Int
    var talker: Talker?
    /// The names of the others who talk at the same time and are not heard.
    var others: [String]
    /// The listen link, if the page shows it.
    var link: String?
    /// The page's address, if the operator has set it.
    var address: String?
    /// Whether the gateway is in the channel.
    var isLive: Bool
    /// The time between two pieces of the live stream, which the page's buffer must outlast.
    var period: Duration
    var version: String

    struct Talker {
        var name: String?
        var since: Instant
    }

    /// The state as an event (HTML Living Standard, server-sent events).
    func event(at now: Instant) -> [UInt8] { Array("event: state\ndata: \(json(at: now).line)\n\n".utf8) }

    /// The channel in the list of all channels.
    var summary: JSON {
        let talker = talker.map { JSON.object([("name", Self.text($0.name))]) }
        return .object([
            ("name", .text(channel)), ("listeners", .integer(listenerCount)), ("talker", talker ?? .null),
        ])
    }

    private func json(at now: Instant) -> JSON {
        let talker = self.talker.map { talker in
            JSON.object([
                ("name", Self.text(talker.name)),
                ("seconds", .decimal((now - talker.since) / .seconds(1), places: 1)),
            ])
        }
        return .object([
            ("channel", .text(channel)), ("encrypted", .boolean(isEncrypted)), ("listeners", .integer(listenerCount)),
            ("talker", talker ?? .null), ("also", .list(others.map { Self.text($0) })),
            ("link", link.map { .text($0) } ?? .null), ("address", address.map { .text($0) } ?? .null),
            ("live", .boolean(isLive)), ("period", .decimal(period / .seconds(1), places: 2)),
            ("version", .text(version)),
        ])
    }

    /// Whether a page that shows `other` needs to be told; the seconds it counts itself.
    func differs(from other: Self) -> Bool {
        talker?.since != other.talker?.since || talker?.name != other.talker?.name
            || listenerCount != other.listenerCount
            || others != other.others || isLive != other.isLive
    }

    /// A name from a peer, safe to display.
    private static func text(_ name: String?) -> JSON { name.map { .text(String(fromPeer: $0)) } ?? .null }
}
