import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourLinkTest
import TenfourSession
import TenfourUV

/// Runs a link-test server on a socket until a signal arrives.
final class Responder {
    private let loop: EventLoop
    private let socket: UDPSocket
    private let say: (String) -> Void
    private var server: LinkTestServer

    init(on endpoint: Endpoint, say: @escaping (String) -> Void) throws {
        let loop = try EventLoop()
        self.loop = loop
        self.say = say
        var generator = CSPRNG()
        server = LinkTestServer(using: &generator)
        socket = try UDPSocket(on: loop, bindingTo: endpoint, options: SocketOptions())
    }

    func run() throws {
        for signal in [SIGINT, SIGTERM, SIGHUP] { _ = try loop.onSignal(signal) { [unowned self] in loop.stop() } }
        socket.receive { [unowned self] datagram, sender, now in answer(datagram, sender, at: now) }
        say("answering on port \(socket.localEndpoint.port); Ctrl-C ends it")
        loop.run()
        loop.closeAll()
        say("sent back \(server.returnedCount) packet\(server.returnedCount == 1 ? "" : "s")")
    }

    private func answer(_ datagram: Span<UInt8>, _ sender: Endpoint, at now: Instant) {
        let before = server.client
        var isResponsive = false
        let reply = [UInt8](capacity: LinkTestServer.maximumDatagramByteCount) { reply in
            isResponsive = server.receive(datagram, from: sender, at: now, answer: &reply)
        }
        if isResponsive { socket.send(reply.span, to: sender) }
        guard server.client != before else { return }
        if let client = server.client { say("answering \(client)") } else { say("the check has ended") }
    }
}
