import Glibc

/// A UDP socket on the loopback that uses none of the tested code, like a socket of another program.
public struct PlainSocket: ~Copyable {
    public let port: UInt16
    private let descriptor: Int32

    /// Binds to port `wanted` of 127.0.0.1 or of another loopback address; 0 lets the system choose a free port.
    public init(at host: UInt32 = 0x7F00_0001, port wanted: UInt16 = 0) {
        // Programs that other tests start meanwhile must not keep the port.
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        precondition(descriptor >= 0, "no socket")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host.bigEndian
        address.sin_port = wanted.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        port = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            let name = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            unsafe precondition(bind(descriptor, name, length) == 0 && getsockname(descriptor, name, &length) == 0)
            return unsafe UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    deinit { close(descriptor) }

    /// Sends a datagram to a port of 127.0.0.1, or of another loopback address.
    public func send(_ datagram: [UInt8], toPort port: UInt16, at host: UInt32 = 0x7F00_0001) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host.bigEndian
        address.sin_port = port.bigEndian
        unsafe withUnsafeBytes(of: &address) { bytes in
            let name = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            _ = unsafe sendto(descriptor, datagram, datagram.count, 0, name, socklen_t(bytes.count))
        }
    }

    /// Returns the next datagram; nil if none arrives within `milliseconds`.
    public func receive(within milliseconds: Int32) -> [UInt8]? { receiveFrom(within: milliseconds)?.bytes }

    /// Returns the next datagram with its sender; nil if none arrives within `milliseconds`.
    public func receiveFrom(within milliseconds: Int32) -> (bytes: [UInt8], host: UInt32, port: UInt16)? {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&ready, 1, milliseconds) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 2_048)
        var sender = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe withUnsafeMutableBytes(of: &sender) { name in
            let name = unsafe name.assumingMemoryBound(to: sockaddr.self).baseAddress
            return unsafe recvfrom(descriptor, &bytes, bytes.count, 0, name, &length)
        }
        guard count >= 0 else { return nil }
        return (
            Array(bytes[..<count]), UInt32(bigEndian: sender.sin_addr.s_addr), UInt16(bigEndian: sender.sin_port)
        )
    }
}
