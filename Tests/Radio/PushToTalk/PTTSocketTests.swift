import Glibc
import TenfourJSON
import TenfourPushToTalk
import TestSupport
import Testing

@Suite(.onItsOwnThread, .inRealTime) struct PTTSocketTests {
    private let folder = Folder()
    private let microphone: Microphone
    private let socket: PTTSocket

    init() throws {
        _ = unsafe chmod(folder.path, 0o700)
        microphone = try Microphone()
        socket = try PTTSocket(at: folder("ptt-1.sock"), lease: microphone.lease)
    }

    private func client() throws -> PTTClient { try PTTClient(connectingTo: socket.path) }

    @Test func onlyItsUserMayEnter() throws {
        var status = stat()
        try #require(unsafe lstat(socket.path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600 && status.st_mode & S_IFMT == S_IFSOCK)
    }

    @Test func aClientHoldsTheMicrophoneUntilItReleases() throws {
        var client = try client()
        #expect(
            client.answer(to: .down)?.hasPrefix(#"{ "microphone": "open", "holders": ["client:1"], "remaining": 1"#)
                == true)
        #expect(microphone.isOpen)
        #expect(client.nextLine() == #"{ "event": "opened" }"#)
        #expect(client.answer(to: .release)?.contains(#""holders": []"#) == true)
        #expect(microphone.becomes(open: false))
        #expect(microphone.events == [.opened(.client(1)), .closed(.released, .client(1))])
    }

    @Test func upReleasesWhatAllProcessesHoldAndTellsThem() throws {
        var holding = try client()
        var other = try client()
        _ = holding.answer(to: .down)
        _ = holding.nextLine()
        #expect(other.answer(to: .up)?.contains(#""holders": []"#) == true)
        #expect(holding.nextLine() == #"{ "event": "released" }"#)
        microphone.lease.press(.keyboard)
        #expect(other.answer(to: .up)?.contains("keyboard") == true, "a key that is held stays")
        #expect(microphone.isOpen)
    }

    @Test func aToggleIsHeldByTheSession() throws {
        do {
            var client = try client()
            #expect(client.answer(to: .toggle)?.contains("session") == true)
        }
        usleep(200_000)
        #expect(microphone.isOpen, "the process need not stay")
        var client = try client()
        #expect(client.answer(to: .toggle)?.contains(#""holders": []"#) == true)
        #expect(microphone.becomes(open: false))
    }

    @Test func aToggleReleasesOneThatIsHeldDown() throws {
        var holding = try client()
        var other = try client()
        _ = holding.answer(to: .down)
        _ = holding.nextLine()
        #expect(other.answer(to: .toggle)?.contains(#""holders": []"#) == true)
        #expect(holding.nextLine() == #"{ "event": "released" }"#)
    }

    @Test func theStatusIsTold() throws {
        var client = try client()
        #expect(client.answer(to: .status) == #"{ "microphone": "closed", "holders": [], "remaining": null }"#)
        microphone.lease.press(.device("pedal"))
        #expect(client.answer(to: .status)?.contains("device:pedal") == true)
    }

    @Test func oneThatHoldsIsToldOfTheTimeOut() throws {
        var settings = PushToTalk.Settings()
        (settings.timeOut, settings.warning) = (.milliseconds(60), .milliseconds(30))
        let microphone = try Microphone(settings)
        let socket = try PTTSocket(at: folder("ptt-2.sock"), lease: microphone.lease)
        var client = try PTTClient(connectingTo: socket.path)
        _ = client.answer(to: .down)
        #expect(client.nextLine() == #"{ "event": "opened" }"#)
        #expect(client.nextLine() == #"{ "event": "warning", "remaining": 0 }"#)
        #expect(client.nextLine() == #"{ "event": "closed", "reason": "timed-out" }"#)
    }

    private let noCommand = "there is no such command, or not in this session; man tenfour-radio lists them"

