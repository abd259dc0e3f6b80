import TenfourRelayServer
import Testing

/// The lines and options of a cluster.
struct RelayFileClusterTests {
    private static let plain = "rtp-in a=0.0.0.0:7000\nrtp-out a=10.0.0.7:5004\n"

    private func read(_ text: String) throws(RelayFileErrors) -> ClusterSettings {
        var file = RelayFile()
        let bytes = Array((Self.plain + text).utf8)
        file.add(bytes.span, of: "relay.conf")
        _ = try file.finished()
        return file.cluster
    }

    @Test func allSettingsAreRead() throws {
        let settings = try read(
            """
            nats nats://10.0.0.7:4222,tls://nats.example.org
            cluster-key cluster.key
            nats-ca ca.pem
            nats-cert relay.pem
            nats-key relay.key
            nats-credentials nats.credentials
            """)
        #expect(settings.servers == ["nats://10.0.0.7:4222", "tls://nats.example.org"])
        #expect(
            settings.files == [
                "cluster-key": "cluster.key", "nats-ca": "ca.pem", "nats-cert": "relay.pem", "nats-key": "relay.key",
                "nats-credentials": "nats.credentials",
            ])
    }

    @Test(arguments: [
        ("nats 10.0.0.7:4222", "line 3: nats needs the URLs"),
        ("nats nats://user:password@10.0.0.7", "line 3: nats needs the URLs"),
        ("nats nats://a,", "line 3: nats needs the URLs"),
        ("nats nats://a:99999", "line 3: nats needs the URLs"), ("nats tls://[::1]:", "line 3: nats needs the URLs"),
        ("cluster-key", "line 3: cluster-key needs the path"),
        ("nats nats://a", "line 3: a cluster needs a key"),
        ("cluster-key k", "line 3: cluster-key needs NATS servers"),
        ("nats nats://a\ncluster-key k\nnats-cert c", "line 5: a certificate and its key go together"),
        ("nats nats://a\nnats nats://b", "line 4: nats appears a second time"),
    ]) func anErrorNamesTheLineAndTheRemedy(_ text: String, _ error: String) {
        let thrown = #expect(throws: RelayFileErrors.self) { try read(text) }
        #expect(thrown.map { "\($0)" }?.contains(error) ?? false, "\(thrown.map { "\($0)" } ?? "")")
        #expect(!(thrown.map { "\($0)" } ?? "").contains("password@"))
    }

    @Test func anOptionReplacesTheLine() throws {
        var file = RelayFile()
        let bytes = Array((Self.plain + "nats nats://a\ncluster-key k\n").utf8)
        file.add(bytes.span, of: "relay.conf")
        file.replaceCluster("nats", "nats://b")
        file.replaceCluster("cluster-key", "/l")
        _ = try file.finished()
        #expect(file.cluster.servers == ["nats://b"])
        #expect(file.cluster.files["cluster-key"] == "/l")
    }
}
