import Glibc
import Synchronization
import TenfourAudioCore
import TenfourSession
import TestSupport
import Testing

@testable import TenfourUV

struct PortSharingTests {
    let loop: EventLoop
    let shared: UDPSocket

    init() throws {
        loop = try EventLoop()
        shared = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: sharing(.offered))
    }

    private func join(_ endpoint: Endpoint) throws -> UDPSocket {
        try UDPSocket(on: loop, bindingTo: endpoint, options: sharing(.joined))
    }

    private func open(_ endpoint: Endpoint) throws -> UDPSocket {
        try UDPSocket(on: loop, bindingTo: endpoint, options: sharing(.connected))
    }

    @Test func aPortThatIsOfferedIsRefusedToWhoDoesNotJoin() throws {
        #expect {
            try UDPSocket(on: loop, bindingTo: shared.localEndpoint, options: sharing(.offered))
        } throws: {
            if case .portInUse(shared.localEndpoint.port, _) = ($0 as? NetworkError)?.reason { true } else { false }
        }
    }

    /// Many programs, such as GStreamer and players, set SO_REUSEADDR without wanting to give up their packets.
    @Test(arguments: [Endpoint(.loopbackV4, port: 0), Endpoint(.anyV6, port: 0)])
    func aPortThatAnotherProgramOnlyCouldShareIsInUse(endpoint: Endpoint) throws {
        var keeping = SocketOptions()
        keeping.reusesAddress = true
        let port = try UDPSocket(on: loop, bindingTo: endpoint, options: keeping).localEndpoint
        func isRefused() -> Bool {
            do throws(NetworkError) {
                _ = try UDPSocket(on: loop, bindingTo: port, options: .taking)
                return false
            } catch {
                if case .portInUse = error.reason { return true }
                return false
            }
        }
        #expect(isRefused())
        // A socket that would yield its port is refused too, since a program that takes a port has SO_REUSEADDR set
        // for a moment.
        #expect(throws: NetworkError.self) { try UDPSocket(on: loop, bindingTo: port, options: .yielding) }
        // A port is no longer marked as yielded once its socket is closed.
        try UDPSocket(on: loop, bindingTo: endpoint, options: .yielding).close()
        #expect(isRefused())
    }

    /// Two stations are started together. The second one binds the port before the first has marked it as yielded.
    @Test func aPortThatIsYieldedAMomentLaterIsTaken() throws {
        let first = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let (port, descriptor) = (first.localEndpoint, first.fileDescriptor)
        let gate = Gate()
        let marking = TestThread {
            usleep(15_000)
            let sign = YieldedPort(port.port)
            try? UDPSocket.set(SO_REUSEADDR, SOL_SOCKET, "SO_REUSEADDR", Int32(1), on: descriptor)
            while !gate.isOver.load(ordering: .acquiring) { usleep(1_000) }
            withExtendedLifetime(sign) {}
        }
        let second = Result { try UDPSocket(on: loop, bindingTo: port, options: .taking) }
        gate.isOver.store(true, ordering: .releasing)
        marking.join()
        #expect(try second.get().localEndpoint == port)
        #expect(first.isPortShared && !shared.isPortShared)
    }

    /// The RTCP port of the first station is the media port of the second.
    @Test func stationsThatStartTogetherDoNotCollide() throws {
        let endpoint = Endpoint(.loopbackV4, port: UDPPort.free())
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        for round in 0..<300 {
            let gate = Gate()
            let thread = TestThread {
                guard let loop = try? EventLoop() else { return }
                gate.pass(later: 20 - round % 40)
                let first = try? UDPSocket(on: loop, bindingTo: endpoint, options: .yielding)
                while !gate.isOver.load(ordering: .acquiring) { usleep(100) }
                first?.close()
            }
            gate.pass(later: round % 40 - 20)
            let second = Result { try UDPSocket(on: loop, bindingTo: endpoint, options: .taking) }
            #expect(throws: Never.self, "round \(round)") { try second.get() }
            let inbox = (try? second.get()).map { Inbox(of: $0) }
            sender.send([1], to: endpoint)
            try run(loop) { inbox?.datagrams == [[1]] || inbox == nil }
            gate.isOver.store(true, ordering: .releasing)
            thread.join()
            (try? second.get())?.close()
            try run(loop) { true }
        }
    }

    /// Another station takes the port that the first one uses for RTCP only. Datagrams are sent before, while and
    /// after it has the port.
    @Test(arguments: [Endpoint(.loopbackV4, port: 0), Endpoint(.anyV6, port: 0)])
    func aPortThatIsYieldedIsHadByTheNextWhoTakesIt(endpoint: Endpoint) throws {
        let first = try UDPSocket(on: loop, bindingTo: endpoint, options: .yielding)
        let port = first.localEndpoint
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        func send(_ byte: UInt8) { sender.send([byte], to: Endpoint(.loopbackV4, port: port.port)) }
        let inbox = Inbox(of: first)
        send(1)
        try run(loop) { inbox.datagrams == [[1]] }

        #expect(throws: NetworkError.self) { try UDPSocket(on: loop, bindingTo: port) }
        let second = try UDPSocket(on: loop, bindingTo: port, options: .taking)
        let secondInbox = Inbox(of: second)
        send(2)
        try run(loop) { secondInbox.datagrams == [[2]] }
        // No other socket can have the port now, whether it would yield it or take it.
        #expect(throws: NetworkError.self) { try UDPSocket(on: loop, bindingTo: port, options: .taking) }
        #expect(throws: NetworkError.self) { try UDPSocket(on: loop, bindingTo: port, options: .yielding) }
        second.close()
        send(3)
        try run(loop) { inbox.datagrams == [[1], [3]] }
        #expect(secondInbox.datagrams == [[2]])
    }

    @Test func unclaimedDatagramsReachTheFirstSocket() throws {
        let inbox = Inbox(of: shared)
        let others = try (0..<7).map { _ in try join(shared.localEndpoint) }
        let wrong = others.map { Inbox(of: $0) }
        let strangers = try (0..<40).map { _ in try UDPSocket(on: loop, bindingTo: .anyLoopbackPort) }
        for stranger in strangers { stranger.send([1], to: shared.localEndpoint) }
        try run(loop) { inbox.datagrams.count == 40 }
        #expect(wrong.allSatisfy { $0.datagrams.isEmpty })
        // Closing one socket changes nothing for the others.
        others[0].close()
        for stranger in strangers { stranger.send([2], to: shared.localEndpoint) }
        try run(loop) { inbox.datagrams.count == 80 }
        #expect(wrong.allSatisfy { $0.datagrams.isEmpty })
    }

    /// The kernel applies an attached BPF program only to sockets that already form a reuseport group. If the first
    /// socket formed none before the second joined, packets that arrive before the program is attached would be
    /// distributed over both.
    @Test func aPortThatIsOfferedIsAGroupBeforeAnybodyJoins() throws {
        let attach: Int32 = 51  // SO_ATTACH_REUSEPORT_CBPF
        var returnZero: UInt64 = 6  // a struct sock_filter: BPF_RET | BPF_K
        let code = unsafe withUnsafePointer(to: &returnZero) { filter in
            let program = unsafe (count: 1, filter)  // a struct sock_fprog
            return unsafe withUnsafeBytes(of: program) {
                unsafe setsockopt(shared.fileDescriptor, SOL_SOCKET, attach, $0.baseAddress, socklen_t($0.count))
            }
        }
        #expect(code == 0)
    }

    /// Without the attached BPF program, as soon as one of several sockets is connected, the kernel would deliver
    /// datagrams from other peers to the newest socket.
    @Test(arguments: [Endpoint.anyLoopbackPort, Endpoint(.anyV4, port: 0), Endpoint(.anyV6, port: 0)])
    func nothingArrivesBeforeASocketIsConnected(bind: Endpoint) throws {
        guard machineHasIPv6 || bind.address != .anyV6 else { return }
        let shared = try UDPSocket(on: loop, bindingTo: bind, options: sharing(.offered))
        let port = Endpoint(.loopbackV4, port: shared.localEndpoint.port)
        let worker = Inbox(of: try join(shared.localEndpoint))
        let inbox = Inbox(of: shared)
        let strangers = try (0..<20).map { _ in try UDPSocket(on: loop, bindingTo: .anyLoopbackPort) }
        var owns: [UDPSocket] = []
        for number: UInt8 in 0..<5 {
            let own = try open(shared.localEndpoint)
            for stranger in strangers { stranger.send([number], to: port) }
            try own.connect(to: strangers[Int(number)].localEndpoint)
            owns.append(own)
        }
        let own = owns.map { Inbox(of: $0) }
        let expected = (0..<5).flatMap { number in [[UInt8]](repeating: [UInt8(number)], count: 20 - number) }
        try run(loop) { inbox.datagrams.count == expected.count && own.map(\.datagrams.count) == [4, 3, 2, 1, 0] }
        #expect(inbox.datagrams == expected && worker.datagrams.isEmpty)
    }

    @Test func aConnectedSocketHearsItsPeerAndTheSharedOneTheOthers() throws {
        let talker = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let other = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let own = try open(shared.localEndpoint)
        try own.connect(to: talker.localEndpoint)
        let (inbox, ownInbox, heard) = (Inbox(of: shared), Inbox(of: own), Inbox(of: other))
        talker.send([1], to: shared.localEndpoint)
        other.send([2], to: shared.localEndpoint)
        try run(loop) { ownInbox.datagrams.count == 1 && inbox.datagrams.count == 1 }
        #expect(ownInbox.senders == [talker.localEndpoint] && inbox.senders == [other.localEndpoint])
        // A connected socket can still send to other peers.
        #expect(own.send([3], to: other.localEndpoint) == .sent)
        try run(loop) { heard.senders == [shared.localEndpoint] }

        own.close()
        talker.send([4], to: shared.localEndpoint)
        try run(loop) { inbox.datagrams.last == [4] }
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aSocketForBothFamiliesSharesItsPortToo() throws {
        let both = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0), options: sharing(.offered))
        let port = both.localEndpoint.port
        let inbox = Inbox(of: both)
        for address in [IPAddress.loopbackV4, .loopbackV6] {
            let talker = try UDPSocket(on: loop, bindingTo: Endpoint(address, port: 0))
            let other = try UDPSocket(on: loop, bindingTo: Endpoint(address, port: 0))
            let own = try open(both.localEndpoint)
            try own.connect(to: talker.localEndpoint)
            let ownInbox = Inbox(of: own)
            talker.send([1], to: Endpoint(address, port: port))
            other.send([2], to: Endpoint(address, port: port))
            try run(loop) { ownInbox.datagrams == [[1]] && inbox.senders.last == other.localEndpoint }
        }
        #expect(inbox.datagrams == [[2], [2]])
    }

    @Test func aTalkerWithItsOwnSocketLosesNothingToAFloodOfJunk() throws {
        let port = shared.localEndpoint
        let talker = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let own = try open(port)
        try own.connect(to: talker.localEndpoint)
        let inbox = Inbox(of: own)
        // Nobody reads the shared socket, so its buffer stays full.
        let flood = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        for _ in 0..<10_000 { flood.send([UInt8](repeating: 0, count: 200), to: port) }
        for number: UInt8 in 0..<50 {
            talker.send([number], to: port)
            for _ in 0..<100 { flood.send([UInt8](repeating: 0, count: 200), to: port) }
        }
        try run(loop) { inbox.datagrams.count == 50 }
        #expect(inbox.datagrams == (0..<50).map { [$0] })
    }

    @Test func anAddressThatCannotBeReachedIsRefused() throws {
        let own = try open(shared.localEndpoint)
        #expect(throws: NetworkError(.refused, function: "connect", code: EAFNOSUPPORT)) {
            try own.connect(to: Endpoint(.loopbackV6, port: 9))
        }
    }

    @Test func theKernelIsToldNeverToFragment() throws {
        var options = SocketOptions()
        options.neverFragments = true
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        #expect(socket.option(IP_MTU_DISCOVER, Int32(IPPROTO_IP)) == IP_PMTUDISC_DO)
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func bothFamiliesOfOneSocketAreNotFragmented() throws {
        var options = SocketOptions()
        options.neverFragments = true
        let socket = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0), options: options)
        #expect(socket.option(IP_MTU_DISCOVER, Int32(IPPROTO_IP)) == IP_PMTUDISC_DO)
        #expect(socket.option(IPV6_MTU_DISCOVER, Int32(IPPROTO_IPV6)) == IPV6_PMTUDISC_DO)
    }
}

/// A barrier that two threads pass at the same time.
private final class Gate: Sendable {
    private let count = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)

    /// Returns when both threads have arrived, and after some hundred more iterations for each of `turns`.
    func pass(later turns: Int) {
        count.add(1, ordering: .acquiringAndReleasing)
        while count.load(ordering: .acquiring) < 2 {}
        for _ in 0..<max(turns, 0) * 100 { _ = count.load(ordering: .acquiring) }
    }
}

extension SocketOptions {
    fileprivate static var yielding: Self {
        var options = Self()
        options.yieldsPort = true
        return options
    }

    fileprivate static var taking: Self {
        var options = Self()
        options.takesYieldedPort = true
        return options
    }
}

private func sharing(_ sharing: SocketOptions.PortSharing) -> SocketOptions {
    var options = SocketOptions()
    options.portSharing = sharing
    return options
}
