import ArgumentParser
import Glibc
import Network
import Radio

/// `tenfour relay status`.
struct RelayStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Ask a relay of this machine how it goes.",
        discussion: "From the environment: TENFOUR_STATUS_SOCKET, which the relay itself takes, too.")

    @Flag(help: "Print it as JSON.")
    var json = false

    /// Whose options may stand before the word, and take `--status-socket` behind it, too.
    @ParentCommand var relay: RelayCommand

    @Option(
        help: ArgumentHelp("The relay's status socket, where the configuration names another place.", valueName: "path")
    )
    var socket: String?

    func run() throws {
        let path = socket ?? relay.source.statusSocket ?? StatusSocket.found
        let answer: [UInt8]
        do throws(NetworkError) { answer = try LocalSocket.ask(path) } catch {
            let remedy =
                switch error.code {
                case ENOENT, ECONNREFUSED: "no relay answers there; start one, or name its status-socket with --socket"
                case EACCES: "that relay is another user's; ask as that user"
                default: "\(NetworkError.text(for: error.code))"
                }
            throw RadioError(.unavailable, "no status from \(path): \(remedy)")
        }
        guard let parts = RelayReport.parts(of: answer) else {
            throw RadioError(.unavailable, "what answers at \(path) is no relay")
        }
        Terminal.put(json ? parts.json : parts.text)
    }
}
