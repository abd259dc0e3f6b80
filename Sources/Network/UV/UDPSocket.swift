import CUV
import Glibc
public import TenfourAudioCore
public import TenfourSession

/// A UDP socket on an `EventLoop`: hands on what arrives, sends what it is given, and counts what could not be done.
///
/// On the thread of its loop only. Neither sending nor receiving allocates while the network takes what it is given.
/// The C type is `uv_udp_t`.
@safe public final class UDPSocket: LoopHandle {
    /// Which hosts it can talk to.
    public enum Reach: Sendable { case ipv4, ipv6, ipv4AndIPv6 }

    public let reach: Reach

    /// The address and port that it is bound to, also when the port was left to the system by asking for 0.
    public let localEndpoint: Endpoint

    public internal(set) var statistics = SocketStatistics()

    private let socket: UnsafeMutablePointer<uv_udp_t>
    let fileDescriptor: Int32
    private let longestDatagram: Int
    private var received: ((Span<UInt8>, Endpoint, Instant) -> Void)?
    private let arrivals: UnsafeMutableRawBufferPointer
    /// Something arrived since the socket was last found empty.
    private var hasArrivals = false
    private var waiting: SendQueue
    private let request: UnsafeMutablePointer<uv_udp_send_t>
    private let requestBytes: UnsafeMutableBufferPointer<UInt8>
    private var requestDestination: Endpoint?
    private var drained: (() -> Void)?
    private var emptied: (() -> Void)?
    var yielded: YieldedPort?

    /// Opens and binds. Bound to `::` it speaks IPv4 too, and on a machine without IPv6 it is bound to `0.0.0.0` instead;
    /// `reach` tells. Throws with a remedy when the port is taken, reserved, or the address is not ours.
    /// The C functions are `uv_udp_init_ex` and `uv_udp_bind`.
    public init(
        on loop: EventLoop, bindingTo endpoint: Endpoint, options: SocketOptions = SocketOptions()
    ) throws(NetworkError) {
        let (socket, endpoint) = unsafe try Self.open(on: loop, endpoint, options)
        unsafe self.socket = socket
        reach = Reach(endpoint, options)
        longestDatagram = options.longestDatagram
        waiting = SendQueue(capacity: options.sendQueueCapacity, longestDatagram: options.longestDatagram)
        unsafe arrivals = .allocate(byteCount: datagramsPerCall * bytesPerArrival, alignment: 16)
        unsafe request = .allocate(capacity: 1)
        unsafe requestBytes = .allocate(capacity: options.longestDatagram)
        fileDescriptor = unsafe Self.fileDescriptor(of: socket)
        var failure: NetworkError?
        do throws(NetworkError) {
            try Self.apply(options, to: fileDescriptor, reach)
            localEndpoint = unsafe try Self.bind(socket, to: endpoint, options)
        } catch {
            failure = error
            localEndpoint = endpoint
        }
        unsafe super.init(adopting: socket)
        if let failure {
            close()
            throw failure
        }
        if options.yieldsPort { try yieldPort() }
        if options.portSharing == .offered { try formGroup(on: loop, options) }
    }

    deinit {
        unsafe arrivals.deallocate()
        unsafe requestBytes.deallocate()
        unsafe request.deallocate()
    }

    /// Hands every datagram to `handler`: the bytes, which are borrowed for the call, who sent them, and when they were read.
    /// An IPv4 sender is an IPv4 address also on an IPv6 socket. Replaces an earlier handler.
    /// The C function is `uv_udp_recv_start`, which reads up to twenty datagrams in one system call.
    public func receive(_ handler: @escaping (Span<UInt8>, Endpoint, Instant) -> Void) {
        if isClosed { return }
        let isReceiving = received != nil
        received = handler
        if isReceiving { return }
        let code = unsafe uv_udp_recv_start(socket, giveArrivals, datagramArrived)
        precondition(code == 0, "a bound socket could not be read")
    }

    /// Whether another socket of this machine has our port too. Reads `/proc/net`, which takes 0.1 ms where a hundred are open.
    public var isPortShared: Bool { PortHolder.sockets(of: localEndpoint.port).count > 1 }

    /// Calls `handler` whenever all that had arrived has been handed on. Replaces an earlier handler.
    public func whenEmptied(_ handler: @escaping () -> Void) { emptied = handler }

