import Glibc
import TenfourAudioCore
import TenfourLinkTest
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourUV

/// Runs a link-test client on a socket.
final class Conversation {
    private let loop: EventLoop
    private let socket: UDPSocket
    private let host: Endpoint
    private var client: LinkTestClient
    private var timer: LoopTimer?

    init(
        _ configuration: LinkTestClient.Configuration, localPort: UInt16,
        hear: @escaping (Span<Float>, SimulatedReceiver.Pull) -> Void
    ) throws {
        let loop = try EventLoop()
        self.loop = loop
        host = configuration.host
        let any: IPAddress = if case .v4 = host.address { .anyV4 } else { .anyV6 }
        socket = try UDPSocket(on: loop, bindingTo: Endpoint(any, port: localPort), options: SocketOptions())
        var chance = SystemRandomNumberGenerator()
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let identity = Identity.random(wallClock: NTPTime(rawValue: UInt64(now.tv_sec) << 32), using: &chance)
        client = try LinkTestClient(configuration, identity: identity, at: loop.now, hear: hear)
    }

    /// Runs until the test or a signal ends it.
    func run() throws -> (result: LinkTestResult, state: LinkTestClient.State, isCutShort: Bool) {
        timer = try loop.makeTimer { [unowned self] in
            client.timeElapsed(at: loop.now)
            settle()
        }
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            _ = try loop.onSignal(signal) { [unowned self] in
                client.stop(at: loop.now)
                settle()
            }
        }
        socket.receive { [unowned self] datagram, sender, now in
            client.receive(datagram, from: sender, at: now)
            settle()
        }
        settle()
        loop.run()
        loop.closeAll()
        return (client.result(), client.state, client.isCutShort)
    }

    private func settle() {
        while true {
            var isThere = false
            let datagram = [UInt8](capacity: 2_048) { isThere = client.nextDatagram(into: &$0) }
            guard isThere else { break }
            socket.send(datagram.span, to: host)
        }
        if let deadline = client.nextDeadline { timer?.arm(at: deadline) } else { loop.stop() }
    }
}
