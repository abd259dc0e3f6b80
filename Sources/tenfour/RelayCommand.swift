import ArgumentParser
import Console
import Engine
import Glibc
import Network
import Radio
import RelayService

/// `tenfour relay --config FILE`: passes channels on to their members until it is ended.
struct RelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Relay channels to their members.",
        usage: """
            tenfour relay --config <file> [<options>]
            tenfour relay --rtp-in <input> --rtp-out <output> [<options>]
            tenfour relay status [--json] [--socket <path>]
            """,
        discussion: """
            tenfour relay --example > relay.conf; chmod 600 relay.conf
            tenfour relay --config relay.conf --check
            tenfour relay --config relay.conf
            tenfour relay --rtp-in studio=0.0.0.0:6000 --rtp-out studio=@listeners.txt

            SIGHUP reads the configuration anew: members of channels that stay as they are notice nothing. SIGTERM and Ctrl-C \
            say good-bye to all. tenfour relay status tells how it goes.

            From the environment: TENFOUR_CONFIG=relay.conf is --config relay.conf, and so with the others that have a value; \
            several of TENFOUR_RTP_IN and TENFOUR_RTP_OUT have spaces between them.
            """, subcommands: [RelayStatusCommand.self])

    @OptionGroup var source: RelaySource

    @Flag(help: "Read the configuration, say what it comes to, and end.")
    var check = false

    @Flag(help: "Print a configuration that says what there is to set, and end.")
    var example = false

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    func run() throws {
        if example { return Terminal.put(RelayFile.example) }
        guard !source.isEmpty else {
            throw RadioError(
                .usage,
                "nothing says what to relay: write --config FILE (--example prints one), or --rtp-in and --rtp-out; "
                    + "tenfour relay --help tells the rest")
        }
        let read = try source.read()
        if check { return Terminal.put(read.summary) }
        try relay(read)
    }

    private func relay(_ read: RelaySource.Read) throws {
        let log = RelayLog(isQuiet: quiet)
        let server = try RelayServer(read.configuration) { log.take($0) }
        let socket = read.statusSocket
        try server.run { (loop) throws(NetworkError) in
            for number in [SIGINT, SIGTERM] { _ = try loop.onSignal(number) { [unowned server] in server.stop() } }
            _ = try loop.onSignal(SIGHUP) { [unowned server] in reload(server, socket.path, log) }
            try answer(at: socket, for: server, on: loop, log)
        }
        log.say("stopped")
    }

    /// A configuration with an error changes nothing. `socket` is where status is to be had as long as this runs.
    private func reload(_ server: RelayServer, _ socket: String, _ log: RelayLog) {
        server.reload(reading: { [source] in
            do throws(RadioError) {
                let read = try source.read()
                if read.statusSocket.path != socket {
                    log.say("another status socket waits until the relay is started anew")
                }
                log.say("the configuration is read anew: \(read.counts)")
                return read.configuration
            } catch {
                Terminal.say("tenfour: the configuration stays as it was: \(error)")
                return nil
            }
        })
    }

    /// Nobody is kept from a relay by its status, unless a place for that was named.
    private func answer(
        at socket: (path: String, isNamed: Bool), for server: RelayServer, on loop: EventLoop, _ log: RelayLog
    ) throws(NetworkError) {
        if !socket.isNamed { StatusSocket.makeFolder(of: socket.path) }
        do throws(NetworkError) {
            _ = try LocalSocket(on: loop, listeningAt: socket.path) { [unowned server] in
                RelayReport(server.status).answer
            }
        } catch {
            if socket.isNamed { throw error }
            log.say(
                "no status at \(socket.path) (\(NetworkError.text(for: error.code))): name another place with --status-socket"
            )
        }
    }
}
