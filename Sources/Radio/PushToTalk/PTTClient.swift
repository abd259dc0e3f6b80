internal import CLinux
internal import Glibc
internal import TenfourAudioCore
internal import TenfourClocks
public import TenfourJSON

/// The connection of a process to the control socket of a session. Its calls block.
public struct PTTClient: ~Copyable {
    private let descriptor: Int32
    private var lines = LineBuffer()
    private var received: [[UInt8]] = []

    /// Connects to the session whose socket is at `path`.
    public init(connectingTo path: String) throws(PTTSocketError) { descriptor = try UnixSocket.connect(to: path) }

    /// Connects to the newest station whose socket is in `directory` and that has a session; if none has one, to the
    /// newest. Removes the sockets of processes that have ended. Throws `.noSession` if there is no station.
    public static func newest(in directory: String) throws(PTTSocketError) -> PTTClient {
        var waiting: PTTClient?
        var hasWaiting = false
        for path in PTTSocketPath.all(in: directory) {
            do throws(PTTSocketError) {
                var client = try PTTClient(connectingTo: path)
                if client.hasSession { return client }
                if !hasWaiting { waiting = consume client }
                hasWaiting = true
            } catch .failed(_, ECONNREFUSED) {
                _ = unsafe unlink(path)
            } catch {
                // Another session may still be reached.
            }
        }
        if let waiting = waiting.take() { return waiting }
        throw .noSession
    }

    /// Whether the station has a session. One that does not answer counts as having one.
    private var hasSession: Bool {
        mutating get {
            guard send(.status), case .json(let json) = next(within: 1_000),
                case .text("none")? = json.member("microphone")
            else { return true }
            return false
        }
    }

    deinit { close(descriptor) }

    /// Sends a request. Returns whether the session could take it.
    public func send(_ request: PTTRequest) -> Bool { UnixSocket.send(request.line, to: descriptor) }

    /// Sends any request, of at most 1024 bytes. Returns whether the session could take it.
    public func send(_ request: JSON) -> Bool { UnixSocket.send(request.line + "\n", to: descriptor) }

    /// What came from the session.
    public enum Message {
        case json(JSON)
        /// Nothing came in time, or a signal interrupted the wait.
        case nothing
        /// The session has ended or sent what is not JSON.
        case end
    }

    /// Returns the next message. Waits for at most `milliseconds`.
    public mutating func next(within milliseconds: Int32) -> Message {
        let end = MonotonicClock.now + .milliseconds(Int64(milliseconds))
        // A line may arrive in pieces.
        while received.isEmpty {
            guard clinux_wait_readable(descriptor, PollTimeout.milliseconds(until: end)) > 0 else { return .nothing }
            switch UnixSocket.receive(from: descriptor) {
            case .nothing: continue
            case .end: return .end
            case .bytes(let bytes):
                var completed: [[UInt8]] = []
                guard lines.append(bytes, { completed.append($0) }) else { return .end }
                received = completed
            }
        }
        return (try? JSON(parsing: received.removeFirst())).map { .json($0) } ?? .end
    }
}
