import ArgumentParser
import Glibc
import TenfourRadio
import TenfourUV

/// `tenfour relay status`.
struct RelayStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of a relay on this machine.",
        discussion: "TENFOUR_STATUS_SOCKET in the environment sets the path for this command and for the relay.")

    @Flag(help: "Print JSON.")
    var json = false

    /// The parent command, whose options may precede `status`, such as `--status-socket`.
    @ParentCommand var relay: RelayCommand

    @Option(
        help: ArgumentHelp(
            "The relay's status socket. Default: relay.sock in $XDG_RUNTIME_DIR/tenfour or in /run/tenfour.",
            valueName: "path"), completion: .file())
    var socket: String?

    func run() throws {
        let path = socket ?? relay.source.statusSocket ?? StatusSocket.found
        let answer: [UInt8]
        do throws(NetworkError) { answer = try LocalSocket.ask(path) } catch {
            let remedy =
                switch error.code {
                case ENOENT, ECONNREFUSED:
                    "no relay uses this socket; start a relay, or name the relay's socket with --socket"
                case EACCES: "the relay belongs to another user; run this command as that user"
                default: "\(NetworkError.text(for: error.code))"
                }
            throw RadioError(.unavailable, "no status from the socket \(path): \(remedy)")
        }
        guard let parts = RelayReport.parts(of: answer) else {
            throw RadioError(.unavailable, "the program that answers at \(path) is not a relay")
        }
        Terminal.write(json ? parts.json : parts.text)
    }
}
