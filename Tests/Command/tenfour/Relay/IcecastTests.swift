import Glibc
import TestSupport
import Testing

/// A relay that feeds a real Icecast server.
@Suite(.onItsOwnThread, .inRealTime) struct IcecastTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private func configure(_ lines: [String]) throws -> [String] {
        let links = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"]).output.split(
            separator: "\n"
        ).map(String.init)
        folder.write(links[1] + "\n", to: "family.link")
        folder.write((["bind 127.0.0.1:\(port)", links[2]] + lines).joined(separator: "\n"), to: "relay.conf")
        return links
    }

    private func relay(_ options: [String] = [], environment: [String: String] = [:]) throws -> Program {
        try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"] + options, in: folder,
            environment: environment)
    }

    private func settings(_ server: IcecastServer, password: String = "hackme") {
        folder.write(
            "host 127.0.0.1\nport \(server.port)\nmount /family.ogg\npassword \(password)\n", to: "icecast.conf")
    }

    @Test func aPublicAudienceHearsAChannel() throws {
        let server = try IcecastServer()
        settings(server)
        folder.write(longTone, to: "tone.wav")
        let links = try configure(["icecast family=icecast.conf"])
        let (web, target) = (UDPPort.free(), "127.0.0.1:\(server.port)/family.ogg")
        let relay = try relay(["--metrics", "\(web)"])
        try #require(relay.says("channel family feeds \(target)"), "\(relay.errors)")
        let talker = try Program(
            "tenfour", ["send", "--input", "tone.wav"], in: folder, environment: ["TENFOUR_LINK": links[0]])
        try #require(talker.says("in the channel"), "\(talker.errors)")
        let player = try Program.run(
            "ffmpeg", ["-v", "error", "-i", server.url("/family.ogg"), "-t", "4", "-ac", "1", "heard.wav"], in: folder)
        #expect(player.end == .code(0), "\(player.errors)")
        let tone = try #require(Tone(in: try Recording(wav: folder("heard.wav")).channels[0]))
        #expect(abs(tone.frequency - Tone.telling) < 5 && tone.duration > 1, "\(tone)")
        let status = try tenfour(["relay", "status", "--socket", "relay.sock"], in: folder)
        #expect(status.output.contains("\nchannel family feeds \(target)\n"), "\(status.output)\(status.errors)")
        let json = try tenfour(["relay", "status", "--json", "--socket", "relay.sock"], in: folder).output
        #expect(json.contains("\"connected\": true") || json.contains("\"connected\":true"), "\(json)")
        let metrics = metrics(at: web)
        #expect(metrics.contains("\ntenfour_icecast_connected{channel=\"family\"} 1\n"), "\(metrics)")
        #expect(metrics.contains("\ntenfour_icecast_connections_total{channel=\"family\"} 1\n"), "\(metrics)")
        #expect(metrics.contains(/\ntenfour_icecast_bytes_sent_total{channel="family"} [1-9]/), "\(metrics)")
        // A reload without the line ends the feed.
        folder.write(
            Folder.text(of: folder("relay.conf")).replacing("icecast family=icecast.conf", with: ""), to: "relay.conf")
        relay.send(SIGHUP)
        #expect(relay.says("read again"), "\(relay.errors)")
        #expect(relay.wait(.seconds(20)) { !((try? self.status().contains("feeds")) ?? true) })
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0), "\(relay.errors)")
    }

    private func status() throws -> String {
        try tenfour(["relay", "status", "--socket", "relay.sock"], in: folder).output
    }

    private func metrics(at port: UInt16) -> String { HTTPExchange.get("/metrics", port: port).text }

    @Test func aRefusedPasswordIsReportedOnceWithItsRemedy() throws {
        let server = try IcecastServer()
        settings(server, password: "guess")
        _ = try configure([])
        let web = UDPPort.free()
        let relay = try relay(["--icecast", "family=\(folder("icecast.conf"))", "--metrics", "\(web)"])
        try #require(
            relay.says("the server refuses the user or the password; check both in the file"), "\(relay.errors)")
        usleep(3_000_000)
        #expect(
            relay.errors.split(separator: "refuses", omittingEmptySubsequences: false).count == 2, "\(relay.errors)")
        #expect(!relay.errors.contains("guess"))
        let metrics = metrics(at: web)
        #expect(
            metrics.contains(/\ntenfour_icecast_failures_total{channel="family",reason="wrong_password"} [1-9]/),
            "\(metrics)")
        #expect(try status().contains("channel family cannot feed"))
    }

    /// The password goes only to a server whose certificate is trusted.
    @Test func anEncryptedServerNeedsATrustedCertificate() throws {
        let certificate = try Certificate(in: folder)
        folder.write(Folder.text(of: certificate.file) + Folder.text(of: certificate.key), to: "both.pem")
        // The server gives up its rights before it reads the file.
        unsafe chmod(folder("both.pem"), 0o644)
        unsafe chmod(folder.path, 0o755)
        let server = try IcecastServer(certificate: folder("both.pem"))
        folder.write(
            "host localhost\nport \(server.port)\nmount /family.ogg\npassword hackme\ntls yes\n", to: "icecast.conf")
        _ = try configure(["icecast family=icecast.conf"])
        let stranger = try relay()
        #expect(stranger.says("no encrypted connection with a trusted certificate"), "\(stranger.errors)")
        stranger.send(SIGTERM)
        stranger.wait()
        let relay = try relay(environment: ["SSL_CERT_FILE": certificate.file])
        #expect(relay.says("channel family feeds localhost:\(server.port)/family.ogg"), "\(relay.errors)")
    }

    @Test func errorsNameFileLineAndRemedy() throws {
        func message(_ lines: [String]) throws -> String {
            _ = try configure(lines)
            let result = try tenfour(["relay", "--config", "relay.conf", "--check"], in: folder)
            #expect(result.end != .code(0))
            return result.errors
        }
        folder.write("host a\nport x\n", to: "icecast.conf")
        #expect(try message(["icecast family=icecast.conf"]).contains("icecast.conf, line 2: port needs a number"))
        #expect(try message(["icecast family=no.conf"]).contains("no.conf: the file cannot be read; write host, mount"))
        folder.write("host a\nmount /b\npassword c\n", to: "icecast.conf")
        #expect(try message(["icecast work=icecast.conf"]).contains("line 3: there is no channel work"))
        #expect(try message(["icecast family"]).contains("line 3: icecast needs CHANNEL=FILE"))
        #expect(
            try message(["icecast family=icecast.conf", "icecast family=b"]).contains(
                "line 4: icecast family appears a second time"))
        unsafe chmod(folder("icecast.conf"), 0o644)
        #expect(
            try message(["icecast family=icecast.conf"]).contains("icecast.conf: other users may read it (mode 644)"))
    }
}
