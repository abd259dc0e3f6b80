internal import CLinux
internal import Glibc
internal import TenfourJSON
internal import TenfourSystem

/// The clients of a control socket. Used on the socket's thread only.
final class PTTServer {
    private let listener: Int32
    private let user: UInt32
    /// Returns the session that is served now, or the reason why there is none.
    private let served: @Sendable () -> ServedSession
    private var clients: [Client] = []
    private var lastNumber = 0

    /// A message to clients that they have not requested.
    enum Notice: Sendable {
        case microphone(PushToTalk.Event)
        case event(JSON)
        case sessionBegan, sessionEnded
    }

    private final class Client {
        let descriptor: Int32
        /// The number of the connection, the first being 1.
        let number: Int
        var lines = LineBuffer()
        var isHolding = false
        /// Whether it wants all events.
        var isSubscribed = false
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
    private static let notARequest = #"this is no request: write a line of JSON such as { "command": "status" }"#

    init(listener: Int32, user: UInt32, _ served: @escaping @Sendable () -> ServedSession) {
        self.listener = listener
        self.user = user
        self.served = served
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
            var lines: [[UInt8]] = []
            let isBounded = client.lines.append(bytes) { lines.append($0) }
            for line in lines where !client.isGone { answer(line, client) }
            if !isBounded { client.refuse("the line is longer than \(LineBuffer.maximumLength) bytes") }
        }
    }

    private func answer(_ line: [UInt8], _ client: Client) {
        guard let request = ControlRequest(parsing: line) else { return client.refuse(Self.notARequest) }
        if request.command == "events" {
            client.isSubscribed = true
            return client.send(.subscribed)
        }
        switch served() {
        case .waiting(let reason): answer(request, client, waiting: reason)
        case .running(let lease, let control):
            if let request = PTTRequest(rawValue: request.command) {
                answer(request, client, lease)
            } else if let answer = control?.answer(request) {
                client.send(answer)
            } else {
                client.refuse("there is no such command, or not in this session; man tenfour-radio lists them")
            }
        }
    }

    private func answer(_ request: ControlRequest, _ client: Client, waiting reason: String) {
        switch request.command {
        case PTTRequest.status.rawValue, PTTRequest.release.rawValue, PTTRequest.up.rawValue, "state":
            client.send(.withoutSession(reason))
        default: client.send(.refusal("no session runs now" + (reason.isEmpty ? "" : ": \(reason)")))
        }
    }

    private func answer(_ request: PTTRequest, _ client: Client, _ lease: MicrophoneLease) {
        switch request {
        case .down:
            client.isHolding = true
            lease.press(.client(client.number))
        case .emergency:
            client.isHolding = true
            lease.pressInEmergency(.client(client.number))
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

    func tell(_ notices: [Notice]) {
        for notice in notices {
            switch notice {
            case .microphone(let event):
                guard let json = event.json else { continue }
                for client in clients where client.isHolding || client.isSubscribed { client.send(json) }
            case .event(let json): for client in clients where client.isSubscribed { client.send(json) }
            case .sessionBegan:
                for client in clients where client.isSubscribed { client.send(.session(isRunning: true)) }
            case .sessionEnded:
                for client in clients where client.isHolding || client.isSubscribed {
                    client.isHolding = false
                    client.send(.session(isRunning: false))
                }
            }
        }
        removeGone()
    }

    private func removeGone() {
        for client in clients where client.isGone { end(client) }
        clients.removeAll(where: \.isGone)
    }

    private func end(_ client: Client) {
        if case .running(let lease, _) = served() { lease.vanish(.client(client.number)) }
        Glibc.close(client.descriptor)
    }

    func close() {
        for client in clients { end(client) }
        clients = []
        Glibc.close(listener)
    }
}
