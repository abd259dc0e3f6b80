internal import CLinux
internal import Glibc
internal import TenfourAudioCore
public import TenfourJSON

/// The connection of a process to the control socket of a session. Its calls block.
public struct PTTClient: ~Copyable {
    private let descriptor: Int32
    private var lines = LineBuffer()
    private var received: [[UInt8]] = []

    /// Connects to the session whose socket is at `path`.
    public init(connectingTo path: String) throws(PTTSocketError) { descriptor = try UnixSocket.connect(to: path) }

    /// Connects to the newest session whose socket is in `directory`, and removes the sockets of processes that have
    /// ended. Throws `.noSession` if there is none.
    public static func newest(in directory: String) throws(PTTSocketError) -> PTTClient {
        for path in PTTSocketPath.all(in: directory) {
            do throws(PTTSocketError) {
                return try PTTClient(connectingTo: path)
            } catch .failed(_, ECONNREFUSED) {
                _ = unsafe unlink(path)
            } catch {
                // Another session may still be reached.
            }
        }
        throw .noSession
    }

    deinit { close(descriptor) }

    /// Sends a request. Returns whether the session could take it.
    public func send(_ request: PTTRequest) -> Bool { UnixSocket.send(request.line, to: descriptor) }

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
            let left = max((end - MonotonicClock.now) / .milliseconds(1), 0)
            guard clinux_wait_readable(descriptor, Int32(clamping: Int(left.rounded(.up)))) > 0 else { return .nothing }
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