    @Test(arguments: ["hello", #"{ "command": "open" }"#, "", #"["down"]"#, "\u{0}\u{1B}[A"])
    func whatIsNoRequestEndsTheConnectionAndIsToldWhatIsOne(line: String) throws {
        let client = try RawClient(socket.path)
        client.write(line + "\n")
        let answer = client.readToEnd()
        #expect(
            answer == #"{ "error": "\#(noCommand)" }"# + "\n"
                || answer.contains(#"this is no request: write a line of JSON such as { \"command\": \"status\" }"#),
            "\(answer)")
        #expect(!microphone.isOpen)
    }

    @Test func whoAsksForEventsGetsThoseOfTheMicrophoneAndOfTheSession() throws {
        let client = try RawClient(socket.path)
        client.write(#"{ "command": "events" }"# + "\n")
        #expect(client.readLine() == #"{ "subscribed": true }"#)
        microphone.lease.press(.keyboard)
        #expect(client.readLine() == #"{ "event": "opened" }"#)
        socket.post(.object([("event", .text("notice"))]))
        #expect(client.readLine() == #"{ "event": "notice" }"#)
    }

    @Test func theSessionAnswersWhatDoesNotConcernTheMicrophone() throws {
        struct Panel: SessionControl {
            func answer(_ request: ControlRequest) -> JSON? {
                guard request.command == "volume", case .integer(let number)? = request.json.member("value") else {
                    return nil
                }
                return .object([("volume", .integer(number))])
            }
        }
        let socket = try PTTSocket(at: folder("ptt-4.sock"), lease: microphone.lease, control: Panel())
        let client = try RawClient(socket.path)
        client.write(#"{ "command": "volume", "value": 7 }"# + "\n")
        #expect(client.readLine() == #"{ "volume": 7 }"#)
        client.write(#"{ "command": "dance" }"# + "\n")
        #expect(client.readToEnd() == #"{ "error": "\#(noCommand)" }"# + "\n")
    }

    @Test func aSocketWithoutASessionAnswersAndHoldsNothing() throws {
        let socket = try PTTSocket(at: folder("ptt-5.sock"))
        socket.setWaiting("waiting for calls")
        var client = try PTTClient(connectingTo: socket.path)
        let waiting = #"{ "microphone": "none", "holders": [], "remaining": null, "waiting": "waiting for calls" }"#
        let refusal = #"{ "error": "no session runs now: waiting for calls" }"#
        for request in PTTRequest.allCases {
            let isHolding = [.down, .emergency, .toggle].contains(request)
            #expect(client.answer(to: request) == (isHolding ? refusal : waiting), "\(request)")
        }
        socket.attach(microphone.lease)
        #expect(client.answer(to: .status)?.contains("closed") == true)
        #expect(!microphone.isOpen)
    }

    @Test func connectionsStayFromOneSessionToTheNext() throws {
        let socket = try PTTSocket(at: folder("ptt-5.sock"))
        let client = try RawClient(socket.path)
        client.write(#"{ "command": "events" }"# + "\n")
        #expect(client.readLine() == #"{ "subscribed": true }"#)
        for _ in 0..<2 {
            let microphone = try Microphone()
            var holding = try PTTClient(connectingTo: socket.path)
            socket.attach(microphone.lease)
            #expect(client.readLine() == #"{ "event": "session", "state": "running" }"#)
            _ = holding.answer(to: .down)
            #expect(client.readLine() == #"{ "event": "opened" }"#)
            #expect(holding.nextLine() == #"{ "event": "opened" }"#)
            microphone.lease.stop()
            socket.detach()
            #expect(client.readLine() == #"{ "event": "closed", "reason": "vanished" }"#)
            #expect(client.readLine() == #"{ "event": "session", "state": "waiting" }"#)
            #expect(holding.nextLine() == #"{ "event": "closed", "reason": "vanished" }"#)
            #expect(holding.nextLine() == #"{ "event": "session", "state": "waiting" }"#)
        }
    }

    @Test func aStationThatWaitsDoesNotHideASession() throws {
        usleep(20_000)
        let waiting = try PTTSocket(at: folder("ptt-6.sock"))
        var client = try PTTClient.newest(in: folder.path)
        #expect(client.answer(to: .down)?.contains("open") == true)
        #expect(microphone.isOpen)
        socket.stop()
        var other = try PTTClient.newest(in: folder.path)
        #expect(other.answer(to: .status)?.contains("none") == true)
        waiting.stop()
    }

    @Test func aLineHasABound() throws {
        let client = try RawClient(socket.path)
        client.write(String(repeating: "x", count: 1_025))
        #expect(client.readToEnd() == #"{ "error": "the line is longer than 1024 bytes" }"# + "\n")
    }

    @Test func aLineMayArriveInPieces() throws {
        let client = try RawClient(socket.path)
        for byte in #"{"command":"down"}"# { client.write(String(byte)) }
        usleep(50_000)
        #expect(!microphone.isOpen)
        client.write("\n")
        #expect(microphone.becomes(open: true))
    }

    /// More events than one read of the client takes.
    @Test func manyEventsArriveWhole() throws {
        var client = try client()
        _ = client.answer(to: .down)
        for _ in 0..<40 {
            for number in 0..<5 { microphone.lease.toggle(number % 2 == 0 ? .session : .keyboard) }
            microphone.lease.vanish(.session)
        }
        for _ in 0..<200 { _ = client.send(.status) }
        var count = 0
        while case .json(let json) = client.next(within: 500),
            json.member("event") != nil || json.member("holders") != nil
        {
            count += 1
        }
        #expect(count >= 200, "\(count)")
    }

    @Test func thereAreAtMostSixteenClients() throws {
        let clients = try (0..<16).map { _ in try RawClient(socket.path) }
        let last = try RawClient(socket.path)
        #expect(last.readToEnd() == #"{ "error": "too many processes are connected to this session" }"# + "\n")
        clients[3].close()
        #expect(
            waits {
                guard var client = try? client() else { return false }
                return client.answer(to: .status)?.contains("closed") == true
            })
    }

    /// A client that sends and never reads is disconnected, and delays nobody.
    @Test func oneThatDoesNotReadIsDisconnected() throws {
        let deaf = try RawClient(socket.path)
        for _ in 0..<20_000 { deaf.write("{\"command\":\"status\"}\n") }
        #expect(waits { deaf.isClosedByPeer })
        var client = try client()
        #expect(client.answer(to: .status) != nil)
    }

    @Test func aProcessOfAnotherUserIsRefused() throws {
        let socket = try PTTSocket(at: folder("ptt-3.sock"), lease: microphone.lease, servedUser: geteuid() + 1)
        let client = try RawClient(socket.path)
        client.write("{\"command\":\"down\"}\n")
        #expect(client.readToEnd() == #"{ "error": "this session belongs to another user" }"# + "\n")
        #expect(!microphone.isOpen)
    }

    @Test func aConnectionThatIsCutReleasesWithinHalfASecond() throws {
        for attempt in 0..<100 {
            do {
                var client = try client()
                _ = client.answer(to: .down)
                #expect(microphone.isOpen)
            }
            #expect(microphone.becomes(open: false, within: Microphone.limit), "attempt \(attempt)")
        }
        #expect(microphone.events.filter { if case .closed(.vanished, _) = $0 { true } else { false } }.count == 100)
    }

    // MARK: Files

    @Test func theFileOfAKilledSessionIsReplacedAndThatOfALivingOneIsNot() throws {
        #expect(throws: PTTSocketError.failed("cannot listen at \(socket.path)", EADDRINUSE)) {
            try PTTSocket(at: socket.path, lease: microphone.lease)
        }
        let leftover = folder("ptt-4.sock")
        Leftover.make(at: leftover)
        let other = try PTTSocket(at: leftover, lease: microphone.lease)
        #expect((try? PTTClient(connectingTo: leftover)) != nil)
        other.stop()
        #expect(unsafe access(leftover, F_OK) != 0)
    }

    @Test func theNewestSessionIsFound() throws {
        Leftover.make(at: folder("ptt-7.sock"))
        let second = try Microphone()
        usleep(20_000)
        let newer = try PTTSocket(at: folder("ptt-2.sock"), lease: second.lease)
        usleep(20_000)
        Leftover.make(at: folder("ptt-9.sock"))
        folder.write("", to: "ptt-10.sock")
        var client = try PTTClient.newest(in: folder.path)
        _ = client.answer(to: .down)
        #expect(second.isOpen && !microphone.isOpen)
        #expect(unsafe access(folder("ptt-9.sock"), F_OK) != 0, "what a killed process left is removed")
        #expect(unsafe access(folder("ptt-10.sock"), F_OK) == 0, "a file is not")
        newer.stop()
        var older = try PTTClient.newest(in: folder.path)
        _ = older.answer(to: .down)
        #expect(microphone.isOpen)
    }

    @Test func withoutASessionThereIsNone() throws {
        let empty = Folder()
        #expect(throws: PTTSocketError.noSession) { _ = try PTTClient.newest(in: empty.path) }
        #expect(throws: PTTSocketError.noSession) { _ = try PTTClient.newest(in: "/nowhere") }
    }

    @Test func theDirectoryMustBeOurs() throws {
        let open = Folder()
        _ = unsafe chmod(open.path, 0o755)
        #expect(throws: PTTSocketError.open(open.path)) {
            try PTTSocket(at: open("ptt-1.sock"), lease: microphone.lease)
        }
        folder.write("", to: "file")
        #expect(throws: PTTSocketError.notOurs(folder("file"))) {
            try PTTSocket(at: folder("file") + "/ptt-1.sock", lease: microphone.lease)
        }
        #expect(throws: PTTSocketError.self) {
            try PTTSocket(at: folder(String(repeating: "x", count: 100)), lease: microphone.lease)
        }
    }
}

extension PTTClient {
    /// Sends a request and returns the line that answers it.
    mutating func answer(to request: PTTRequest) -> String? { send(request) ? nextLine() : nil }

