internal import TenfourAudioCore
internal import TenfourRelayCore
internal import TenfourSession
internal import TenfourUV

/// A socket for each talker, with the relay's port and connected to the talker: a flood of others does not push out what it
/// says.
final class TalkerSockets {
    var count: Int { sockets.count }

    private let loop: EventLoop
    private let port: Endpoint
    private let receive: (Span<UInt8>, Endpoint, Instant) -> Void
    private var sockets: [MemberID: TalkerSocket] = [:]
    /// Of those who talk no more, until what they said last has come: the first first.
    private var leaving: [(socket: TalkerSocket, until: Instant)] = []
    private var leavingTimer: LoopTimer?
    /// What came before them is not all read yet.
    private var waiting: [TalkerSocket] = []
    private var waitingTimer: LoopTimer?
    /// Of those that are closed.
    private var closed = SocketStatistics()

    /// Each costs a descriptor and a look by the kernel for every datagram that comes: beyond these the shared socket does.
    private static let most = 256
    /// A good-bye follows the last report, and would be lost with a socket that is closed at once, or before it is read.
    private static let grace = patience + .milliseconds(50)
    /// Under a flood the shared socket may never be empty.
    private static let patience = Duration.milliseconds(200)

    /// What comes is given to `receive`, as it would have been by the socket that offers `port`.
    init(
        joining port: Endpoint, on loop: EventLoop, receive: @escaping (Span<UInt8>, Endpoint, Instant) -> Void
    ) throws(NetworkError) {
        self.port = port
        self.loop = loop
        self.receive = receive
        leavingTimer = try loop.makeTimer { [unowned self] in closeLeaving() }
        waitingTimer = try loop.makeTimer { [unowned self] in sharedSocketIsEmpty() }
    }

    /// Does nothing when there are too many, or when the system has no more to give.
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

    /// What a talker sent before it had a socket of its own has been read, so that what came after may be.
    func sharedSocketIsEmpty() {
        for opened in waiting { opened.socket.receive(receive) }
        waiting.removeAll(keepingCapacity: true)
    }

    /// What they could not do.
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
