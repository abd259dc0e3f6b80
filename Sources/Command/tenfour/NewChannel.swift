import ArgumentParser
import TenfourCallQuality
import TenfourChannelKeys
internal import TenfourJSON
import TenfourRadio

/// `tenfour channel new`.
struct NewChannel: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a channel, and print its links and the keys for a relay.",
        discussion: """
            tenfour channel new family --relay radio.example.org --save
            tenfour channel new family --qr

            Without a relay, one of the stations forwards the channel's packets itself. --save writes the talk link to \
            $XDG_CONFIG_HOME/tenfour/NAME.link (default: ~/.config/tenfour/NAME.link), which only you can read. After that, \
            tenfour talk NAME, listen NAME and send NAME find the channel.
            """)

    @Argument(
        help: ArgumentHelp("The channel's name: up to 32 characters of a-z, 0-9, '-', '.', '_'.", valueName: "name"))
    var name: String

    @Option(
        help: ArgumentHelp(
            "The relay of the channel, or the relays of its cluster, separated by commas. Default: none; a station forwards the packets.",
            valueName: "host[:port][,…]"))
    var relay: String?

    @Flag(help: "Write secrets as words, to read them over the telephone.")
    var words = false

    @Flag(help: "Use a passphrase instead of a random secret; it is read from the terminal or standard input.")
    var passphrase = false

    @Flag(help: "Also draw the links as QR codes.")
    var qr = false

    @Flag(help: "Save the talk link, so that `tenfour talk NAME` finds it.")
    var save = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        var randomness = CSPRNG()
        let relays = try relay.map { text throws(RadioError) in try Self.relays(text) } ?? []
        // Checks the name before a passphrase is asked for.
        let trial = try Self.link(relays, name, .secret(Secret(.talk, using: &randomness)))
        if save { try SavedLink.check(trial.name) }
        var opening = ChannelLink.Opening.secret(Secret(.talk, using: &randomness))
        if passphrase {
            opening = .passphrase(try PassphraseInput.read(tag: .random(in: 0 ... .max, using: &randomness)))
        }
        let talk = try Self.link(relays, name, opening)
        let keys: ChannelKeys
        do throws(PassphraseError) { keys = try ChannelKeys(talk) } catch {
            throw RadioError(.failure, error.description)
        }
        let listen = try Self.link(relays, name, .secret(keys.listenSecret))
        let print = ChannelPrint(talk: talk, listen: listen, keys: keys, form: words ? .words : .letters)
        let saved = save ? try SavedLink.write(talk) : nil
        if json { return Terminal.write(print.json.text) }
        print.write(drawsCodes: qr)
        if let saved {
            Terminal.log("\nthe talk link is saved in \(saved): `tenfour talk \(talk.name)` finds it")
        }
        explain(talk)
    }

    private func explain(_ talk: ChannelLink) {
        if talk.relays.isEmpty {
            Terminal.log(
                """

                These links name no relay: the station that you start with one of them forwards the channel's packets itself.
                In the links for the other members, write the name of that station's machine: \
                tenfour://HOST\(talk.place.dropFirst("tenfour://".count))#…
                """)
        }
        if passphrase, !PassphraseInput.isAsked { Terminal.log("\n" + PassphraseInput.warning) }
        Terminal.log(
            "\nSend the links only over a connection that you trust. To remove a member, make a new channel.")
    }

    private static func relays(_ text: String) throws(RadioError) -> [RelayHost] {
        var relays: [RelayHost] = []
        for host in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            do throws(ChannelLinkError) { relays.append(try RelayHost(host)) } catch {
                throw RadioError(
                    .usage,
                    "'\(host)' is not a relay's address: write HOST or HOST:PORT, and IPv6 addresses in brackets")
            }
        }
        return relays
    }

    private static func link(
        _ relays: [RelayHost], _ name: String, _ opening: ChannelLink.Opening
    ) throws(RadioError) -> ChannelLink {
        do throws(ChannelLinkError) {
            return try ChannelLink(relays: relays, name: name, opening: opening)
        } catch {
            throw RadioError(.usage, error.description)
        }
    }
}
