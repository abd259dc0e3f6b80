import ArgumentParser
import Glibc
import TenfourCommandSupport
import TenfourRadio
import TenfourRelayServer
import TenfourSession
import TenfourUV

/// `tenfour relay --config FILE`: forwards channels to their members until it is stopped.
struct RelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Forward packets to the members of channels.",
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

            SIGHUP reads the configuration again; members of unchanged channels stay. SIGTERM and Ctrl-C stop the relay and tell \
            its members. tenfour relay status shows its state.

            Options with a value can also be set in the environment: TENFOUR_CONFIG=relay.conf means --config relay.conf. \
            TENFOUR_RTP_IN and TENFOUR_RTP_OUT may hold several values, separated by spaces.
            """, subcommands: [RelayStatusCommand.self])

    @OptionGroup var source: RelaySource

    @Flag(help: "Check the configuration, print its settings, and end.")
    var check = false

    @Flag(help: "Print an example configuration with all settings, and end.")
    var example = false

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    func run() throws {
        if example { return Terminal.write(RelayFile.example) }
        guard !source.isEmpty else {
            throw RadioError(
                .usage,
                "there is no configuration: write --config FILE (--example prints one), or --rtp-in and --rtp-out; "
                    + "tenfour relay --help lists the options")
        }
        let read = try source.read()
        if check { return Terminal.write(read.summary) }
        try relay(read)
    }

    private func relay(_ read: RelaySource.Read) throws {
        let log = RelayLog(isQuiet: quiet)
        let server = try RelayServer(read.configuration) { log.report($0) }
        let socket = read.statusSocket
        let keys = RelayKeys()
        try server.run { (loop) throws(NetworkError) in
            try keys?.listen(on: loop) { [unowned server] key in
                switch key {
                case "q", "\u{4}": server.stop()
                case "?": log.write(RelayKeys.help)
                default: break
                }
            }
            if keys != nil { log.write("q stops, ? helps") }
            for number in [SIGINT, SIGTERM] { _ = try loop.onSignal(number) { [unowned server] in server.stop() } }
            _ = try loop.onSignal(SIGHUP) { [unowned server] in reload(server, socket.path, log) }
            try answer(at: socket, for: server, on: loop, log)
        }
        withExtendedLifetime(keys) { log.write("stopped") }
    }

    /// Reads the configuration again. If it has an error, nothing changes. `socket` is the status socket's path, which
    /// does not change while the relay runs.
    private func reload(_ server: RelayServer, _ socket: String, _ log: RelayLog) {
        server.reload(reading: { [source] in
            do throws(RadioError) {
                let read = try source.read()
                if read.statusSocket.path != socket {
                    log.write("the new path of the status socket takes effect after a restart")
                }
                log.write("the configuration was read again: \(read.counts)")
                return read.configuration
            } catch {
                Terminal.log("tenfour: the relay keeps its configuration, because the new one has an error: \(error)")
                return nil
            }
        })
    }

    /// Opens the status socket and answers status requests. A failure to open it is an error only if its path was
    /// configured.
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
            log.write(
                "cannot open the status socket \(socket.path) (\(NetworkError.text(for: error.code))): choose another path with --status-socket"
            )
        }
    }
}