    mutating func nextLine() -> String? {
        if case .json(let json) = next(within: 10_000) { json.line } else { nil }
    }
}

/// A connection that a test writes any bytes to.
private final class RawClient {
    private var descriptor: Int32

    init(_ path: String) throws {
        descriptor = try Leftover.connected(to: path)
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    var isClosedByPeer: Bool {
        var byte: UInt8 = 0
        return unsafe send(descriptor, &byte, 0, Int32(MSG_NOSIGNAL)) < 0
            || send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 && errno == EPIPE
    }

    /// Reads a line, without its end; empty if the other end closes the connection.
    func readLine() -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe recv(descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads until the other end closes the connection.
    func readToEnd() -> String {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe recv(descriptor, &room, room.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += room[..<count]
        }
    }
}

/// Sockets by the plain calls.
private enum Leftover {
    /// Leaves a socket file that nobody listens at, as a killed process does.
    static func make(at path: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        _ = unsafe withAddress(path) { unsafe bind(descriptor, $0, $1) }
        close(descriptor)
    }

    static func connected(to path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(unsafe withAddress(path) { unsafe connect(descriptor, $0, $1) } == 0)
        return descriptor
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            for (index, byte) in path.utf8.enumerated() { unsafe room[index] = byte }
        }
        return unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe body(bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(bytes.count))
        }
    }
}
