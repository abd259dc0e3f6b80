internal import CLinux
internal import Glibc
internal import TenfourJSON
internal import TenfourThreads

/// The clients of a control socket. Used on the socket's thread only.
final class PTTServer {
    private let listener: Int32
    private let user: UInt32
    private let lease: MicrophoneLease
    private var clients: [Client] = []
    private var lastNumber = 0

    private final class Client {
        let descriptor: Int32
        /// The number of the connection, the first being 1.
        let number: Int
        var lines = LineBuffer()
        var isHolding = false
        var isGone = false

        init(_ descriptor: Int32, _ number: Int) {
            self.descriptor = descriptor
            self.number = number
        }

        /// Sends a line. A client that does not read what it is sent is disconnected.
        func send(_ json: JSON) { if !UnixSocket.send(json.line + "\n", to: descriptor) { isGone = true } }

        func refuse(_ sentence: String) {
            send(JSON.refusal(sentence))
            isGone = true
        }
    }

    private static let maximumClientCount = 16

    init(listener: Int32, user: UInt32, _ lease: MicrophoneLease) {
        self.listener = listener
        self.user = user
        self.lease = lease
    }

    /// Waits for connections, requests and `wakeup`, and serves what has come.
    func wait(_ wakeup: WakeupPipe) {
        let descriptors = [wakeup.descriptor, listener] + clients.map(\.descriptor)
        var files = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&files, nfds_t(files.count), -1) > 0 else { return }
        if files[0].revents != 0 { wakeup.clear() }
        for (index, client) in clients.enumerated() where files[index + 2].revents != 0 { serve(client) }
        removeGone()
        if files[1].revents != 0 { accept() }
    }

    private func accept() {
        guard let descriptor = UnixSocket.accept(listener) else {
            // With too many open files the connection waits, and would wake this thread again and again.
            usleep(100_000)
            return
        }
        let refusal =
            UnixSocket.user(of: descriptor) != user
            ? "this session belongs to another user"
            : clients.count >= Self.maximumClientCount ? "too many processes are connected to this session" : nil
        if let refusal {
            _ = UnixSocket.send(JSON.refusal(refusal).line + "\n", to: descriptor)
            Glibc.close(descriptor)
            return
        }
        lastNumber += 1
        clients.append(Client(descriptor, lastNumber))
    }

    private func serve(_ client: Client) {
        switch UnixSocket.receive(from: client.descriptor) {
        case .nothing: break
        case .end: client.isGone = true
        case .bytes(let bytes):
            var requests: [PTTRequest?] = []
            let isBounded = client.lines.append(bytes) { requests.append(PTTRequest(parsing: $0)) }
            for request in requests where !client.isGone { answer(request, client) }
            if !isBounded { client.refuse("the line is longer than \(LineBuffer.maximumLength) bytes") }
        }
    }

    private func answer(_ request: PTTRequest?, _ client: Client) {
        switch request {
        case .down:
            client.isHolding = true
            lease.press(.client(client.number))
        case .release:
            client.isHolding = false
            lease.release(.client(client.number))
        case .up:
            lease.releaseProcesses()
            tellReleased()
            client.isHolding = false
        case .toggle:
            if !lease.toggleForProcess() {
                tellReleased()
                client.isHolding = false
            }
        case .status: break
        case nil: return client.refuse("this is no request")
        }
        client.send(lease.status.json)
    }

    /// Tells the clients that hold the microphone that another one has released it.
    private func tellReleased() {
        for client in clients where client.isHolding {
            client.isHolding = false
            client.send(JSON.releasedByOther)
        }
    }

    func report(_ events: [PushToTalk.Event]) {
        for event in events {
            guard let json = event.json else { continue }
            for client in clients where client.isHolding { client.send(json) }
        }
        removeGone()
    }

    private func removeGone() {
        for client in clients where client.isGone { end(client) }
        clients.removeAll(where: \.isGone)
    }

    private func end(_ client: Client) {
        lease.vanish(.client(client.number))
        Glibc.close(client.descriptor)
    }

    func close() {
        for client in clients { end(client) }
        clients = []
        Glibc.close(listener)
    }
}
