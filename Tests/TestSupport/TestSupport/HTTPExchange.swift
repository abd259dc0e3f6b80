import Glibc

/// A request over HTTP to a port of this machine, and its answer so far. The connection ends with this object.
@safe public final class HTTPExchange {
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    public private(set) var isClosed = false

    /// Connects to `port` of 127.0.0.1 and sends a request for `target`, with more header `fields`, each with the end of its
    /// line. The answer is a 503 if nobody listens.
    public init(_ target: String, port: UInt16, host: String = "127.0.0.1", fields: String = "") {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = unsafe withUnsafeBytes(of: &address) { address in
            unsafe connect(
                descriptor, address.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(address.count))
        }
        guard code == 0 else {
            bytes = Array("HTTP/1.1 503 Nobody\r\n\r\n".utf8)
            isClosed = true
            return
        }
        let request = Array("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\(fields)Connection: close\r\n\r\n".utf8)
        _ = unsafe request.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    deinit { close(descriptor) }

    /// Reads for `seconds`, until the connection is closed, or until the text of the answer satisfies `isEnough`.
    /// Returns whether it does.
    @discardableResult
    public func read(seconds: Double = 10, until isEnough: (HTTPExchange) -> Bool = { $0.isClosed }) -> Bool {
        let deadline = ContinuousClock.now + .milliseconds(Int(seconds * 1_000))
        while !isEnough(self) {
            guard !isClosed, ContinuousClock.now < deadline else { return isEnough(self) }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, 20) > 0 else { continue }
            var room = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe recv(descriptor, &room, room.count, 0)
            if count <= 0 { isClosed = true } else { bytes += room[..<count] }
        }
        return true
    }

    /// The status of the answer; zero before it has arrived.
    public var status: Int {
        let line = String(decoding: bytes.prefix(12), as: UTF8.self).split(separator: " ")
        return line.count > 1 ? Int(line[1]) ?? 0 : 0
    }

    public var head: String { String(decoding: bytes[..<(bodyStart ?? bytes.count)], as: UTF8.self) }

    /// The body so far.
    public var body: [UInt8] { bodyStart.map { Array(bytes[$0...]) } ?? [] }
    public var text: String { String(decoding: body, as: UTF8.self) }

    private var bodyStart: Int? { bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound }

    /// Returns the whole answer to a request.
    public static func get(_ target: String, port: UInt16, host: String = "127.0.0.1") -> HTTPExchange {
        let exchange = HTTPExchange(target, port: port, host: host)
        exchange.read()
        return exchange
    }
}
