import ArgumentParser
import Glibc
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourMetrics
import TenfourRadio
import TenfourRelayServer
import TenfourSession
import TenfourUV
import TenfourWeb

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
            tenfour relay --config relay.conf --http 127.0.0.1:8080 --web family
            tenfour relay --rtp-in studio=0.0.0.0:6000 --rtp-out studio=@listeners.txt

            SIGHUP reads the configuration again; members of unchanged channels stay. SIGTERM and Ctrl-C stop the relay and tell \
            its members. tenfour relay status shows its state.

            Options with a value can also be set in the environment: TENFOUR_CONFIG=relay.conf means --config relay.conf. \
            TENFOUR_RTP_IN, TENFOUR_RTP_OUT, TENFOUR_WEB, TENFOUR_HTTP_HOST, TENFOUR_WEB_PROXY and TENFOUR_ICECAST may hold several \
            values, separated by spaces.
            """, subcommands: [RelayStatusCommand.self])

    @OptionGroup var source: RelaySource

    @Flag(help: "Check the configuration, print its settings, and end.")
    var check = false

    @Flag(help: "Print an example configuration with all settings, and end.")
    var example = false

    @Flag(help: "With --config, print the relay's public key, for `tenfour channel new --relay-key`, and end.")
    var showKey = false

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
        if showKey { return Terminal.write(try source.key().publicKey.text + "\n") }
        let read = try source.read(makesKey: !check)
        if check { return Terminal.write(read.summary) }
        OpenFileLimit.raise()
        try relay(read)
    }

    private func relay(_ read: RelaySource.Read) throws {
        let log = RelayLog(isQuiet: quiet)
        if let key = read.key, key.isNew {
            log.write(
                "made the relay's key in \(key.file); `tenfour relay --config FILE --show-key` prints its public part")
        }
        let feeds = IcecastFeeds { log.report($0) }
        try feeds.start(read.icecast)
        defer { feeds.stop() }
        let gateway = try openGateway(read, feeds, log)
        defer { gateway?.stop() }
        var service: RelayService?
        let server = try RelayServer(gateway?.relayConfiguration ?? read.configuration) { notice in
            log.report(notice)
            if notice == .reloaded { service?.hasReloaded() }
        }
        service = RelayService(server)
        let stop = { [unowned server, manager = service?.manager] in
            manager?.isStopping()
            server.stop()
        }
        let metrics = try read.metrics.map { address throws(RadioError) in
            try MetricsServer.started(
                at: address, names: read.configuration.web.hostNames,
                .relay(server, version: Tenfour.number) { [weak gateway] text in
                    text.addHTTPListeners(gateway?.listenerCounts ?? [:])
                    if let http = gateway?.httpStatus { text.addHTTP(http) }
                    text.addIcecast(feeds.statuses)
                })
        }
        defer { metrics?.stop() }
        let keys = RelayKeys()
        do throws(WebError) { try gateway?.start(with: server) } catch {
            throw RadioError(.failure, "the HTTP server cannot start: \(error)")
        }
        try server.run { (loop) throws(NetworkError) in
            try keys?.listen(on: loop) { key in
                switch key {
                case "q", "\u{4}": stop()
                case "?": log.write(RelayKeys.help)
                default: break
                }
            }
            if keys != nil { log.write("q stops, ? shows the keys") }
            for number in [SIGINT, SIGTERM] { _ = try loop.onSignal(number, stop) }
            _ = try loop.onSignal(SIGHUP) { [unowned server, unowned loop, manager = service?.manager] in
                manager?.isReloading(at: loop.now)
                reload(server, gateway, feeds, read, metrics, log, manager)
            }
            if let metrics { log.write("metrics are at http://\(metrics.endpoint)/metrics") }
            try answer(at: read.statusSocket, for: server, gateway, feeds, on: loop, log)
            try service?.begin(on: loop)
        }
        withExtendedLifetime((keys, service)) { log.write("stopped") }
    }

    /// Opens the HTTP server and the channels for it and for `feeds`; nil if the configuration has neither.
    private func openGateway(
        _ read: RelaySource.Read, _ feeds: IcecastFeeds, _ log: RelayLog
    ) throws(RadioError) -> WebGateway? {
        do throws(WebError) {
            return try WebGateway(
                read.configuration, version: Tenfour.number,
                pagesMade: { feeds.append($2, header: $1, of: $0) }, notices: { log.report($0) })
        } catch {
            throw RadioError(.unavailable, "the HTTP server cannot start: \(error)")
        }
    }

    /// Reads the configuration again. If it has an error, nothing changes. `old` is the configuration of the start, of
    /// which some settings do not change while the relay runs.
    private func reload(
        _ server: RelayServer, _ gateway: WebGateway?, _ feeds: IcecastFeeds, _ old: RelaySource.Read,
        _ metrics: MetricsServer?, _ log: RelayLog, _ manager: ServiceManager?
    ) {
        server.reload(reading: { [source] in
            do throws(RadioError) {
                let read = try source.read(makesKey: true)
                if read.statusSocket.path != old.statusSocket.path {
                    log.write("the new path of the status socket takes effect after a restart")
                }
                if read.metrics != old.metrics { log.write("the new metrics address takes effect after a restart") }
                metrics?.answer(for: read.configuration.web.hostNames)
                log.write("the configuration was read again: \(read.counts)")
                try feeds.start(read.icecast)
                guard let gateway else {
                    if !read.configuration.web.channels.isEmpty { log.report(WebNotice.waitsForRestart) }
                    return read.configuration
                }
                gateway.adopt(read.configuration) { [server] in server.reload($0) }
                return nil
            } catch {
                Terminal.log("tenfour: the relay keeps its configuration, because the new one has an error: \(error)")
                manager?.isReady("the new configuration has an error, so the relay keeps the old one")
                return nil
            }
        })
    }

    /// Opens the status socket and answers status requests. A failure to open it is an error only if its path was
    /// configured.
    private func answer(
        at socket: (path: String, isNamed: Bool), for server: RelayServer, _ gateway: WebGateway?,
        _ feeds: IcecastFeeds,
        on loop: EventLoop, _ log: RelayLog
    ) throws(NetworkError) {
        if !socket.isNamed, let reason = StatusSocket.makeFolder(of: socket.path) {
            return log.write("there is no status socket: \(reason), or choose another path with --status-socket")
        }
        do throws(NetworkError) {
            _ = try LocalSocket(on: loop, listeningAt: socket.path) { [unowned server] in
                RelayReport(
                    server.status, gateway?.listenerCounts ?? [:], http: gateway?.httpStatus, feeds.statuses
                ).answer
            }
        } catch {
            if socket.isNamed { throw error }
            log.write(
                "cannot open the status socket \(socket.path) (\(NetworkError.text(for: error.code))): choose another path with --status-socket"
            )
        }
    }
}
