import ArgumentParser
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourQRCode
import TenfourRadio

/// `tenfour channel add`.
struct AddMember: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a member to a channel that you own, and print its link.",
        discussion: """
            tenfour channel add family id-gezd-gnbv-… bob

            The line is the one that `tenfour id` prints at the member's machine. The link is for this member: with another \
            identity it opens nothing. If your station is in the channel, it deposits the new list of members; otherwise this \
            command joins for a moment.
            """)

    @Argument(
        help: ArgumentHelp("The channel's link, or the name of a saved channel.", valueName: "channel"),
        completion: Completions.channel)
    var channel: String

    @Argument(help: ArgumentHelp("The line that `tenfour id` prints at the member's machine.", valueName: "id-line"))
    var line: String

    @Argument(help: ArgumentHelp("The member's name in the list. Default: the name in the line.", valueName: "name"))
    var name: String?

    @Flag(help: "The member may only listen.")
    var listen = false

    @Flag(help: "The member may draw the channel's secret, as you do: for a station that is always on.")
    var delegate = false

    @Flag(help: "Also draw the link as a QR code.")
    var qr = false

    func run() throws {
        let identity = try Self.identity(line)
        let name = try name.map { text throws(RadioError) in try Self.name(text) } ?? identity.memberName
        guard let name else {
            throw RadioError(.usage, "the line has no name: write one after it, by which the members know this one")
        }
        let channel = try OwnedChannel(LinkOptions.saved(self.channel))
        let link = try self.link(for: channel)
        let deposit = try channel.deposit { old throws(RadioError) in
            // The version is in no list before, so no member has had the number.
            guard let index = UInt16(exactly: old.version + 1) else {
                throw RadioError(.unavailable, "the list of members has changed 65535 times: make a new channel")
            }
            return old.entries + [
                RosterEntry(
                    index: index, role: listen ? .listen : .talk, isDelegate: delegate,
                    added: UInt32(clamping: WallTime.seconds), key: identity.key, name: name)
            ]
        }
        Terminal.log(
            """
            \(name.text) is now a member of \(channel.link.name) (list \(deposit.roster.version), at the relay). The link for \
            \(name.text), which opens nothing for others:
            """)
        Terminal.write(link.text() + "\n")
        if qr, let symbol = QRSymbol(link.text()) { ChannelPrint.draw(symbol) }
        Terminal.log(
            "\nYour station must run once after \(name.text) has joined, to give the secret. Compare keys with `tenfour channel verify`."
        )
    }

    private func link(for channel: OwnedChannel) throws(RadioError) -> ChannelLink {
        guard listen else { return channel.link }
        do throws(ChannelLinkError) {
            return try ChannelLink(
                relays: channel.link.relays, name: channel.link.name, fingerprint: channel.link.fingerprint,
                opening: .secret(channel.settings.keys.listenSecret))
        } catch { throw RadioError(.failure, error.description) }
    }

    private static func identity(_ text: String) throws(RadioError) -> IdentityLine {
        do throws(IdentityLineError) { return try IdentityLine(text) } catch {
            throw RadioError(.usage, "\(error)")
        }
    }

    static func name(_ text: String) throws(RadioError) -> MemberName {
        guard let name = MemberName(text) else {
            throw RadioError(
                .usage,
                "a name needs 1 to \(MemberName.maximumByteCount) bytes, without control characters and without spaces at its ends"
            )
        }
        return name
    }
}