    /// The result of sending a datagram. All but `sent` and `queued` mean that it is lost.
    public enum SendOutcome: Equatable, Sendable {
        case sent
        /// The kernel's buffer is full; the datagram waits in ours.
        case queued
        /// With the `errno`, which is counted in `statistics`.
        case failed(Int32)
        case closed
    }

    /// Sends a datagram, never waits, never throws: what the network refuses is an outcome and is counted.
    /// The C functions are `uv_udp_try_send` and, when the kernel's buffer is full, `uv_udp_send`.
    @discardableResult
    public func send(_ datagram: Span<UInt8>, to destination: Endpoint) -> SendOutcome {
        if isClosed { return .closed }
        if datagram.count > longestDatagram {
            statistics.countFailure(EMSGSIZE, to: destination)
            return .failed(EMSGSIZE)
        }
        if requestDestination != nil {
            enqueue(datagram, to: destination)
            return .queued
        }
        let code = transmit(datagram, to: destination)
        if code == 0 { return .sent }
        if code != EAGAIN { return .failed(code) }
        statistics.queued += 1
        transmitWhenPossible(datagram, to: destination)
        return .queued
    }

    /// Whether datagrams wait until the kernel takes more.
    public var isQueueing: Bool { requestDestination != nil }

    /// Calls `handler` whenever all that had to wait is gone. Replaces an earlier handler.
    public func whenDrained(_ handler: @escaping () -> Void) { drained = handler }

    /// From now on hears `peer` alone, for whom the kernel prefers it to the unconnected socket that shares its port: a flood
    /// there no longer displaces what this peer sends. What others sent between binding and connecting is handed on all the
    /// same, with their address.
    ///
    /// The C function is `connect` and not `uv_udp_connect`, after which libuv would send to nobody else.
    public func connect(to peer: Endpoint) throws(NetworkError) {
        if isClosed { throw NetworkError("connect", -EBADF) }
        let address = SocketAddress(peer, family: reach.family)
        let code = unsafe address.withPointer { unsafe Glibc.connect(fileDescriptor, $0, reach.addressByteCount) }
        if code != 0 { throw NetworkError("connect", -errno) }
    }

    override func willClose() {
        received = nil
        drained = nil
        emptied = nil
        yielded = nil
        // libuv would hand on the rest of a batch to a socket that is being closed.
        unsafe uv_udp_recv_stop(socket)
    }
}

// MARK: Receiving

extension UDPSocket {
    fileprivate func nextArrivals() -> uv_buf_t {
        unsafe uv_buf_init(arrivals.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(arrivals.count))
    }

    fileprivate func arrived(_ bytes: UnsafeBufferPointer<UInt8>, from sender: UnsafePointer<sockaddr>, isCut: Bool) {
        hasArrivals = true
        guard let received, let sender = unsafe Endpoint(sender) else { return }
        if isCut || bytes.count > longestDatagram {
            statistics.truncated += 1
            return
        }
        statistics.received += 1
        received(unsafe bytes.span, sender, Instant(nanoseconds: Int64(clamping: uv_hrtime())))
    }

    /// The socket is empty. When it woke us for nothing, the network has sent an error report, which wakes us until it is read.
    fileprivate func nothingArrived() {
        if !hasArrivals { takeErrorReports() }
        hasArrivals = false
        emptied?()
    }

    fileprivate func receivingFailed(_ code: Int32) {
        if takeErrorReports() == 0 { statistics.countFailure(code, to: nil) }
    }

    /// Counts what the network has sent back, and returns how many reports there were.
    @discardableResult
    func takeErrorReports() -> Int {
        var destination = sockaddr_storage()
        var count = 0
        var isLocal: Int32 = 0
        while true {
            let code = unsafe tenfour_next_error_report(fileDescriptor, &destination, &isLocal)
            if code == 0 { return count }
            count += 1
            if isLocal != 0 { continue }
            let endpoint = unsafe withUnsafeBytes(of: destination) { bytes in
                unsafe bytes.baseAddress.flatMap { unsafe Endpoint($0.assumingMemoryBound(to: sockaddr.self)) }
            }
            statistics.countFailure(code, to: endpoint)
        }
    }
}

