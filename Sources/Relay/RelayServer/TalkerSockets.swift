internal import TenfourAudioCore
internal import TenfourRelayCore
internal import TenfourSession
internal import TenfourUV

/// A socket for each talker, bound to the relay's port and connected to the talker's address, so that a flood from
/// other addresses cannot fill the socket's receive buffer.
final class TalkerSockets {
    var count: Int { sockets.count }

    private let loop: EventLoop
    private let port: Endpoint
    private let receive: (Span<UInt8>, Endpoint, Instant) -> Void
    private var sockets: [MemberID: TalkerSocket] = [:]
    /// The sockets of members that have stopped talking, oldest first. Each socket stays open until `until`, so that
    /// its last packets are still read.
    private var leaving: [(socket: TalkerSocket, until: Instant)] = []
    private var leavingTimer: LoopTimer?
    /// New sockets that are not read yet, because the shared socket may still contain earlier packets of the same
    /// talkers.
    private var waiting: [TalkerSocket] = []
    private var waitingTimer: LoopTimer?
    /// The summed statistics of the sockets that have been closed.
    private var closed = SocketStatistics()

    /// The maximum number of sockets. Each socket costs a file descriptor, and a lookup in the kernel for every
    /// datagram received. Further talkers use the shared socket.
    private static let most = 256
    /// The time that a talker's socket stays open after its stream ends. A BYE that follows the last report would be
    /// lost if the socket were closed immediately, or before it was first read.
    private static let grace = patience + .milliseconds(50)
    /// The longest time that a new socket waits until the shared socket is empty. During a flood the shared socket may
    /// never be empty.
    private static let patience = Duration.milliseconds(200)

    /// Passes received datagrams to `receive`, as the shared socket does. `port` is the address and port of the shared
    /// socket.
    init(
        joining port: Endpoint, on loop: EventLoop, receive: @escaping (Span<UInt8>, Endpoint, Instant) -> Void
    ) throws(NetworkError) {
        self.port = port
        self.loop = loop
        self.receive = receive
        leavingTimer = try loop.makeTimer { [unowned self] in closeLeaving() }
        waitingTimer = try loop.makeTimer { [unowned self] in sharedSocketIsEmpty() }
    }

    /// Opens a socket for a talker. Does nothing if 256 sockets are open or the system refuses another one; the shared
    /// socket then receives the talker's packets.
    func open(for member: MemberID, at endpoint: Endpoint) {
        if sockets[member]?.peer == endpoint { return }
        close(for: member)
        if let index = leaving.firstIndex(where: { $0.socket.peer == endpoint }) {
            sockets[member] = leaving.remove(at: index).socket
            return
        }
        if sockets.count + leaving.count >= Self.most { return }
        var options = SocketOptions()
        options.portSharing = .connected
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
            let opened = TalkerSocket(socket: socket, peer: endpoint)
            sockets[member] = opened
            if waiting.isEmpty { waitingTimer?.arm(at: loop.now + Self.patience) }
            waiting.append(opened)
        } catch {
            return
        }
    }

    func close(for member: MemberID) {
        guard let socket = sockets.removeValue(forKey: member) else { return }
        let until = loop.now + Self.grace
        if leaving.isEmpty { leavingTimer?.arm(at: until) }
        leaving.append((socket, until))
    }

    /// Starts reading the new sockets. Called when all datagrams that arrived at the shared socket have been read, or
    /// after `patience`.
    func sharedSocketIsEmpty() {
        for opened in waiting { opened.socket.receive(receive) }
        waiting.removeAll(keepingCapacity: true)
    }

    /// The combined statistics of all talkers' sockets, including closed sockets.
    var statistics: SocketStatistics {
        (leaving.map(\.socket) + Array(sockets.values)).reduce(into: closed) { $0.merge($1.socket.statistics) }
    }

    func closeAll() {
        for opened in Array(sockets.values) + leaving.map(\.socket) { close(opened) }
        sockets = [:]
        leaving = []
        waiting = []
        leavingTimer?.close()
        waitingTimer?.close()
    }

    private func closeLeaving() {
        let now = loop.now
        for due in leaving.prefix(while: { $0.until <= now }) { close(due.socket) }
        leaving.removeAll { $0.until <= now }
        if let next = leaving.first { leavingTimer?.arm(at: next.until) }
    }

    private func close(_ opened: TalkerSocket) {
        closed.merge(opened.socket.statistics)
        opened.socket.close()
    }
}

private struct TalkerSocket {
    var socket: UDPSocket
    var peer: Endpoint
}
