import Glibc
import TenfourNATS
import TestSupport
import Testing

/// Connections to a real nats-server, and to one that refuses, disappears or is slow.
@Suite(.onItsOwnThread) struct NATSClientTests {
    private let folder = Folder()

    private func client(_ configuration: NATSConfiguration) throws -> NATSClient {
        let client = try NATSClient(configuration) {}
        try client.start()
        return client
    }

    private func configuration(_ server: NATSServer, scheme: String = "nats", host: String = "127.0.0.1")
        -> NATSConfiguration
    {
        NATSConfiguration(servers: ["\(scheme)://\(host):\(server.port)"])
    }

    private func wait(
        _ client: NATSClient, for time: Duration = .seconds(60), place: SourceLocation = #_sourceLocation,
        until isSo: () -> Bool
    ) {
        let end = ContinuousClock.now + time
        while !isSo() {
            guard ContinuousClock.now < end else {
                Issue.record("it did not come true: \(client.status)", sourceLocation: place)
                return
            }
            usleep(5_000)
        }
    }

    /// Expects that a message of one client reaches another.
    private func expectMessage(
        from sender: NATSClient, to receiver: NATSClient, place: SourceLocation = #_sourceLocation
    ) {
        receiver.subscribe(to: "a.b")
        wait(receiver, place: place) { receiver.status.isConnected && sender.status.isConnected }
        var heard: [NATSMessage] = []
        wait(receiver, place: place) {
            sender.publish(NATSMessage(subject: "a.b", bytes: [1, 2, 3]))
            usleep(20_000)
            heard += receiver.takeMessages()
            return !heard.isEmpty
        }
        #expect(heard.first?.bytes == [1, 2, 3], sourceLocation: place)
    }

    /// A relay shows its certificate to a server that asks for one.
    @Test func aServerThatAsksForACertificateGetsIt() throws {
        let own = try Certificate(in: folder)
        let server = try NATSServer(
            "--tls", "--tlscert", own.file, "--tlskey", own.key, "--tlsverify", "--tlscacert", own.file)
        var trusting = configuration(server, scheme: "tls", host: "localhost")
        trusting.authorities = own.file
        let unknown = try client(trusting)
        wait(unknown) { unknown.status.failure != nil }
        trusting.certificate = (own.file, own.key)
        let known = try client(trusting)
        wait(known) { known.status.isConnected }
        #expect(unknown.status.connectionCount == 0)
        unknown.stop()
        known.stop()
    }

    @Test func refusedCredentialsAreTriedAgainWithGrowingPauses() throws {
        let server = try NATSServer("--user", "relay", "--pass", "secret")
        var wrong = configuration(server)
        wrong.credentials = .user("relay", password: "guess")
        let client = try client(wrong)
        wait(client) { client.status.failure != nil }
        #expect(client.status.failure?.contains("Authorization") ?? false, "\(client.status)")
        usleep(3_000_000)
        // Pauses of about 0.1, 0.2, 0.4, 0.8 and 1.6 s.
        let attempts = server.log.split(separator: "\n").count { $0.contains("authentication error") }
        #expect((2...8).contains(attempts), "\(server.log)")
        #expect(!client.status.isConnected && client.status.connectionCount == 0)
        // The server learns the password, and the client is let in.
        server.kill()
        try server.start(["--user", "relay", "--pass", "guess"])
        wait(client) { client.status.isConnected }
        #expect(client.status.failure == nil && client.status.connectionCount == 1)
        client.stop()
    }

    @Test func eachConnectionIsCounted() throws {
        let server = try NATSServer()
        let client = try client(configuration(server))
        wait(client) { client.status.connectionCount == 1 }
        server.kill()
        wait(client) { !client.status.isConnected && client.status.failure != nil }
        try server.start()
        wait(client) { client.status.connectionCount == 2 && client.status.failure == nil }
        client.stop()
    }

    /// The server stands still, and more is published than the kernel and the queue take.
    @Test func publishingNeverWaitsForASlowServer() throws {
        let server = try NATSServer()
        let client = try client(configuration(server))
        wait(client) { client.status.isConnected }
        server.send(SIGSTOP)
        defer { server.send(SIGCONT) }
        let message = NATSMessage(subject: "a.b", bytes: [UInt8](repeating: 1, count: 10_000))
        var longest = Duration.zero
        for _ in 0..<4_000 {
            longest = max(longest, ContinuousClock().measure { client.publish(message) })
        }
        // Waiting for the server would take until it goes on; the whole machine may stand still for a moment.
        #expect(longest < .seconds(5), "\(longest)")
        wait(client) { client.status.droppedOutgoingCount > 0 }
        wait(client) { !client.status.isConnected }
        client.stop()
    }

    @Test func messagesThatAreNotTakenAreDroppedAndCounted() throws {
        let server = try NATSServer()
        let (sender, receiver) = (try client(configuration(server)), try client(configuration(server)))
        expectMessage(from: sender, to: receiver)
        wait(receiver) {
            for _ in 0..<500 { sender.publish(NATSMessage(subject: "a.b", bytes: [4])) }
            return receiver.status.droppedIncomingCount > 0
        }
        sender.stop()
        receiver.stop()
    }
}
