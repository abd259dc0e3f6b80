import Glibc
import TenfourAudioCore
import TenfourSession
import Testing

@testable import TenfourUV

struct UDPSocketTests {
    let loop: EventLoop
    /// The discard port of an address on which nothing listens.
    private let closed = Endpoint(.quietLoopback, port: 9)

    init() throws { loop = try EventLoop() }

    /// Exchanges datagrams between two sockets, and checks that each sees the address that the other has bound.
    private func echo(between leftEndpoint: Endpoint, and rightEndpoint: Endpoint) throws {
        let left = try UDPSocket(on: loop, bindingTo: leftEndpoint)
        let right = try UDPSocket(on: loop, bindingTo: rightEndpoint)
        let inbox = Inbox(of: left)
        right.receive { datagram, sender, _ in right.send(datagram, to: sender) }
        let before = loop.now
        #expect(left.send([1, 2, 3], to: right.localEndpoint) == .sent)
        #expect(left.send([], to: right.localEndpoint) == .sent)
        try run(loop) { inbox.datagrams.count == 2 }
        #expect(inbox.datagrams == [[1, 2, 3], []])
        #expect(inbox.senders == [right.localEndpoint, right.localEndpoint])
        #expect(before <= inbox.arrivals[0] && inbox.arrivals[0] <= inbox.arrivals[1] && inbox.arrivals[1] <= loop.now)
        #expect(left.statistics.sent == 2 && left.statistics.received == 2)
        #expect(left.statistics.failed == 0)
    }

    @Test func aDatagramComesBackOverIPv4() throws {
        try echo(between: .anyLoopbackPort, and: .anyLoopbackPort)
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aDatagramComesBackOverIPv6() throws {
        try echo(between: Endpoint(.loopbackV6, port: 0), and: Endpoint(.loopbackV6, port: 0))
    }

    @Test func theSystemChoosesAPortWhenNoneIsGiven() throws {
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        #expect(socket.localEndpoint.address == .loopbackV4)
        #expect(socket.localEndpoint.port != 0)
        #expect(socket.reach == .ipv4)
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aSocketForAllAddressesTalksToBothFamiliesAndKeepsIPv4AsIPv4() throws {
        let both = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0))
        let v4 = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let v6 = try UDPSocket(on: loop, bindingTo: Endpoint(.loopbackV6, port: 0))
        let (inbox, inboxV4, inboxV6) = (Inbox(of: both), Inbox(of: v4), Inbox(of: v6))
        #expect(both.reach == .ipv4AndIPv6)

        let port = both.localEndpoint.port
        v4.send([4], to: Endpoint(.loopbackV4, port: port))
        try run(loop) { inbox.datagrams.count == 1 }
        v6.send([6], to: Endpoint(.loopbackV6, port: port))
        try run(loop) { inbox.datagrams.count == 2 }
        #expect(inbox.datagrams == [[4], [6]])
        #expect(inbox.senders == [v4.localEndpoint, v6.localEndpoint])

        for sender in inbox.senders { #expect(both.send([0], to: sender) == .sent) }
        try run(loop) { inboxV4.datagrams.count == 1 && inboxV6.datagrams.count == 1 }
        #expect(inboxV4.senders == [Endpoint(.loopbackV4, port: port)])
        #expect(inboxV6.senders == [Endpoint(.loopbackV6, port: port)])
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func anIPv6OnlySocketLeavesThePortOfIPv4Free() throws {
        var options = SocketOptions()
        options.isIPv6Only = true
        let v6 = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0), options: options)
        #expect(v6.reach == .ipv6)
        _ = try UDPSocket(on: loop, bindingTo: Endpoint(.quietLoopback, port: v6.localEndpoint.port))
        let outcome = v6.send([1], to: Endpoint(.loopbackV4, port: v6.localEndpoint.port))
        #expect(outcome == .failed(ENETUNREACH))
    }

    @Test func anIPv4SocketCountsAnIPv6DestinationAsAFailure() throws {
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let destination = Endpoint(.loopbackV6, port: 9)
        #expect(socket.send([1], to: destination) == .failed(EAFNOSUPPORT))
        #expect(socket.statistics.failures == [EAFNOSUPPORT: 1])
        #expect(socket.statistics.lastFailure?.destination == destination)
    }

