internal import Engine
internal import Network
internal import Sound

/// A socket for each talker, with the relay's port and connected to the talker: a flood of others does not push out what it
/// says.
final class TalkerSockets {
    var count: Int { sockets.count }

    private let loop: EventLoop
    private let port: Endpoint
    private let receive: (Span<UInt8>, Endpoint, Instant) -> Void
    private var sockets: [Int: UDPSocket] = [:]
    /// Of those who talk no more, until what they said last has come.
    private var leaving: [UDPSocket] = []
    private var timer: LoopTimer?
    /// Of those that are closed.
    private var closed = SocketStatistics()

    /// Each costs a descriptor and a look by the kernel for every datagram that comes: beyond these the shared socket does.
    private static let most = 256
    /// A good-bye follows the last report, and would be lost with a socket that is closed at once.
    private static let grace = Duration.milliseconds(50)

    /// What comes is given to `receive`, as it would have been by the socket that offers `port`.
    init(
        joining port: Endpoint, on loop: EventLoop, receive: @escaping (Span<UInt8>, Endpoint, Instant) -> Void
    ) throws(NetworkError) {
        self.port = port
        self.loop = loop
        self.receive = receive
        timer = try loop.makeTimer { [unowned self] in closeLeaving() }
    }

    /// Does nothing when there are too many, or when the system has no more to give.
    func open(for member: Int, at endpoint: Endpoint) {
        close(for: member)
        if sockets.count + leaving.count >= Self.most { return }
        var options = SocketOptions()
        options.portSharing = .joined
        options.receiveBufferSize = relayBufferByteCount
        options.longestDatagram = longestDatagram
        options.sendQueueCapacity = 1
        do throws(NetworkError) {
            let socket = try UDPSocket(on: loop, bindingTo: port, options: options)
            do throws(NetworkError) {
                try socket.connect(to: endpoint)
            } catch {
                return socket.close()
            }
            socket.receive(receive)
            sockets[member] = socket
        } catch {
            return
        }
    }

    func close(for member: Int) {
        guard let socket = sockets.removeValue(forKey: member) else { return }
        if leaving.isEmpty { timer?.arm(at: loop.now + Self.grace) }
        leaving.append(socket)
    }

    /// What they could not do.
    var statistics: SocketStatistics {
        (leaving + Array(sockets.values)).reduce(into: closed) { $0.merge($1.statistics) }
    }

    func closeAll() {
        for socket in sockets.values {
            closed.merge(socket.statistics)
            socket.close()
        }
        sockets = [:]
        closeLeaving()
        timer?.close()
    }

    private func closeLeaving() {
        for socket in leaving {
            closed.merge(socket.statistics)
            socket.close()
        }
        leaving = []
    }
}
