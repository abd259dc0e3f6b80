import ArgumentParser
import TenfourCallQuality
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourJSON
import TenfourManagedChannel
import TenfourQRCode
import TenfourRadio

/// `tenfour channel`: creates channels, and derives keys from a link.
struct ChannelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Make a channel, and add or remove members of one that you own.",
        discussion: """
            A channel has a name and a secret. Its talk link lets people talk and listen; its listen link lets them only \
            listen. A relay gets two join keys of the channel: with them it recognises members, but cannot decrypt the audio.

            In an open channel everybody with a link is a member. A channel with an owner also has a list of members, which             only the owner can change, and a secret that changes each hour.
            """,
        subcommands: [
            NewChannel.self, ChannelKeysCommand.self, ChannelMembersCommand.self, AddMember.self, RemoveMember.self,
            VerifyMember.self,
        ])
}

/// Prints a channel's secrets: links and secret keys to standard output, explanations to standard error.
struct ChannelPrint {
    var talk: ChannelLink?
    var listen: ChannelLink
    var keys: ChannelKeys
    var form = ChannelLink.Form.letters
    /// The owner's key; nil for an open channel.
    var owner: IdentityKey?

    /// The channel's line in a relay's configuration, `channel NAME talk=KEY listen=KEY`; nil if only the listen link
    /// is known.
    var relayLine: String? {
        keys.talkJoin.map {
            "channel \(keys.name) talk=\($0.configurationText) listen=\(keys.listenJoin.configurationText)"
                + (owner.map { " owner=\($0.configurationText)" } ?? "")
        }
    }

    var json: JSON {
        .object([
            ("name", .text(keys.name)),
            ("talk_link", talk.map { .text($0.text(form)) } ?? .null),
            ("listen_link", .text(listen.text(form))),
            ("talk_join_key", keys.talkJoin.map { .text($0.configurationText) } ?? .null),
            ("listen_join_key", .text(keys.listenJoin.configurationText)),
            ("owner", owner.map { .text(IdentityLine($0).letters) } ?? .null),
            ("relay_line", relayLine.map { .text($0) } ?? .null),
        ])
    }

    /// Prints the channel. If `drawsCodes` is true, each link is also drawn as a QR code.
    func write(drawsCodes: Bool) {
        if let talk { write(talk, drawsCodes, "this link lets people talk and listen:") }
        write(listen, drawsCodes, "this link lets people only listen:")
        if let relayLine {
            Terminal.log(
                "\nadd this line to the relay's configuration; with its keys the relay admits members, but cannot decrypt the audio:"
            )
            Terminal.write(relayLine + "\n")
        }
    }

    private func write(_ link: ChannelLink, _ drawsCodes: Bool, _ worth: String) {
        let text = link.text(form)
        Terminal.log("\n" + worth)
        Terminal.write(text + "\n")
        if drawsCodes, let symbol = QRSymbol(text) { Self.draw(symbol) }
    }

    /// Draws a QR code, or reports how wide the terminal must be for it.
    static func draw(_ symbol: QRSymbol) {
        guard !Terminal.isForPeople || symbol.textWidth <= Terminal.width else {
            return Terminal.log("(the QR code needs a terminal with \(symbol.textWidth) columns)")
        }
        Terminal.write("\n" + symbol.text(inColours: Terminal.takesColours))
    }
}
