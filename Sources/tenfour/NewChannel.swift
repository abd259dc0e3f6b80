import ArgumentParser
import Keys
import Quality
import Radio

/// `tenfour channel new`.
struct NewChannel: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a channel: its links, and the keys for a relay.",
        discussion: """
            tenfour channel new family --relay radio.example.org --save
            tenfour channel new family --qr

            Without a relay one of the stations answers the channel's members itself. --save keeps the talk link in \
            $XDG_CONFIG_HOME/tenfour/NAME.link (~/.config where that is not set), for its owner alone: from then on \
            tenfour talk NAME, listen NAME and send NAME find the channel.
            """)

    @Argument(help: ArgumentHelp("What the channel is called: a-z, 0-9, '-', '.', '_', up to 32.", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("The relay that its members meet at.", valueName: "host[:port]"))
    var relay: String?

    @Flag(help: "Write secrets as words, which can be read over the telephone.")
    var words = false

    @Flag(help: "Ask for a passphrase of your own instead of drawing a secret; it may come on standard input.")
    var passphrase = false

    @Flag(help: "Draw the links as QR codes, too.")
    var qr = false

    @Flag(help: "Keep the talk link, so that `tenfour talk NAME` finds it.")
    var save = false

    @Flag(help: "Print it as JSON.")
    var json = false

    func run() throws {
        var dice = SecretChance()
        let place = try relay.map { text throws(RadioError) in try Self.place(text) }
        // A wrong name is told before anybody thinks of a passphrase.
        let trial = try Self.link(place, name, .secret(Secret(.talk, using: &dice)))
        if save { try SavedLink.check(trial.name) }
        var opening = ChannelLink.Opening.secret(Secret(.talk, using: &dice))
        if passphrase {
            opening = .passphrase(try PassphraseInput.read(tag: .random(in: 0 ... .max, using: &dice)))
        }
        let talk = try Self.link(place, name, opening)
        let keys: ChannelKeys
        do throws(PassphraseError) { keys = try ChannelKeys(talk) } catch {
            throw RadioError(.failure, error.description)
        }
        let listen = try Self.link(place, name, .secret(keys.listenSecret))
        let print = ChannelPrint(talk: talk, listen: listen, keys: keys, form: words ? .words : .letters)
        let saved = save ? try SavedLink.write(talk) : nil
        if json { return Terminal.put(print.json.text) }
        print.put(drawsCodes: qr)
        if let saved {
            Terminal.say("\nthe talk link is kept in \(saved): `tenfour talk \(talk.name)` finds it")
        }
        explain(talk)
    }

    private func explain(_ talk: ChannelLink) {
        if talk.host == nil {
            Terminal.say(
                """

                These links name no relay: the station that is started with one answers the channel's members itself.
                Give the others theirs with its machine's name written in: \
                tenfour://HOST\(talk.place.dropFirst("tenfour://".count))#…
                """)
        }
        if passphrase, !PassphraseInput.isAsked { Terminal.say("\n" + PassphraseInput.warning) }
        Terminal.say(
            "\nHand links on by a way that you trust. A member can be put out only by making the channel anew.")
    }

    private static func place(_ text: String) throws(RadioError) -> (host: String, port: UInt16) {
        do throws(ChannelLinkError) { return try ChannelLink.hostAndPort(text) } catch {
            throw RadioError(.usage, "'\(text)' is no relay's address: write HOST or HOST:PORT, IPv6 in brackets")
        }
    }

    private static func link(
        _ place: (host: String, port: UInt16)?, _ name: String, _ opening: ChannelLink.Opening
    ) throws(RadioError) -> ChannelLink {
        do throws(ChannelLinkError) {
            return try ChannelLink(
                host: place?.host, port: place?.port ?? ChannelLink.defaultPort, name: name, opening: opening)
        } catch {
            throw RadioError(.usage, error.description)
        }
    }
}
