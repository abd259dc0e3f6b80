import ArgumentParser
import TenfourCallQuality
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourRadio

/// `tenfour channel`: makes channels, and tells what follows from a link.
struct ChannelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Make a channel, or print a relay's keys from its link.",
        discussion: """
            A channel has a name and a secret. Its talk link lets people talk and listen; its listen link lets them listen. A \
            relay has two join keys, by which it recognises members; it cannot decrypt the sound.
            """,
        subcommands: [NewChannel.self, ChannelKeysCommand.self])
}

/// What is printed of a channel: what is to be handed on goes to standard output, what it is worth to standard error.
struct ChannelPrint {
    var talk: ChannelLink?
    var listen: ChannelLink
    var keys: ChannelKeys
    var form = ChannelLink.Form.letters

    /// `channel NAME talk=KEY listen=KEY`; nil from a listen link.
    var relayLine: String? {
        keys.talkJoin.map {
            "channel \(keys.name) talk=\($0.configurationText) listen=\(keys.listenJoin.configurationText)"
        }
    }

    var json: JSON {
        .object([
            ("name", .text(keys.name)),
            ("talk_link", talk.map { .text($0.text(form)) } ?? .null),
            ("listen_link", .text(listen.text(form))),
            ("talk_join_key", keys.talkJoin.map { .text($0.configurationText) } ?? .null),
            ("listen_join_key", .text(keys.listenJoin.configurationText)),
            ("relay_line", relayLine.map { .text($0) } ?? .null),
        ])
    }

    /// With a code for a camera where `drawsCodes`.
    func put(drawsCodes: Bool) {
        if let talk { put(talk, drawsCodes, "this link lets people talk and listen:") }
        put(listen, drawsCodes, "this link lets people listen:")
        if let relayLine {
            Terminal.say("\nfor the relay's configuration; it admits members, and decrypts nothing:")
            Terminal.put(relayLine + "\n")
        }
    }

    private func put(_ link: ChannelLink, _ drawsCodes: Bool, _ worth: String) {
        let text = link.text(form)
        Terminal.say("\n" + worth)
        Terminal.put(text + "\n")
        guard drawsCodes, let symbol = QRSymbol(text) else { return }
        guard !Terminal.isForPeople || symbol.textWidth <= Terminal.width else {
            return Terminal.say("(a terminal of \(symbol.textWidth) columns shows it as a QR code)")
        }
        Terminal.put("\n" + symbol.text(inColours: Terminal.takesColours))
    }
}
