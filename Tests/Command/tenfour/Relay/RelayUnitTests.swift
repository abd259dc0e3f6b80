import Glibc
import TestSupport
import Testing

/// The systemd unit that runs a relay.
@Suite(.onItsOwnThread) struct RelayUnitTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private static let unit = Repository.path("Tools/tenfour-relay.service")

    @Test func itIsExposedToLittle() throws {
        let result = try Program.run(
            "systemd-analyze", ["security", "--offline=true", "--no-pager", "--threshold=20", Self.unit])
        #expect(result.end == .code(0), "\(result.output)\(result.errors)")
        let words = try #require(result.output.split(separator: "Overall exposure level").last).split(separator: " ")
        let score = try #require(words.compactMap { Double($0) }.first)
        #expect(score > 0 && score <= 2, "\(result.output)")
    }

    /// systemd finds no error in the unit. The program's place is replaced, because verification checks that the
    /// program exists.
    @Test func itIsValid() throws {
        let unit = Folder.text(of: Self.unit).split(
            separator: "/usr/local/bin/tenfour", omittingEmptySubsequences: false)
        folder.write(unit.joined(separator: try Program.path(of: "tenfour")), to: "tenfour-relay.service")
        let result = try Program.run("systemd-analyze", ["verify", "--man=no", folder("tenfour-relay.service")])
        #expect(unit.count == 2 && result.end == .code(0), "\(result.errors)")
        #expect(result.output.isEmpty && result.errors.isEmpty, "\(result.output)\(result.errors)")
    }

    @Test func itIsStartedAgainForEver() throws {
        let lines = Folder.text(of: Self.unit).split(separator: "\n")
        for line in ["Restart=always", "StartLimitIntervalSec=0", "LimitCORE=0", "UMask=0077", "Type=notify"] {
            #expect(lines.contains(Substring(line)))
        }
        #expect(!lines.contains { $0.hasPrefix("RestartPreventExitStatus") })
    }

    /// The system calls that the unit allows are sufficient for a relay: to resolve names, reload its configuration,
    /// send with several threads, forward plain RTP to a multicast group, answer over HTTP, feed an Icecast server, report
    /// its status, and stop.
    @Test func aRelayWorksUnderItsFilter() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 6)]).wav(), to: "tone.wav")
        let lines = try tenfour(["channel", "new", "family", "--relay", "localhost:\(port)"]).output.split(
            separator: "\n")
        let (http, metrics) = (UDPPort.free(), UDPPort.free())
        folder.write("host localhost\nport \(UDPPort.free())\nmount /studio\npassword hackme\n", to: "icecast.conf")
        let (plain, group) = (UDPPort.free(), "239.0.1.10:\(UDPPort.free())")
        let configuration = ["bind 127.0.0.1:\(port)", "workers 2", lines.last.map(String.init) ?? ""]
        folder.write(configuration.joined(separator: "\n"), to: "relay.conf")
        let arguments = [
            "-B", Repository.path("Tests/TestSupport/Servers/sandbox.py"), Self.unit, try Program.path(of: "tenfour"),
            "relay",
            "--config",
            "relay.conf", "--status-socket", "relay.sock", "--rtp-in", "studio=127.0.0.1:\(plain)", "--rtp-out",
            "studio=\(group)", "--http", "127.0.0.1:\(http)", "--web", "studio", "--metrics", "\(metrics)", "--icecast",
            "studio=icecast.conf",
        ]
        let relay = try Program("env", ["/usr/bin/python3"] + arguments, in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        let listener = try Program(
            "tenfour", ["listen", "-o", "heard.wav"], in: folder, environment: ["TENFOUR_LINK": String(lines[1])])
        try #require(listener.says("in the channel"), "\(listener.errors)")
        relay.send(SIGHUP)
        #expect(relay.says("read again: 1 channel"), "\(relay.errors)")
        let talker = try Program(
            "tenfour", ["send", "--input", "tone.wav"], in: folder, environment: ["TENFOUR_LINK": String(lines[0])])
        try #require(listener.says("hearing"), "\(listener.errors)")
        let other = try tenfour(["send", "--input", "tone.wav", "-d", "1s", "rtp://127.0.0.1:\(plain)"], in: folder)
        #expect(other.end == .code(0), "\(other.errors)")
        let status = try tenfour(["relay", "status", "--socket", "relay.sock"], in: folder)
        #expect(status.end == .code(0) && status.output.contains("\nfamily "), "\(status.output)\(status.errors)")
        #expect(HTTPExchange.get("/channels.json", port: http).text.contains("studio"))
        let counts = HTTPExchange.get("/metrics", port: metrics).text
        #expect(counts.contains(/\nprocess_max_fds [1-9]/) && counts.contains(/\nprocess_open_fds [1-9]/), "\(counts)")
        #expect(counts.contains(/\ntenfour_icecast_failures_total{channel="studio",reason="unreachable"} [1-9]/))
        #expect(talker.wait() == .code(0), "\(talker.errors)")
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0), "\(relay.errors)")
        listener.send(SIGINT)
        listener.wait()
        let heard = try Recording(wav: folder("heard.wav"))
        let tone = try #require(Tone(in: heard.channels[0]))
        #expect(tone.duration > 3, "\(tone)")
    }
}
