import ArgumentParser
import TenfourCallQuality
import TenfourChannelKeys
internal import TenfourJSON
import TenfourManagedChannel
import TenfourRadio

/// `tenfour channel new`.
struct NewChannel: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a channel, and print its links and the keys for a relay.",
        discussion: """
            tenfour channel new family --relay radio.example.org --save
            tenfour channel new family --relay radio.example.org --relay-key KEY --owner

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

    @Option(
        help: ArgumentHelp(
            "The relay's public key. At the relay, `tenfour relay --config FILE --show-key` prints it. Members then join only a relay with this key.",
            valueName: "key"))
    var relayKey: String?

    @Flag(
        help:
            "Make a channel with a list of members that only you can change (`tenfour channel add`, `remove`). Needs --relay-key."
    )
    var owner = false

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
        let relayKey = try relayKey(for: relays)
        if owner, relayKey == nil {
            throw RadioError(.usage, "--owner needs a relay that proves itself: add --relay HOST and --relay-key KEY")
        }
        // Checks the name before a passphrase is asked for.
        let trial = try Self.link(relays, name, .secret(Secret(.talk, using: &randomness)))
        if save { try SavedLink.check(trial.name) }
        var opening = ChannelLink.Opening.secret(Secret(.talk, using: &randomness))
        if passphrase {
            opening = .passphrase(try PassphraseInput.read(tag: .random(in: 0 ... .max, using: &randomness)))
        }
        let open = try Self.link(relays, name, opening)
        let keys: ChannelKeys
        do throws(PassphraseError) { keys = try ChannelKeys(open) } catch {
            throw RadioError(.failure, error.description)
        }
        let identity = owner ? try SavedIdentity.loaded() : nil
        let fingerprint = relayKey.map { key in
            identity.map { RelayFingerprint(relay: key, owner: OwnerHash($0.identity.key.ownerHash)) }
                ?? RelayFingerprint(relay: key, ownerless: keys)
        }
        let talk = try Self.link(relays, name, opening, fingerprint)
        let listen = try Self.link(relays, name, .secret(keys.listenSecret), fingerprint)
        let print = ChannelPrint(
            talk: talk, listen: listen, keys: keys, form: words ? .words : .letters, owner: identity?.identity.key)
        if let identity { try Self.signFirstRoster(identity.identity, keys) }
        let saved = save ? try SavedLink.write(talk) : nil
        if json { return Terminal.write(print.json.text) }
        print.write(drawsCodes: qr)
        if let saved {
            Terminal.log("\nthe talk link is saved in \(saved): `tenfour talk \(talk.name)` finds it")
        }
        explain(talk)
        if let identity { explain(identity, talk) }
    }

    /// Signs a list of members with the owner alone, and keeps it. The owner's station deposits it when it joins.
    private static func signFirstRoster(_ owner: MemberIdentity, _ keys: ChannelKeys) throws(RadioError) {
        let added = UInt32(clamping: WallTime.seconds)
        let entry = RosterEntry(
            index: RosterEntry.ownerIndex, role: .talk, added: added, key: owner.key,
            name: LoginName.current.flatMap { MemberName($0) } ?? MemberName("owner"))
        do throws(RosterError) {
            let contents = try RosterContents(version: 1, time: added, hasTagLists: false, entries: [entry])
            let roster = try SignedRoster(signing: contents, by: owner, channelID: keys.listenJoin.channelID)
            try? SavedMembership.files(of: keys).write(roster)
        } catch { throw RadioError(.failure, "the list of members cannot be signed (\(error))") }
    }

    private func explain(_ owner: SavedIdentity, _ talk: ChannelLink) {
        Terminal.log(
            """

            You are the owner: your identity in \(owner.path) signs the list of members. Keep a copy of this file: if it is lost, \
            nobody can add or remove members. The links open nothing without you: add each member with the line that `tenfour \
            id` prints there: tenfour channel add \(talk.name) LINE NAME
            """)
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
        if !owner {
            Terminal.log(
                "\nThis channel is open: everybody with a link is a member. Send the links only over a connection that you trust. To remove a member, make a new channel."
            )
        }
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

    private func relayKey(for relays: [RelayHost]) throws(RadioError) -> RelayPublicKey? {
        guard let relayKey else { return nil }
        guard !relays.isEmpty else {
            throw RadioError(.usage, "--relay-key needs the relay that has this key: add --relay HOST")
        }
        guard let key = RelayPublicKey(relayKey) else {
            throw RadioError(
                .usage,
                "--relay-key needs the 52 letters and digits that `tenfour relay --config FILE --show-key` prints at the relay"
            )
        }
        return key
    }

    private static func link(
        _ relays: [RelayHost], _ name: String, _ opening: ChannelLink.Opening, _ fingerprint: RelayFingerprint? = nil
    ) throws(RadioError) -> ChannelLink {
        do throws(ChannelLinkError) {
            return try ChannelLink(relays: relays, name: name, fingerprint: fingerprint, opening: opening)
        } catch {
            throw RadioError(.usage, error.description)
        }
    }
}
