import Glibc
import TestSupport

/// Somebody on a nats-server who has no cluster key: records each message below `tenfour`, and publishes it again.
///
/// It does nothing except in `listen`. It speaks NATS's protocol itself, because TenfourNATS has no wildcards.
final class NATSEavesdropper {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The messages, as they are to be published again.
    private(set) var recorded: [(subject: String, bytes: [UInt8])] = []

    init(port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(code == 0, "nothing listens on port \(port)")
        write(Array("CONNECT {\"verbose\":false,\"echo\":false}\r\nSUB tenfour.> 1\r\n".utf8))
    }

    deinit { close(descriptor) }

    /// Records what has arrived.
    func listen() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            buffer += bytes[..<count]
        }
        while takeLine() {}
    }

    func replay(_ messages: [(subject: String, bytes: [UInt8])]) {
        for message in messages {
            write(Array("PUB \(message.subject) \(message.bytes.count)\r\n".utf8) + message.bytes + Array("\r\n".utf8))
        }
    }

    /// Handles one line, with the message that follows it. Returns false if there is none, or a part of one.
    private func takeLine() -> Bool {
        guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return false }
        let words = String(decoding: buffer[..<end], as: UTF8.self).split { $0 == " " || $0 == "\r" || $0 == "\r\n" }
        var next = end + 1
        if words.first == "PING" { write(Array("PONG\r\n".utf8)) }
        if words.first == "MSG", let last = words.last, let count = Int(last) {
            guard buffer.count >= next + count + 2 else { return false }
            recorded.append((String(words[1]), Array(buffer[next..<next + count])))
            next += count + 2
        }
        buffer.removeFirst(next)
        return true
    }

    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
