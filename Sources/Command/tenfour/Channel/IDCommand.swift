import ArgumentParser
import TenfourCommandSupport
import TenfourManagedChannel
import TenfourQRCode
import TenfourRadio

/// `tenfour id`.
struct IDCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "id", abstract: "Print the line by which others recognise you.",
        discussion: """
            tenfour id
            tenfour id --qr

            The first call makes your identity: a key pair in $XDG_CONFIG_HOME/tenfour/identity (default: \
            ~/.config/tenfour/identity), which only you can read. The line holds its public key and your name. It is no secret.
            """)

    @Flag(help: "Write the line as words, to read it over the telephone.")
    var words = false

    @Flag(help: "Also draw the line as a QR code.")
    var qr = false

    @Option(help: ArgumentHelp("The name in the line. Default: your login name.", valueName: "text"))
    var name: String?

    @Flag(help: "Leave the name out.")
    var anonymous = false

    func run() throws {
        if name != nil, anonymous {
            throw RadioError(.usage, "--name and --anonymous contradict each other: leave one of them out")
        }
        let shown = try name.map { text throws(RadioError) in try Self.name(text) }
        let saved = try SavedIdentity.loaded()
        let line = IdentityLine(
            saved.identity.key, name: anonymous ? nil : shown ?? LoginName.current.flatMap { MemberName($0) })
        if saved.isNew {
            Terminal.log(
                """
                made a new identity in \(saved.path). Keep a copy of this file: if it is lost, others must add you anew. \
                Anyone who reads it can pass for you.

                """)
        }
        let text = words ? line.words : line.letters
        Terminal.write(text + "\n")
        if qr, let symbol = QRSymbol(text) { ChannelPrint.draw(symbol) }
    }

    private static func name(_ text: String) throws(RadioError) -> MemberName {
        guard let name = MemberName(text) else {
            throw RadioError(
                .usage,
                "--name needs 1 to \(MemberName.maximumByteCount) bytes, without control characters and without spaces at its ends"
            )
        }
        return name
    }
}
