import Glibc
import Synchronization
import TenfourAudioCore
import TenfourMetrics
import TenfourRelayServer
import TenfourSession
import TestSupport
import Testing

/// The answer to GET /healthz: it comes from a thread of its own, but tells of the loop that does the work.
@Suite(.onItsOwnThread) struct HealthTests {
    private func health(_ server: MetricsServer) -> String {
        let answer = HTTPExchange.get("/healthz", port: server.endpoint.port)
        return "\(answer.status) \(answer.text)"
    }

    /// The loop of a real relay is blocked, as by an endless loop, and then works again.
    @Test func aRelayWhoseLoopHangsIsNotHealthy() throws {
        let hangs = Hang()
        let plain = PlainChannel(
            name: "studio", inputs: [.init(bind: Endpoint(.loopbackV4, port: 0))],
            targets: [Endpoint(.loopbackV4, port: 9)])
        let configuration = RelayServerConfiguration(bind: Endpoint(.loopbackV4, port: 0), plain: [plain])
        let relay = try RelayServer(configuration) { if $0 == .reloaded { hangs.wait() } }
        let server = try MetricsServer(
            listeningAt: Endpoint(.loopbackV4, port: 0), .relay(relay, version: "1"))
        #expect(health(server) == "503 starting: the network thread has not run yet\n")
        let thread = Thread(relay)
        thread.start()
        wait { health(server) == "200 ok\n" }
        hangs.begin()
        relay.reload(configuration)
        wait { health(server).hasPrefix("503 stuck: the network thread has not worked for ") }
        hangs.end()
        wait { health(server) == "200 ok\n" }
        relay.stop()
        thread.join()
        server.stop()
    }

    private func wait(until isThere: () -> Bool) {
        for _ in 0..<600 {
            if isThere() { return }
            usleep(100_000)
        }
        Issue.record("the health did not become as expected within a minute")
    }

    /// Blocks the thread that calls `wait`, between `begin` and `end`.
    private final class Hang: Sendable {
        private let hangs = Atomic(false)

        func begin() { hangs.store(true, ordering: .releasing) }
        func end() { hangs.store(false, ordering: .releasing) }
        func wait() { while hangs.load(ordering: .acquiring) { usleep(1_000) } }
    }

    /// The thread that runs a relay.
    private final class Thread {
        private let relay: RelayServer
        private var thread = pthread_t()

        init(_ relay: RelayServer) { self.relay = relay }

        func start() {
            let argument = unsafe Unmanaged.passRetained(relay).toOpaque()
            let code = unsafe pthread_create(&thread, nil, runRelay, argument)
            precondition(code == 0)
        }

        func join() { pthread_join(thread, nil) }
    }
}

@c private func runRelay(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let relay = unsafe Unmanaged<RelayServer>.fromOpaque(argument).takeRetainedValue()
    do { try relay.run() } catch { Issue.record("\(error)") }
    return nil
}
