import Glibc
import TenfourNATS
import TestSupport
import Testing

/// A nats-server that accepts only encrypted connections, with a certificate for localhost and 127.0.0.1.
@Suite(.onItsOwnThread) struct EncryptedServerTests {
    private let folder = Folder()
    private let port = UDPPort.free()
    private let certificate: Certificate

    init() throws { certificate = try Certificate(in: folder) }

    private func server(at address: String) throws -> Program {
        let server = try Program(
            "nats-server",
            ["-a", address, "-p", "\(port)", "--tls", "--tlscert", certificate.file, "--tlskey", certificate.key])
        try #require(server.says("Server is ready"), "\(server.errors)")
        return server
    }

    /// Connects, and returns the status after the first attempt.
    private func status(at hosts: String..., authority: String?) throws -> NATSStatus {
        var configuration = NATSConfiguration(servers: hosts.map { "\($0):\(port)" })
        configuration.authorities = authority
        let client = try NATSClient(configuration) {}
        try client.start()
        defer { client.stop() }
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end, !client.status.isConnected, client.status.failure == nil { usleep(10_000) }
        return client.status
    }

    @Test func itsNameOrAddressIsInItsCertificate() throws {
        let server = try server(at: "127.0.0.1")
        for host in ["tls://localhost", "tls://127.0.0.1", "nats://localhost"] {
            let status = try status(at: host, authority: certificate.file)
            #expect(status.isConnected, "\(status)")
        }
        withExtendedLifetime(server) {}
    }

    @Test func aCertificateForAnotherHostIsRefused() throws {
        let servers = [try server(at: "127.0.0.1"), try server(at: "127.0.0.2")]
        let status = try status(at: "tls://127.0.0.2", authority: certificate.file)
        #expect(status.failure?.hasPrefix("tls://127.0.0.2:\(port): ") ?? false, "\(status)")
        let both = try self.status(at: "tls://127.0.0.2", "tls://localhost", authority: certificate.file)
        #expect(both.isConnected, "\(both)")
        withExtendedLifetime(servers) {}
    }

    @Test func aCertificateOfAnotherAuthorityIsRefused() throws {
        let server = try server(at: "127.0.0.1")
        for authority in [try Certificate("stranger", in: folder).file, nil] {
            let status = try status(at: "tls://localhost", authority: authority)
            #expect(status.failure != nil, "\(status)")
        }
        withExtendedLifetime(server) {}
    }
}