@c private func giveArrivals(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _: Int, _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    guard let handle = unsafe handle, let buffer = unsafe buffer else { return }
    unsafe buffer.pointee = LoopHandle.behind(handle, as: UDPSocket.self).nextArrivals()
}

@c private func datagramArrived(
    _ handle: UnsafeMutablePointer<uv_udp_t>?, _ count: Int, _ buffer: UnsafePointer<uv_buf_t>?,
    _ sender: UnsafePointer<sockaddr>?, _ flags: UInt32
) {
    guard let handle = unsafe handle, let buffer = unsafe buffer else { return }
    let socket = unsafe LoopHandle.behind(handle, as: UDPSocket.self)
    if socket.isClosed || flags & UV_UDP_MMSG_FREE.rawValue != 0 { return }
    guard count >= 0 else { return socket.receivingFailed(Int32(truncatingIfNeeded: -count)) }
    guard let sender = unsafe sender else { return socket.nothingArrived() }
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer.pointee.base, count: count)
    unsafe socket.arrived(
        bytes.assumingMemoryBound(to: UInt8.self), from: sender, isCut: flags & UV_UDP_PARTIAL.rawValue != 0)
}

// MARK: Sending

extension UDPSocket {
    /// Tries to send now. Returns 0, EAGAIN when the kernel's buffer is full, or the `errno` of a failure that it counted.
    private func transmit(_ datagram: Span<UInt8>, to destination: Endpoint) -> Int32 {
        var code = attempt(datagram, to: destination)
        // A report about an earlier datagram, perhaps to somebody else, makes the next call fail once.
        if code != 0, code != EAGAIN, takeErrorReports() > 0 { code = attempt(datagram, to: destination) }
        if code == 0 {
            statistics.sent += 1
        } else if code != EAGAIN {
            statistics.countFailure(code, to: destination)
        }
        return code
    }

    private func attempt(_ datagram: Span<UInt8>, to destination: Endpoint) -> Int32 {
        let address = SocketAddress(destination, family: reach.family)
        let code = unsafe datagram.withUnsafeBufferPointer { bytes in
            var buffer = unsafe uv_buf_init(
                UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
                UInt32(bytes.count))
            return unsafe address.withPointer { unsafe uv_udp_try_send(socket, &buffer, 1, $0) }
        }
        return code < 0 ? -code : 0
    }

    /// The kernel's buffer was full: lets libuv wait for room for this datagram, and the others wait behind it.
    func transmitWhenPossible(_ datagram: Span<UInt8>, to destination: Endpoint) {
        for index in datagram.indices { unsafe requestBytes[index] = datagram[index] }
        var buffer = unsafe uv_buf_init(
            UnsafeMutableRawPointer(requestBytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
            UInt32(datagram.count))
        let address = SocketAddress(destination, family: reach.family)
        let code = unsafe address.withPointer { unsafe uv_udp_send(request, socket, &buffer, 1, $0, requestDone) }
        if code == 0 {
            requestDestination = destination
        } else {
            statistics.countFailure(-code, to: destination)
        }
    }

    private func enqueue(_ datagram: Span<UInt8>, to destination: Endpoint) {
        statistics.queued += 1
        if waiting.append(datagram, to: destination) { statistics.dropped += 1 }
    }

    fileprivate func requestEnded(_ code: Int32) {
        let destination = requestDestination
        requestDestination = nil
        if isClosed { return }
        if code == 0 { statistics.sent += 1 } else { statistics.countFailure(code, to: destination) }
        while requestDestination == nil {
            let outcome = waiting.withFirst { datagram, destination in
                let code = transmit(datagram, to: destination)
                if code == EAGAIN { transmitWhenPossible(datagram, to: destination) }
                return code
            }
            if outcome == nil {
                drained?()
                return
            }
            waiting.removeFirst()
        }
    }
}

@c private func requestDone(_ request: UnsafeMutablePointer<uv_udp_send_t>?, _ status: Int32) {
    guard let request = unsafe request, let handle = unsafe request.pointee.handle else { return }
    unsafe LoopHandle.behind(handle, as: UDPSocket.self).requestEnded(-status)
}

/// What libuv reads at most by one `recvmmsg`, and the room that it gives each datagram. Only the pages that are written to
/// take memory.
private let datagramsPerCall = 20
private let bytesPerArrival = 65_536
