import CUV
import Glibc
public import TenfourAudioCore
public import TenfourSession

/// A UDP socket on an `EventLoop`: passes on received datagrams, sends outgoing ones, and counts failures.
///
/// Use it on the loop's thread only. Sending and receiving allocate nothing while the network accepts all datagrams.
/// The C type is `uv_udp_t`.
@safe public final class UDPSocket: LoopHandle {
    /// The IP versions that the socket can use.
    public enum Reach: Sendable { case ipv4, ipv6, ipv4AndIPv6 }

    public let reach: Reach

    /// The address and port to which the socket is bound, including a port that the system chose for port 0.
    public let localEndpoint: Endpoint

    public internal(set) var statistics = SocketStatistics()

    private let socket: UnsafeMutablePointer<uv_udp_t>
    let fileDescriptor: Int32
    private let longestDatagram: Int
    private var received: ((Span<UInt8>, Endpoint, Instant) -> Void)?
    private let arrivals: UnsafeMutableRawBufferPointer
    /// Whether a datagram arrived since the socket was last found empty.
    private var hasArrivals = false
    private var waiting: SendQueue
    private let request: UnsafeMutablePointer<uv_udp_send_t>
    private let requestBytes: UnsafeMutableBufferPointer<UInt8>
    private var requestDestination: Endpoint?
    private var drained: (() -> Void)?
    private var emptied: (() -> Void)?
    var yielded: YieldedPort?

    /// Opens and binds a socket. A socket bound to `::` also carries IPv4; on a machine without IPv6 it is bound to
    /// `0.0.0.0` instead (see `reach`). Throws with a remedy when the port is taken or reserved, or the address is not
    /// ours. The C functions are `uv_udp_init_ex` and `uv_udp_bind`.
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

    /// Calls `handler` with every received datagram: the bytes, which are borrowed for the call, the sender, and the
    /// time of reading. An IPv4 sender is an IPv4 address also on an IPv6 socket. Replaces an earlier handler. The C
    /// function is `uv_udp_recv_start`, which reads up to twenty datagrams in one system call.
    public func receive(_ handler: @escaping (Span<UInt8>, Endpoint, Instant) -> Void) {
        if isClosed { return }
        let isReceiving = received != nil
        received = handler
        if isReceiving { return }
        let code = unsafe uv_udp_recv_start(socket, allocateReceiveBuffer, datagramArrived)
        precondition(code == 0, "a bound socket could not be read")
    }

    /// Whether another socket of this machine uses our port too. Reads `/proc/net`, which takes 0.1 ms with a hundred
    /// open sockets.
    public var isPortShared: Bool { PortHolder.sockets(of: localEndpoint.port).count > 1 }

    /// Calls `handler` whenever all datagrams that had arrived have been passed on. Replaces an earlier handler.
    public func whenEmptied(_ handler: @escaping () -> Void) { emptied = handler }

    /// The result of sending a datagram. Each result except `sent` and `queued` means that the datagram is lost.
    public enum SendOutcome: Equatable, Sendable {
        case sent
        /// The kernel's buffer is full; the datagram waits in our queue.
        case queued
        /// Sending failed with this `errno`, which `statistics` counts.
        case failed(Int32)
        case closed
    }

    /// Sends a datagram. Never blocks and never throws: a failure is a result, and `statistics` counts it. The C
    /// functions are `uv_udp_try_send` and, when the kernel's buffer is full, `uv_udp_send`.
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

    /// Whether datagrams wait in our queue.
    public var isQueueing: Bool { requestDestination != nil }

    /// Calls `handler` whenever the send queue has become empty. Replaces an earlier handler.
    public func whenDrained(_ handler: @escaping () -> Void) { drained = handler }

    /// Restricts receiving to `peer` from now on. The kernel prefers this socket for the peer's datagrams over the
    /// unconnected socket with the same port. A flood of datagrams at the unconnected socket therefore does not
    /// displace them. Datagrams of other senders that arrived between binding and connecting are still passed on, with
    /// their address.
    ///
    /// The C function is `connect` and not `uv_udp_connect`, after which libuv would send to no other address.
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
        // Stops receiving. Without this call, libuv would deliver the rest of a batch to a socket that is being closed.
        unsafe uv_udp_recv_stop(socket)
    }
}

