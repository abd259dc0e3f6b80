import Glibc
import Synchronization
import TenfourAudioCore
import TenfourHTTPServer
import TenfourSession
import TenfourSystem
import TenfourUV

/// An HTTP server on a thread of its own, until it is deinitialised. It answers /hello, /big, /live and /events.
final class RunningServer: Sendable {
    /// The objects that only the server's thread uses.
    final class Parts {
        let loop: EventLoop
        let server: HTTPServer
        /// A stream like that of a player's format: pages, handed out in periods of 50 ms.
        let live: HTTPStream
        let events: HTTPStream

        init(_ limits: HTTPLimits, capacity: Int) throws {
            loop = try EventLoop()
            let live = try HTTPStream(
                on: loop, capacity: capacity, period: .milliseconds(50), beginning: .newestStartPoint
            ) { [UInt8]("header|".utf8) }
            let events = try HTTPStream(on: loop, capacity: 4096, period: .zero, beginning: .nextAppend) {
                [UInt8]("retry: 1000\n\n".utf8)
            }
            (self.live, self.events) = (live, events)
            server = try HTTPServer(on: loop, listeningAt: Endpoint(.loopbackV4, port: 0), limits: limits) { request in
                switch request.path {
                case "/hello": .text("hello \(request.parameter("name") ?? "you") at \(request.host ?? "nowhere")")
                case "/big": .whole([UInt8](repeating: 120, count: 1 << 20), contentType: "text/plain")
                case "/live": .stream(live, contentType: "audio/ogg; codecs=opus")
                case "/events": .stream(events, contentType: "text/event-stream")
                default: .text("There is nothing at \(request.path).", status: 404)
                }
            }
        }
    }

    let port: UInt16
    private let jobs: Jobs
    private let wakeup: Wakeup
    private let thread: WorkerThread

    private final class Jobs: Sendable {
        let waiting = Mutex<[@Sendable (Parts) -> Void]>([])
    }

    /// Also answers for the names `relay` and `radio.example`.
    init(limits: HTTPLimits = HTTPLimits(), capacity: Int = 65_536) throws {
        let limits = limits.answering(for: ["relay", "Radio.Example."])
        let jobs = Jobs()
        let box = Started()
        thread = try WorkerThread {
            do {
                let parts = try Parts(limits, capacity: capacity)
                let wakeup = try parts.loop.makeWakeup { [unowned parts] in
                    let due = jobs.waiting.withLock { jobs in
                        defer { jobs = [] }
                        return jobs
                    }
                    for job in due { job(parts) }
                }
                box.value.withLock { $0 = .success((parts.server.endpoint.port, wakeup)) }
                parts.loop.run()
                parts.server.close()
                parts.loop.closeAll()
            } catch {
                box.value.withLock { $0 = .failure(error) }
            }
        }
        while box.value.withLock({ $0 == nil }) { usleep(1_000) }
        (port, wakeup) = try box.value.withLock { try $0!.get() }
        self.jobs = jobs
    }

    private final class Started: Sendable {
        let value = Mutex<Result<(UInt16, Wakeup), any Error>?>(nil)
    }

    deinit {
        perform { $0.loop.stop() }
        thread.join()
    }

    /// Calls `body` on the server's thread and returns what it returns.
    @discardableResult
    func perform<Value: Sendable>(_ body: @escaping @Sendable (Parts) -> Value) -> Value {
        let result = Answered<Value>()
        jobs.waiting.withLock { $0.append { parts in result.value.withLock { $0 = body(parts) } } }
        wakeup.signal()
        while true {
            if let value = result.value.withLock({ $0 }) { return value }
            usleep(200)
        }
    }

    private final class Answered<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// Appends a piece to the live stream.
    func append(_ text: String, isStartPoint: Bool = true) {
        perform { $0.live.append([UInt8](text.utf8).span, isStartPoint: isStartPoint) }
    }
}

extension HTTPLimits {
    fileprivate func answering(for names: Set<String>) -> HTTPLimits {
        var limits = self
        limits.hosts = HTTPHosts(names)
        return limits
    }
}

/// A blocking TCP client.
final class Client {
    let descriptor: Int32

    /// Connects to a port of 127.0.0.1. `receiveBufferSize` bounds what the kernel takes for a client who does not read.
    init(_ port: UInt16, receiveBufferSize: Int32? = nil) {
        let low = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Leaves the low descriptors to Icecast's tests in the same process, because libshout needs one below 1024.
        let high = fcntl(low, F_DUPFD_CLOEXEC, 1024)
        if high >= 0 { close(low) }
        descriptor = max(low, high)
        if var size = receiveBufferSize {
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(
                descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(bytes.count))
        }
    }

    /// Takes over a connected socket.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func send(_ text: String) { send([UInt8](text.utf8)) }

    func send(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Sends a request for `target` with a Host.
    func get(_ target: String, fields: String = "") { send("GET \(target) HTTP/1.1\r\nHost: relay\r\n\(fields)\r\n") }

    /// Returns what arrives until `isEnough`, until the server closes the connection, or for `seconds`.
    func read(seconds: Double = 30, until isEnough: (String) -> Bool = { _ in false }) -> String {
        var bytes: [UInt8] = []
        let deadline = BareClock.now + seconds
        while true {
            let left = deadline - BareClock.now
            guard left > 0 else { break }
            let microseconds = Int(left.truncatingRemainder(dividingBy: 1) * 1e6)
            var patience = timeval(tv_sec: Int(left), tv_usec: max(1, microseconds))
            unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            var room = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe recv(descriptor, &room, room.count, 0)
            if count == 0 || count < 0 && errno != EAGAIN { break }
            if count > 0 { bytes += room[..<count] }
            if isEnough(String(decoding: bytes, as: UTF8.self)) { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the server closes the connection within `seconds`.
    func isClosed(within seconds: Double) -> Bool {
        let start = BareClock.now
        _ = read(seconds: seconds)
        return BareClock.now - start < seconds
    }
}

enum BareClock {
    /// Seconds by CLOCK_MONOTONIC.
    static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
