import Glibc

/// A blocking UDP socket with an address of 127.0.0.0/8, connected to a single peer.
final class BoundSocket {
    private let descriptor: Int32

    struct Failure: Error, CustomStringConvertible {
        var function: String
        var code: Int32
        var description: String { unsafe "\(function): \(String(cString: strerror(code)))" }
    }

    init(_ address: UInt32, port: UInt16, to relayPort: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        if descriptor < 0 { throw Failure(function: "socket", code: errno) }
        var on: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        var patience = timeval(tv_sec: 0, tv_usec: 250_000)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try unsafe call("bind", Glibc.bind, address, port)
        try unsafe call("connect", Glibc.connect, 0x7F00_0001, relayPort)
    }

    deinit { close(descriptor) }

    private func call(
        _ name: String, _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ address: UInt32,
        _ port: UInt16
    ) throws {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = address.bigEndian
        place.sin_port = port.bigEndian
        let code = unsafe withUnsafeBytes(of: place) { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe function(descriptor, start, socklen_t(bytes.count))
        }
        if code != 0 { throw Failure(function: name, code: errno) }
    }

    func send(_ datagram: Span<UInt8>) {
        _ = unsafe datagram.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, 0) }
    }

    /// Returns the next datagram. If none is available, returns nil: after 250 ms, or immediately if `waits` is false.
    func receive(waits: Bool = true) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1_500)
        let count = unsafe recv(descriptor, &bytes, bytes.count, waits ? 0 : Int32(MSG_DONTWAIT))
        return count < 0 ? nil : Array(bytes[..<count])
    }
}

/// Returns the time of a clock, in nanoseconds.
func time(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Sleeps until a time of CLOCK_MONOTONIC, in nanoseconds.
func sleep(until moment: Int64) {
    var time = timespec(tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
    while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
}

/// Prints `text` immediately, so that the caller knows that a step is done.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
