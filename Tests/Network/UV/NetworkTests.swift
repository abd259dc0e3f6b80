import Glibc
import TenfourAudioCore
import TenfourSession
import Testing

@testable import TenfourUV

/// Runs the loop until `isDone`, which is polled every millisecond, and records an issue after 20 s.
func run(
    _ loop: EventLoop, until isDone: @escaping () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let end = loop.now + .seconds(20)
    var timer: LoopTimer?
    func look() {
        if isDone() { return loop.stop() }
        if loop.now > end {
            Issue.record("it did not come true within 20 seconds", sourceLocation: sourceLocation)
            return loop.stop()
        }
        timer?.arm(at: loop.now + .milliseconds(1))
    }
    timer = try loop.makeTimer(look)
    timer?.arm(at: loop.now)
    loop.run()
    timer?.close()
}

/// Runs the loop for 20 ms, so that it handles everything that is due.
func settle(_ loop: EventLoop) throws {
    let end = loop.now + .milliseconds(20)
    try run(loop) { loop.now >= end }
}

/// Runs `body` on a thread of its own; `join()` waits for its end.
struct TestThread {
    private var thread = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        let code = unsafe pthread_create(&thread, nil, threadMain, work)
        precondition(code == 0)
    }

    func join() { pthread_join(thread, nil) }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

@c private func threadMain(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
}

extension Endpoint {
    static let anyLoopbackPort = Endpoint(.loopbackV4, port: 0)
}

extension IPAddress {
    static let loopbackV6 = IPAddress.v6(high: 0, low: 1, scope: 0)
    /// 127.9.8.7, an address on which no other test listens.
    static let quietLoopback = IPAddress.v4(0x7F09_0807)
}

extension UDPSocket {
    @discardableResult
    func send(_ bytes: [UInt8], to destination: Endpoint) -> SendOutcome { send(bytes.span, to: destination) }

    /// Returns the kernel's value of a socket option (getsockopt(2)).
    func option(_ option: Int32, _ level: Int32) -> Int32 {
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(fileDescriptor, level, option, &value, &size)
        return value
    }
}

/// Collects the datagrams that a socket receives.
final class Inbox {
    var datagrams: [[UInt8]] = []
    var senders: [Endpoint] = []
    var arrivals: [Instant] = []

    init(of socket: UDPSocket) {
        socket.receive { [unowned self] datagram, sender, now in
            datagrams.append(datagram.indices.map { datagram[$0] })
            senders.append(sender)
            arrivals.append(now)
        }
    }
}

let machineHasIPv6: Bool = {
    guard let loop = try? EventLoop() else { return false }
    let socket = try? UDPSocket(on: loop, bindingTo: Endpoint(.loopbackV6, port: 0))
    return socket != nil
}()
