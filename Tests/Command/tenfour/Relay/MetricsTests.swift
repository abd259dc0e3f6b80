import Glibc
import TestSupport
import Testing

/// The metrics and the health of running relays and stations.
@Suite(.onItsOwnThread, .inRealTime) struct MetricsTests {
    private let folder = Folder()
    private let port = UDPPort.free()
    private let web = UDPPort.free()

    /// Returns the samples of a text of metrics, by name with labels.
    private func samples(at port: UInt16) throws -> [String: Double] {
        let answer = get("/metrics", at: port)
        try #require(answer.status == 200, "\(answer)")
        return Dictionary(
            answer.body.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
                guard let space = line.lastIndex(of: " ") else { return nil }
                return (String(line[..<space]), Double(line[line.index(after: space)...]) ?? .nan)
            }, uniquingKeysWith: { _, _ in .nan })
    }

    private func get(_ path: String, at port: UInt16) -> (status: Int, body: String) {
        let answer = HTTPExchange.get(path, port: port)
        return (answer.status, answer.text)
    }

    /// Expects that all counters of these names rise above zero, and that Prometheus' checker accepts the text.
    private func expect(
        _ names: [String], at port: UInt16, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var missing = names
        for _ in 0..<150 where !missing.isEmpty {
            let found = try samples(at: port)
            missing.removeAll { name in found.contains { $0.key.hasPrefix(name) && $0.value > 0 } }
            usleep(100_000)
        }
        #expect(missing.isEmpty, sourceLocation: sourceLocation)
        folder.write(get("/metrics", at: port).body, to: "metrics")
        let check = try Program.run("sh", ["-c", "promtool check metrics <metrics"], in: folder)
        #expect(
            check.end == .code(0) && check.output.isEmpty && check.errors.isEmpty, "\(check.output)\(check.errors)",
            sourceLocation: sourceLocation)
    }

    private func relay(_ lines: [String]) throws -> (relay: Program, talk: String, listen: String) {
        let links = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"]).output.split(
            separator: "\n"
        ).map(String.init)
        folder.write((["bind 127.0.0.1:\(port)", links[2]] + lines).joined(separator: "\n"), to: "relay.conf")
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("metrics are at http://127.0.0.1:\(web)/metrics"), "\(relay.errors)")
        return (relay, links[0], links[1])
    }

    @Test func aRelayCountsWhatItDoes() throws {
        folder.write(longTone, to: "tone.wav")
        let (plain, http) = (UDPPort.free(), UDPPort.free())
        let (relay, talk, listen) = try relay([
            "metrics \(web)", "http 127.0.0.1:\(http)", "web studio", "rtp-in studio=127.0.0.1:\(plain)",
            "rtp-out studio=127.0.0.1:\(plain + 2)",
        ])
        // The listener loses some of the relay's packets, and the relay some of the talker's: both are requested again.
        let members = [(talk, ["send", "--input", "tone.wav"]), (listen, ["listen", "-o", "heard.wav"])]
        let programs = try members.map { link, arguments in
            let lossy = UDPPort.free()
            let proxy = try Program("badlink", ["--loss", "10%", "--delay", "5ms", ":\(lossy)", "127.0.0.1:\(port)"])
            try #require(proxy.takes(port: lossy), "\(proxy.errors)")
            let link = link.replacing("127.0.0.1:\(port)", with: "127.0.0.1:\(lossy)")
            return (try Program("tenfour", arguments, in: folder, environment: ["TENFOUR_LINK": link]), proxy)
        }
        for (program, _) in programs { try #require(program.says("in the channel"), "\(program.errors)") }
        // A link that the relay does not know, datagrams of strangers, and RTP of a plain channel.
        let stranger = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"]).output.split(
            separator: "\n")
        let unknown = try Program(
            "tenfour", ["listen", "-o", "nothing.wav"], in: folder, environment: ["TENFOUR_LINK": String(stranger[1])])
        let browser = try Program(
            "python3",
            [
                "-c", "import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()",
                "http://127.0.0.1:\(http)/studio.ogg",
            ])
        let socket = PlainSocket()
        socket.send([1, 2, 3], toPort: port)
        socket.send([0x80, 200] + [UInt8](repeating: 0, count: 30), toPort: plain)
        socket.send([0x80, 111] + [UInt8](repeating: 0, count: 30), toPort: plain)
        socket.send([UInt8](repeating: 0, count: 3_000), toPort: port)
        try expect(
            [
                "tenfour_uptime_seconds", "tenfour_members{channel=\"family\"}",
                "tenfour_listeners{channel=\"family\"}",
                "tenfour_listeners{channel=\"studio\"}", "tenfour_talkers{channel=\"family\"}",
                "tenfour_talker_sockets",
                "tenfour_http_listeners{channel=\"studio\"}",
                "tenfour_joins_total", "tenfour_rtp_packets_received_total{channel=\"family\"}",
                "tenfour_rtp_packets_received_total{channel=\"studio\"}", "tenfour_rtp_bytes_received_total",
                "tenfour_rtp_packets_sent_total{channel=\"family\"}",
                "tenfour_rtp_bytes_sent_total{channel=\"family\"}",
                "tenfour_rtp_packets_retransmitted_total", "tenfour_rtp_packets_requested_total",
                "tenfour_joins_refused_total{reason=\"wrong_secret\"}",
                "tenfour_rtp_packets_dropped_total{reason=\"unknown_protocol\"}",
                "tenfour_rtp_packets_dropped_total{reason=\"too_long\"}",
                "tenfour_rtp_packets_dropped_total{channel=\"studio\",reason=\"rtcp\"}", "process_cpu_seconds_total",
            ], at: web)
        withExtendedLifetime((relay, programs, unknown, browser)) {}
    }

    @Test func aRelayIsHealthyWhileItsLoopWorks() throws {
        let (relay, _, _) = try relay(["metrics \(web)"])
        // The network thread may not have run yet.
        #expect(relay.wait(.seconds(60)) { get("/healthz", at: web) == (200, "ok\n") })
        for path in ["/", "/metrics/", "/family.ogg", "/healthz2"] { #expect(get(path, at: web).status == 404) }
        // A new address takes effect only after a restart.
        folder.write(
            Folder.text(of: folder("relay.conf")).replacing("metrics \(web)", with: "metrics 127.0.0.1:1"),
            to: "relay.conf")
        relay.send(SIGHUP)
        #expect(relay.says("the new metrics address takes effect after a restart"), "\(relay.errors)")
        #expect(get("/healthz", at: web).status == 200)
        let second = try tenfour(
            [
                "relay", "--rtp-in", "a=127.0.0.1:0", "--rtp-out", "a=127.0.0.1:9", "--metrics", "\(web)", "--bind",
                "127.0.0.1:0",
            ],
            in: folder)
        #expect(second.end == .code(69), "\(second.errors)")
        #expect(second.errors.contains("cannot serve metrics at 127.0.0.1:\(web)"), "\(second.errors)")
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0), "\(relay.errors)")
    }

    /// Packets are lost, doubled, late and out of order on the way.
    @Test func stationsCountWhatHappensToTheirPackets() throws {
        folder.write(longTone, to: "tone.wav")
        let sender = UDPPort.free()
        let (lossy, metrics) = (UDPPort.free(), [web, sender])
        let receiver = try Program(
            "tenfour",
            ["recv", "-p", "\(port)", "-o", "heard.wav", "--metrics", "\(web)", "--jitter", "40ms"], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let link = try Program(
            "badlink",
            [
                "--loss", "20%", "--delay", "10ms", "--reorder", "5%:120ms", "--duplicate", "5%:5ms", ":\(lossy)",
                "127.0.0.1:\(port)",
            ])
        try #require(link.takes(port: lossy), "\(link.errors)")
        let talker = try Program(
            "tenfour",
            [
                "send", "--input", "tone.wav", "--name", "Anna", "--metrics", "127.0.0.1:\(sender)",
                "rtp://127.0.0.1:\(lossy)",
            ],
            in: folder)
        try #require(receiver.says("hearing"), "\(receiver.errors)\(talker.errors)")
        PlainSocket().send([1, 2, 3], toPort: port)
        try expect(
            [
                "tenfour_rtp_packets_received_total{peer=\"Anna\"}", "tenfour_rtp_bytes_received_total",
                "tenfour_rtp_packets_lost_total", "tenfour_rtp_packets_late_total",
                "tenfour_rtp_packets_duplicate_total", "tenfour_rtp_packets_reordered_total",
                "tenfour_rtp_packets_requested_total", "tenfour_nack_recovered_packets_total",
                "tenfour_audio_concealed_seconds_total", "tenfour_talk_seconds_total{direction=\"received\"",
                "tenfour_rtp_jitter_seconds", "tenfour_rtcp_round_trip_seconds", "tenfour_jitter_buffer_target_seconds",
                "tenfour_jitter_buffer_current_seconds",
                "tenfour_rtp_packets_dropped_total{reason=\"unknown_protocol\"}",
                "tenfour_talkers", "tenfour_uptime_seconds",
            ], at: metrics[0])
        try expect(
            [
                "tenfour_rtp_packets_sent_total", "tenfour_rtp_bytes_sent_total",
                "tenfour_rtp_packets_retransmitted_total", "tenfour_rtcp_remote_fraction_lost",
                "tenfour_talk_seconds_total{direction=\"sent\"}",
            ], at: metrics[1])
        #expect(get("/healthz", at: metrics[0]).status == 200)
        receiver.send(SIGINT)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
    }

    @Test func aStationAnswersForItsNames() throws {
        let receiver = try Program(
            "tenfour",
            ["recv", "-p", "\(port)", "-o", "heard.wav", "--metrics", "\(web)", "--http-host", "radio.lan"], in: folder)
        try #require(receiver.says("metrics are at"), "\(receiver.errors)")
        for (host, status) in [("127.0.0.1", 200), ("localhost", 200), ("Radio.lan:9104", 200), ("evil.example", 421)] {
            #expect(HTTPExchange.get("/metrics", port: web, host: host).status == status, "\(host)")
        }
        receiver.send(SIGINT)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
    }

    /// Copies and in-band FEC recover packets where nothing is requested again.
    @Test(arguments: [
        ("copy", [], "tenfour_red_recovered_packets_total"),
        ("off", ["--fec", "on", "--expect-loss", "30"], "tenfour_fec_recovered_packets_total"),
    ])
    func recoveredPacketsAreCounted(defence: String, options: [String], counter: String) throws {
        folder.write(longTone, to: "tone.wav")
        let lossy = UDPPort.free()
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav", "--metrics", "\(web)", "--defence", defence],
            in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let link = try Program("badlink", ["--loss", "20%", "--delay", "10ms", ":\(lossy)", "127.0.0.1:\(port)"])
        try #require(link.takes(port: lossy), "\(link.errors)")
        let talker = try Program(
            "tenfour", ["send", "--input", "tone.wav", "--defence", defence] + options + ["rtp://127.0.0.1:\(lossy)"],
            in: folder)
        try #require(receiver.says("hearing"), "\(receiver.errors)\(talker.errors)")
        try expect([counter], at: web)
    }

    /// The stream is not encrypted, but the receiver has a key.
    @Test func packetsThatCannotBeDecryptedAreCounted() throws {
        folder.write(longTone, to: "tone.wav")
        folder.write(String(repeating: "A", count: 40) + "\n", to: "key")
        unsafe chmod(folder("key"), 0o600)
        let receiver = try Program(
            "tenfour",
            [
                "recv", "srtp://127.0.0.1:\(port)", "-o", "heard.wav", "--srtp-key-file", "key", "--metrics", "\(web)",
            ], in: folder)
        try #require(receiver.takes(port: port) && receiver.says("metrics are at"), "\(receiver.errors)")
        let talker = try Program("tenfour", ["send", "--input", "tone.wav", "rtp://127.0.0.1:\(port)"], in: folder)
        try expect(["tenfour_rtp_packets_dropped_total{reason=\"undecryptable\"}"], at: web)
        withExtendedLifetime(talker) {}
    }

    /// A process that is stopped for a second comes too late for its card.
    @Test(.needsLabcard) func underrunsOfTheCardAreCounted() throws {
        folder.write(longTone, to: "tone.wav")
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(port)", "-D", "labcard:late_ear", "--metrics", "\(web)"], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let talker = try Program("tenfour", ["send", "--input", "tone.wav", "rtp://127.0.0.1:\(port)"], in: folder)
        try #require(receiver.says("hearing"), "\(receiver.errors)\(talker.errors)")
        try expectXruns(of: receiver, "playback")
    }

    @Test(.needsLabcard) func overrunsOfTheCardAreCounted() throws {
        let talker = try Program(
            "tenfour", ["send", "-D", "labcard:late_microphone", "--metrics", "\(web)", "rtp://127.0.0.1:9"], in: folder
        )
        try #require(talker.says("metrics are at"), "\(talker.errors)")
        try expect(["tenfour_rtp_packets_sent_total"], at: web)
        try expectXruns(of: talker, "capture")
    }

    private func expectXruns(of station: Program, _ direction: String) throws {
        station.send(SIGSTOP)
        usleep(1_000_000)
        station.send(SIGCONT)
        try expect(
            [
                "tenfour_alsa_xruns_total{direction=\"\(direction)\"}",
                "tenfour_alsa_missed_seconds_total{direction=\"\(direction)\"}",
            ], at: web)
    }
}
