import ArgumentParser
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourJSON
import TenfourManagedChannel
import TenfourRadio

/// `tenfour channel members`.
struct ChannelMembersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "members", abstract: "Print the members of a channel that has an owner.",
        discussion: """
            tenfour channel members family

            A line for each member: name, role, when the owner has added it, and when this machine has heard it last. A name with "verified" is that of a member \
            whose key you have compared with `tenfour channel verify`.
            """)

    @Argument(
        help: ArgumentHelp("The channel's link, or the name of a saved channel.", valueName: "channel"),
        completion: Completions.channel)
    var channel: String?

    @OptionGroup var links: LinkOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let channel = try OwnedChannel(links.link(typed: channel, quiet: true))
        let roster = try channel.roster()
        let verified = try channel.files.verifiedKeys()
        let heard = channel.files.heard
        let lines = roster.contents.entries.map {
            MemberLine(
                $0, isSelf: $0.key == channel.identity.key.bytes, verified: verified, heard: heard[$0.index])
        }
        if json {
            return Terminal.write(
                JSON.object([
                    ("channel", .text(channel.link.name)), ("version", .integer(Int(roster.version))),
                    ("members", .list(lines.map(\.json))),
                ]).text)
        }
        let width = lines.map(\.name.columnCount).max() ?? 0
        for line in lines { Terminal.write(line.text(width: width) + "\n") }
    }
}

/// A member in the list of `tenfour channel members`.
struct MemberLine {
    private let entry: RosterEntry
    private let isSelf: Bool
    private let mark: String
    /// When a station on this machine has heard the member last, in seconds since 1970; nil if none has.
    private let heard: UInt64?

    init(_ entry: RosterEntry, isSelf: Bool, verified: [MemberName: IdentityKey], heard: UInt64?) {
        self.entry = entry
        self.isSelf = isSelf
        self.heard = heard
        let known = entry.name.flatMap { verified[$0] }
        mark =
            if isSelf { "you" } else if let known {
                known.bytes == entry.key ? "verified" : "ANOTHER KEY than the one that you compared"
            } else { "" }
    }

    var name: String { entry.name?.text ?? "(no name)" }

    private var role: String {
        if entry.index == RosterEntry.ownerIndex { return "owner" }
        return (entry.role == .talk ? "talks" : "listens") + (entry.isDelegate ? ", delegate" : "")
    }

    func text(width: Int) -> String {
        let parts = [
            name.fitted(toColumns: width), role,
            "added \(WallTime.text(UInt64(entry.added)))",
            isSelf ? "" : heard.map { "heard \(WallTime.text($0))" } ?? "never heard here", mark,
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    var json: JSON {
        .object([
            ("name", entry.name.map { .text($0.text) } ?? .null),
            ("role", .text(entry.role == .talk ? "talk" : "listen")),
            ("owner", .boolean(entry.index == RosterEntry.ownerIndex)), ("delegate", .boolean(entry.isDelegate)),
            ("added", .integer(Int(entry.added))), ("heard", heard.map { .integer(Int(clamping: $0)) } ?? .null),
            ("verified", .boolean(mark == "verified")), ("self", .boolean(isSelf)),
        ])
    }
}