    @Test func tenThousandDatagramsInBurstsArriveInOrderAndUnchanged() throws {
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let receiver = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        var count = 0
        var wrong = 0
        receiver.receive { [unowned loop] datagram, _, _ in
            if !isEqual(datagram, numbered(count)) { wrong += 1 }
            count += 1
            if count % 50 == 0 { loop.stop() }
        }
        let watchdog = try loop.makeTimer { [unowned loop] in loop.stop() }
        watchdog.arm(at: loop.now + .seconds(60))
        for burst in 0..<200 {
            for index in 0..<50 { sender.send(Array(numbered(burst * 50 + index)), to: receiver.localEndpoint) }
            loop.run()
            try #require(count == (burst + 1) * 50)
        }
        #expect(count == 10_000)
        #expect(wrong == 0)
        #expect(receiver.statistics.received == 10_000 && sender.statistics.sent == 10_000)
    }

    @Test func aClosedPortIsCountedAndTheSocketGoesOn() throws {
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let friend = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        friend.receive { datagram, sender, _ in friend.send(datagram, to: sender) }
        let inbox = Inbox(of: socket)

        // The ICMP error arrives while the socket waits …
        #expect(socket.send([1], to: closed) == .sent)
        try run(loop) { socket.statistics.failures == [ECONNREFUSED: 1] }
        #expect(socket.statistics.lastFailure == .init(destination: closed, code: ECONNREFUSED, isOfNetwork: true))
        // … or when it sends again; then the datagram to another destination is not lost.
        #expect(socket.send([2], to: closed) == .sent)
        #expect(socket.send([3], to: friend.localEndpoint) == .sent)
        try run(loop) { inbox.datagrams.count == 1 }
        #expect(inbox.datagrams == [[3]])
        #expect(socket.statistics.failures == [ECONNREFUSED: 2])
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aClosedPortIsCountedForBothFamiliesOfOneSocket() throws {
        let socket = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0))
        socket.receive { _, _, _ in }
        socket.send([1], to: closed)
        try run(loop) { socket.statistics.failed == 1 }
        #expect(socket.statistics.lastFailure == .init(destination: closed, code: ECONNREFUSED, isOfNetwork: true))
        let closedV6 = Endpoint(.loopbackV6, port: 9)
        socket.send([1], to: closedV6)
        try run(loop) { socket.statistics.failed == 2 }
        #expect(socket.statistics.lastFailure == .init(destination: closedV6, code: ECONNREFUSED, isOfNetwork: true))
        #expect(socket.statistics.refusals == [closed: 1, closedV6: 1])
    }

    @Test func aReportFromTheNetworkDoesNotKeepTheProcessorBusy() throws {
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        socket.receive { _, _, _ in }
        socket.send([1], to: closed)
        try run(loop) { socket.statistics.failed == 1 }
        let timer = try loop.makeTimer { [unowned loop] in loop.stop() }
        timer.arm(at: loop.now + .milliseconds(200))
        var start = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
        loop.run()
        var end = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        let spent = (end.tv_sec - start.tv_sec) * 1_000_000_000 + end.tv_nsec - start.tv_nsec
        #expect(spent < 50_000_000, "a socket that spins would have used about 200 ms")
    }

    @Test func aDatagramLongerThanTheSocketTakesIsCountedAndNotHandedOn() throws {
        var options = SocketOptions()
        options.longestDatagram = 100
        let small = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let inbox = Inbox(of: small)
        sender.send([UInt8](repeating: 1, count: 101), to: small.localEndpoint)
        sender.send([UInt8](repeating: 2, count: 100), to: small.localEndpoint)
        try run(loop) { inbox.datagrams.count == 1 }
        #expect(inbox.datagrams == [[UInt8](repeating: 2, count: 100)])
        #expect(small.statistics.truncated == 1 && small.statistics.received == 1)

        #expect(small.send([UInt8](repeating: 1, count: 101), to: sender.localEndpoint) == .failed(EMSGSIZE))
        #expect(small.statistics.failures == [EMSGSIZE: 1])
    }

    @Test func theLongestDatagramOfUDPComesThrough() throws {
        var options = SocketOptions()
        options.longestDatagram = 65_507
        let left = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        let right = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        let inbox = Inbox(of: right)
        let datagram = (0..<65_507).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(left.send(datagram, to: right.localEndpoint) == .sent)
        try run(loop) { inbox.datagrams.count == 1 }
        #expect(inbox.datagrams == [datagram])
    }

    @Test func queuedDatagramsLeaveInOrderAndTheOldestIsDroppedFirst() throws {
        var options = SocketOptions()
        options.sendQueueCapacity = 3
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        let receiver = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let inbox = Inbox(of: receiver)
        // Queues the first datagram, as if the kernel's buffer were full.
        sender.transmitWhenPossible([0].span, to: receiver.localEndpoint)
        for number: UInt8 in 1...5 { #expect(sender.send([number], to: receiver.localEndpoint) == .queued) }
        try run(loop) { inbox.datagrams.count == 4 }
        #expect(inbox.datagrams == [[0], [3], [4], [5]])
        #expect(sender.statistics.queued == 5 && sender.statistics.dropped == 2 && sender.statistics.sent == 4)
        #expect(sender.send([6], to: receiver.localEndpoint) == .sent)
    }

    @Test func datagramsForARefusedAddressAreCounted() throws {
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let receiver = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let inbox = Inbox(of: receiver)
        let elsewhere = Endpoint(.loopbackV6, port: 9)
        sender.transmitWhenPossible([0].span, to: elsewhere)
        sender.send([1], to: elsewhere)
        sender.send([2], to: receiver.localEndpoint)
        try run(loop) { inbox.datagrams.count == 1 }
        #expect(inbox.datagrams == [[2]])
        #expect(sender.statistics.failures == [EAFNOSUPPORT: 2])
    }

    @Test func aSocketThatIsClosedWhileDatagramsWaitHearsNoMore() throws {
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let receiver = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        var count = 0
        receiver.receive { _, _, _ in
            count += 1
            receiver.close()
        }
        for number: UInt8 in 0..<30 { sender.send([number], to: receiver.localEndpoint) }
        sender.transmitWhenPossible([30].span, to: receiver.localEndpoint)
        sender.send([31], to: receiver.localEndpoint)
        sender.close()
        try run(loop) { count > 0 }
        try settle(loop)
        #expect(count == 1)
        #expect(receiver.isClosed)
        #expect(receiver.send([1], to: .anyLoopbackPort) == .closed)
        receiver.receive { _, _, _ in Issue.record("a closed socket cannot receive") }
        receiver.close()
    }

    @Test func aNewHandlerReplacesTheOldOne() throws {
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let receiver = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        receiver.receive { _, _, _ in Issue.record("this handler was replaced") }
        let inbox = Inbox(of: receiver)
        sender.send([1], to: receiver.localEndpoint)
        try run(loop) { inbox.datagrams == [[1]] }
    }

    @Test func voiceIsMarkedForExpeditedForwarding() throws {
        let v4 = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        #expect(v4.option(IP_TOS, Int32(IPPROTO_IP)) == 0xB8)
        var options = SocketOptions()
        options.serviceCodePoint = 0
        let plain = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        #expect(plain.option(IP_TOS, Int32(IPPROTO_IP)) == 0)
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func voiceIsMarkedForExpeditedForwardingInBothFamilies() throws {
        let both = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0))
        #expect(both.option(IP_TOS, Int32(IPPROTO_IP)) == 0xB8)
        #expect(both.option(IPV6_TCLASS, Int32(IPPROTO_IPV6)) == 0xB8)
    }

    @Test func theKernelsBuffersHaveTheSizeThatWasAskedFor() throws {
        var options = SocketOptions()
        options.receiveBufferSize = 50_000
        options.sendBufferSize = 20_000
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        // Linux doubles the value to make room for its own bookkeeping (socket(7)).
        #expect(socket.option(SO_RCVBUF, SOL_SOCKET) == 100_000)
        #expect(socket.option(SO_SNDBUF, SOL_SOCKET) == 40_000)
    }
}

/// Returns a datagram of 4 to 1203 bytes. The first 19 200 datagrams differ in length or content.
private func numbered(_ number: Int) -> ArraySlice<UInt8> {
    pattern[number % 256..<number % 256 + 4 + number * 7 % 1200]
}

private func isEqual(_ datagram: Span<UInt8>, _ expected: ArraySlice<UInt8>) -> Bool {
    unsafe datagram.withUnsafeBytes { left in
        unsafe expected.withUnsafeBytes { right in
            guard let start = left.baseAddress, let other = right.baseAddress else { return false }
            return unsafe left.count == right.count && memcmp(start, other, left.count) == 0
        }
    }
}

private let pattern = (0..<1500).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) }
