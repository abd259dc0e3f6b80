import Glibc
import TestSupport
import Testing

/// Relays that share a real nats-server: its credentials, its certificate, and what operators see of it.
@Suite(.onItsOwnThread, .inRealTime) struct RelayNATSTests {
    private let folder = Folder()
    private let line: String

    init() throws {
        let made = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1"])
        line = try #require(made.output.split(separator: "\n").last.map(String.init))
        write(String(repeating: "0123", count: 16), to: "cluster.key")
    }

    /// Writes a file that nobody else may read.
    private func write(_ text: String, to name: String) {
        folder.write(text + "\n", to: name)
        unsafe chmod(folder(name), 0o600)
    }

    /// Starts a relay with more `lines` in its configuration.
    private func relay(_ name: String, metrics: UInt16, _ lines: [String]) throws -> Program {
        let first = ["bind 127.0.0.1:0", line, "cluster-key cluster.key", "metrics \(metrics)"]
        write((first + lines).joined(separator: "\n"), to: "\(name).conf")
        let relay = try Program(
            "tenfour", ["relay", "--config", "\(name).conf", "--status-socket", "\(name).sock"], in: folder)
        try #require(relay.says("metrics are at"), "\(relay.errors)")
        return relay
    }

    /// Waits until the metrics have all these lines; a value `+` stands for a positive number.
    private func expect(_ lines: [String], at port: UInt16, place: SourceLocation = #_sourceLocation) {
        var missing = lines
        for _ in 0..<150 where !missing.isEmpty {
            let found = HTTPExchange.get("/metrics", port: port).text.split(separator: "\n")
            missing = lines.filter { line in
                !found.contains { sample in
                    line.hasSuffix(" +")
                        ? sample.hasPrefix(line.dropLast()) && !sample.hasSuffix(" 0") : sample == line
                }
            }
            usleep(100_000)
        }
        #expect(missing.isEmpty, sourceLocation: place)
    }

    @Test func refusedCredentialsAreReportedOnceAndTriedAgain() throws {
        let server = try NATSServer("--user", "relay", "--pass", "open-sesame")
        write("relay:guess", to: "nats.credentials")
        let metrics = UDPPort.free()
        let relay = try relay(
            "relay", metrics: metrics, ["nats nats://127.0.0.1:\(server.port)", "nats-credentials nats.credentials"])
        try #require(relay.says("not connected to NATS: "), "\(relay.errors)")
        #expect(relay.errors.contains("Authorization") && relay.errors.contains("goes on alone and tries again"))
        usleep(1_500_000)
        let notices = relay.errors.split(separator: "\n").count { $0.contains("not connected to NATS") }
        #expect(notices == 1 && !relay.errors.contains("guess"), "\(relay.errors)")
        let status = try tenfour(["relay", "status", "--socket", "relay.sock"], in: folder)
        #expect(status.output.contains("\ncluster: not connected to NATS, "), "\(status.output)\(status.errors)")
        expect(["tenfour_nats_connected 0", "tenfour_nats_connections_total 0"], at: metrics)
        server.kill()
        try server.start(["--user", "relay", "--pass", "guess"])
        #expect(relay.says("tenfour: connected to NATS"), "\(relay.errors)")
        expect(["tenfour_nats_connected 1", "tenfour_nats_connections_total 1"], at: metrics)
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0), "\(relay.errors)")
    }

    @Test func relaysMeetOverAnEncryptedConnectionAndCountIt() throws {
        let own = try Certificate(in: folder)
        let server = try NATSServer(
            "--tls", "--tlscert", own.file, "--tlskey", own.key, "--tlsverify", "--tlscacert", own.file)
        let lines = [
            "nats tls://localhost:\(server.port)", "nats-ca server.pem", "nats-cert server.pem", "nats-key server.key",
        ]
        let metrics = [UDPPort.free(), UDPPort.free()]
        let left = try relay("left", metrics: metrics[0], lines)
        let right = try relay("right", metrics: metrics[1], lines)
        #expect(left.says("1 other relay in the cluster"), "\(left.errors)")
        expect(
            [
                "tenfour_cluster_relays 1", "tenfour_cluster_round_trip_seconds +",
                "tenfour_cluster_messages_total{direction=\"sent\"} +",
                "tenfour_cluster_messages_total{direction=\"received\"} +",
                "tenfour_cluster_bytes_total{direction=\"sent\"} +",
                "tenfour_cluster_bytes_total{direction=\"received\"} +",
            ], at: metrics[0])
        right.send(SIGKILL)
        expect(["tenfour_cluster_relays 0", "tenfour_cluster_relays_gone_total 1"], at: metrics[0])
        server.kill()
        expect(["tenfour_nats_connected 0"], at: metrics[0])
    }

    @Test func aServerThatStandsStillIsGivenUpAndTheRelayWorksOn() throws {
        let server = try NATSServer()
        let metrics = UDPPort.free()
        let relay = try relay("relay", metrics: metrics, ["nats nats://127.0.0.1:\(server.port)"])
        try #require(relay.says("connected to NATS"), "\(relay.errors)")
        server.send(SIGSTOP)
        defer { server.send(SIGCONT) }
        #expect(relay.says("not connected to NATS: "), "\(relay.errors)")
        expect(["tenfour_nats_connected 0"], at: metrics)
        let health = HTTPExchange.get("/healthz", port: metrics)
        #expect(health.status == 200 && health.text == "ok\n")
    }
}