// MARK: Receiving

extension UDPSocket {
    fileprivate func receiveBuffer() -> uv_buf_t {
        unsafe uv_buf_init(arrivals.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(arrivals.count))
    }

    fileprivate func deliver(_ bytes: UnsafeBufferPointer<UInt8>, from sender: UnsafePointer<sockaddr>, isCut: Bool) {
        hasArrivals = true
        guard let received, let sender = unsafe Endpoint(sender) else { return }
        if isCut || bytes.count > longestDatagram {
            statistics.truncated += 1
            return
        }
        statistics.received += 1
        received(unsafe bytes.span, sender, Instant(nanoseconds: Int64(clamping: uv_hrtime())))
    }

    /// Handles an empty receive queue. If the socket was reported readable without a datagram, an ICMP error is
    /// pending, which keeps it readable until the error is read.
    fileprivate func receiveQueueEmptied() {
        if !hasArrivals { readErrorReports() }
        hasArrivals = false
        emptied?()
    }

    fileprivate func receiveFailed(_ code: Int32) {
        if readErrorReports() == 0 { statistics.countFailure(code, to: nil) }
    }

    /// Reads and counts the pending ICMP errors. Returns their number.
    @discardableResult
    func readErrorReports() -> Int {
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
            statistics.countFailure(code, to: endpoint, isOfNetwork: true)
        }
    }
}

@c private func allocateReceiveBuffer(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _: Int, _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    guard let handle = unsafe handle, let buffer = unsafe buffer else { return }
    unsafe buffer.pointee = LoopHandle.owner(of: handle, as: UDPSocket.self).receiveBuffer()
}

@c private func datagramArrived(
    _ handle: UnsafeMutablePointer<uv_udp_t>?, _ count: Int, _ buffer: UnsafePointer<uv_buf_t>?,
    _ sender: UnsafePointer<sockaddr>?, _ flags: UInt32
) {
    guard let handle = unsafe handle, let buffer = unsafe buffer else { return }
    let socket = unsafe LoopHandle.owner(of: handle, as: UDPSocket.self)
    if socket.isClosed || flags & UV_UDP_MMSG_FREE.rawValue != 0 { return }
    guard count >= 0 else { return socket.receiveFailed(Int32(truncatingIfNeeded: -count)) }
    guard let sender = unsafe sender else { return socket.receiveQueueEmptied() }
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer.pointee.base, count: count)
    unsafe socket.deliver(
        bytes.assumingMemoryBound(to: UInt8.self), from: sender, isCut: flags & UV_UDP_PARTIAL.rawValue != 0)
}

// MARK: Sending

extension UDPSocket {
    /// Tries to send a datagram now. Returns 0, EAGAIN if the kernel's buffer is full, or the `errno` of a failure,
    /// which is counted.
    private func transmit(_ datagram: Span<UInt8>, to destination: Endpoint) -> Int32 {
        var code = attempt(datagram, to: destination)
        // Tries again if a pending ICMP error made the call fail. Such an error is about an earlier datagram, perhaps
        // to another host.
        if code != 0, code != EAGAIN, readErrorReports() > 0 { code = attempt(datagram, to: destination) }
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

    /// Sends a datagram when the kernel's buffer, which is full now, has space. libuv waits for that; later datagrams
    /// are queued behind this one.
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

    fileprivate func sendRequestEnded(_ code: Int32) {
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
    unsafe LoopHandle.owner(of: handle, as: UDPSocket.self).sendRequestEnded(-status)
}

/// The number of datagrams that libuv reads by one `recvmmsg`.
private let datagramsPerCall = 20
/// The space in bytes for each datagram that libuv reads. Only memory pages that have been written to occupy RAM.
private let bytesPerArrival = 65_536
