import ArgumentParser
import TenfourCallQuality
import TenfourChannelKeys
import TenfourJSON
import TenfourManagedChannel
import TenfourRadio

/// `tenfour channel keys`.
struct ChannelKeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Print the relay keys and the listen link that belong to a talk link.")

    @Argument(help: ArgumentHelp("The channel's talk link.", valueName: "link"), completion: Completions.channel)
    var link: String?

    @OptionGroup var links: LinkOptions

    @Flag(help: "Write secrets as words, to read them over the telephone.")
    var words = false

    @Flag(help: "Also draw the listen link as a QR code.")
    var qr = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let talk = try links.link(typed: link)
        guard talk.pass == nil else {
            throw RadioError(
                .usage,
                "this channel was made by pairing through a relay, so it has no listen link and no line for relay.conf; `tenfour listen` takes this link, too"
            )
        }
        let keys: ChannelKeys
        do throws(PassphraseError) { keys = try ChannelKeys(talk) } catch {
            throw RadioError(.failure, error.description)
        }
        guard keys.talkJoin != nil else {
            throw RadioError(
                .usage,
                "this is a listen link, and a relay's keys are made from a talk link: ask the person who made the channel for it"
            )
        }
        let listen: ChannelLink
        do throws(ChannelLinkError) {
            listen = try ChannelLink(
                relays: talk.relays, port: talk.port, name: talk.name, fingerprint: talk.fingerprint,
                opening: .secret(keys.listenSecret))
        } catch {
            throw RadioError(.failure, error.description)
        }
        let roster = talk.fingerprint == nil ? nil : try SavedMembership.files(of: keys).roster()
        let print = ChannelPrint(
            talk: nil, listen: listen, keys: keys, form: words ? .words : .letters, owner: roster?.ownerKey)
        if json { return Terminal.write(print.json.text) }
        print.write(drawsCodes: qr)
    }
}
