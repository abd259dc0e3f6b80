import Glibc
import TenfourAudioCore
import TenfourSession
import Testing

@testable import TenfourUV

struct FanOutTests {
    let loop: EventLoop
    let sender: UDPSocket
    let backlog: Backlog
    let fanOut: FanOut

    init() throws {
        loop = try EventLoop()
        sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: fanOutOptions)
        sender.receive { _, _, _ in }
        backlog = try Backlog(of: sender, on: loop)
        fanOut = FanOut(sharing: backlog)
    }

    private func listeners(_ count: Int, from first: Int = 0) throws -> [Inbox] {
        try (0..<count).map { index in
            let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
            fanOut.add(first + index, at: socket.localEndpoint)
            return Inbox(of: socket)
        }
    }

    private func expectAllCounted(
        sent: Int, dropped: Int = 0, failed: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let counts = fanOut.statistics
        #expect(
            counts.sent == sent && counts.dropped == dropped && counts.failed == failed, "\(counts)",
            sourceLocation: sourceLocation)
        #expect(counts.offered == sent + dropped + failed, "\(counts)", sourceLocation: sourceLocation)
    }

    @Test func eachListenerHearsEveryPacketOnceAndInOrder() throws {
        // More listeners than one system call handles, and more than the initial capacity.
        let inboxes = try listeners(150)
        for number: UInt8 in 0..<20 { fanOut.send([number, 7]) }
        try run(loop) { inboxes.allSatisfy { $0.datagrams.count == 20 } }
        for inbox in inboxes {
            #expect(inbox.datagrams == (0..<20).map { [$0, 7] })
            #expect(inbox.senders.allSatisfy { $0 == sender.localEndpoint })
        }
        expectAllCounted(sent: 3_000)
    }

    @Test(arguments: [0, 1, 63, 64, 98, 99]) func aTalkerDoesNotHearItself(talker: Int) throws {
        let inboxes = try listeners(100)
        fanOut.send([1], except: talker)
        fanOut.send([2])
        try run(loop) { inboxes.allSatisfy { $0.datagrams.last == [2] } }
        for (index, inbox) in inboxes.enumerated() {
            #expect(inbox.datagrams == (index == talker ? [[2]] : [[1], [2]]))
        }
        expectAllCounted(sent: 199)
    }

    @Test func exceptingAStrangerExceptsNobody() throws {
        let inboxes = try listeners(2)
        fanOut.send([1], except: 77)
        try run(loop) { inboxes.allSatisfy { $0.datagrams == [[1]] } }
        expectAllCounted(sent: 2)
    }

    @Test func aFormerMemberGetsNothingAndTheLastMemberMovesToItsSlot() throws {
        let inboxes = try listeners(5, from: 100)
        fanOut.remove(101)
        fanOut.remove(104)
        fanOut.remove(104)
        #expect(fanOut.count == 3)
        fanOut.send([1])
        let again = try listeners(1, from: 101)
        fanOut.send([2], except: 103)
        try run(loop) { inboxes[2].datagrams.count == 2 && again[0].datagrams.count == 1 }
        try settle(loop)
        #expect(inboxes.map(\.datagrams) == [[[1], [2]], [], [[1], [2]], [[1]], []])
        #expect(again[0].datagrams == [[2]])
        expectAllCounted(sent: 6)
        fanOut.removeAll()
        fanOut.send([3])
        expectAllCounted(sent: 6)
    }

    @Test func aMemberThatMovesReceivesAtItsNewAddressOnly() throws {
        let inboxes = try listeners(3)
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let elsewhere = Inbox(of: socket)
        fanOut.move(1, to: socket.localEndpoint)
        fanOut.move(9, to: socket.localEndpoint)
        fanOut.send([1])
        try run(loop) { elsewhere.datagrams == [[1]] && inboxes[2].datagrams == [[1]] }
        try settle(loop)
        #expect(inboxes[1].datagrams.isEmpty)
    }

    @Test func listenersThatFailHarmNoOther() throws {
        var inboxes = try listeners(70)
        // These fail immediately: an IPv6 address on an IPv4 socket, and port 0.
        fanOut.add(1_000, at: Endpoint(.loopbackV6, port: 9))
        fanOut.add(1_001, at: Endpoint(.loopbackV4, port: 0))
        inboxes += try listeners(3, from: 2_000)
        // These fail later: an ICMP error makes the next call fail.
        for member in 3_000..<3_010 { fanOut.add(member, at: Endpoint(.quietLoopback, port: 9)) }
        inboxes += try listeners(3, from: 4_000)
        for number: UInt8 in 0..<3 { fanOut.send([number]) }
        try run(loop) { inboxes.allSatisfy { $0.datagrams.count == 3 } }
        try run(loop) { sender.statistics.failures[ECONNREFUSED] == 30 }
        #expect(inboxes.allSatisfy { $0.datagrams == [[0], [1], [2]] })
        expectAllCounted(sent: 3 * 86, failed: 6)
        #expect(sender.statistics.failures == [EAFNOSUPPORT: 3, EINVAL: 3, ECONNREFUSED: 30])
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func oneSocketReachesBothFamilies() throws {
        let both = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0), options: fanOutOptions)
        let fanOut = FanOut(sharing: try Backlog(of: both, on: loop))
        let v4 = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let v6 = try UDPSocket(on: loop, bindingTo: Endpoint(.loopbackV6, port: 0))
        let (inboxV4, inboxV6) = (Inbox(of: v4), Inbox(of: v6))
        fanOut.add(0, at: v4.localEndpoint)
        fanOut.add(1, at: v6.localEndpoint)
        fanOut.send([5])
        try run(loop) { inboxV4.datagrams == [[5]] && inboxV6.datagrams == [[5]] }
    }

    // MARK: The socket is full

    @Test func queuedDatagramsAreSentWhenTheSocketHasSpace() throws {
        let inboxes = try listeners(5)
        backlog.enqueue(remainder(from: 2), of: [1].span, for: fanOut, 0, .socket)
        try run(loop) { backlog.isEmpty }
        try settle(loop)
        #expect(inboxes.map(\.datagrams) == [[], [], [[1]], [[1]], [[1]]])
        backlog.enqueue(remainder(from: 4), of: [2].span, for: fanOut, 0, .queue)
        try run(loop) { backlog.isEmpty }
        try settle(loop)
        #expect(inboxes.map(\.datagrams.last) == [nil, nil, [1], [1], [2]])
    }

    @Test func theOlderPacketOfAStreamGivesWayAndThoseOfOthersWaitInLine() throws {
        let inboxes = try listeners(3)
        backlog.enqueue(remainder(from: 1), of: [1].span, for: fanOut, 0, .socket)
        fanOut.send([9], stream: 5, except: 0)
        fanOut.send([2])
        #expect(fanOut.statistics.dropped == 2)
        try run(loop) { backlog.isEmpty && inboxes[2].datagrams.count == 2 }
        #expect(inboxes.map(\.datagrams) == [[[2]], [[2], [9]], [[2], [9]]])
    }

    @Test func aMemberThatMissedAPacketGetsTheNextOneFirst() throws {
        let inboxes = try listeners(4)
        backlog.enqueue(remainder(from: 2), of: [1].span, for: fanOut, 0, .socket)
        fanOut.send([2])
        // Member 0 leaves before the packet has been sent to it.
        fanOut.remove(0)
        try run(loop) { backlog.isEmpty }
        try settle(loop)
        #expect(inboxes.map(\.datagrams) == [[], [[2]], [[2]], [[2]]])
        #expect(fanOut.statistics.dropped == 2 + 1)
        var newer = FanOut.Remainder(end: 4, remainingCount: 4)
        newer.begin(at: 2)
        #expect(newer.next == 2 && newer.wrap == 2)
    }

    @Test func aMemberThatLeavesWhileAPacketWaitsIsCounted() throws {
        let inboxes = try listeners(6)
        backlog.enqueue(remainder(from: 4), of: [1].span, for: fanOut, 0, .socket)
        // Member 0 has already been sent the packet, member 4 has not.
        fanOut.remove(0)
        fanOut.remove(4)
        // A member that joins now does not receive the waiting packet.
        let late = try listeners(1, from: 50)
        try run(loop) { backlog.isEmpty }
        try settle(loop)
        #expect(inboxes.map(\.datagrams) == [[], [], [], [], [], [[1]]])
        #expect(late[0].datagrams.isEmpty)
        #expect(fanOut.statistics.dropped == 1)
    }

    /// The round starts with the members that missed the previous packet, and ends with the others.
    @Test func aMemberThatLeavesAtTheEndOfARoundCausesNoDuplicate() throws {
        let inboxes = try listeners(6)
        backlog.enqueue(FanOut.Remainder(next: 1, end: 3, remainingCount: 2), of: [1].span, for: fanOut, 0, .socket)
        fanOut.remove(1)
        try run(loop) { backlog.isEmpty }
        try settle(loop)
        #expect(inboxes.map(\.datagrams) == [[], [], [[1]], [], [], []])
        #expect(fanOut.statistics.sent == 1 && fanOut.statistics.dropped == 1)
        // After the removals, the other members are found in their new slots.
        fanOut.remove(4)
        fanOut.send([2], except: 5)
        try run(loop) { inboxes[3].datagrams == [[2]] }
        try settle(loop)
        #expect(inboxes.map(\.datagrams) == [[[2]], [], [[1], [2]], [[2]], [], []])
    }

    @Test func theExceptionHoldsWhileAPacketWaits() throws {
        let inboxes = try listeners(6)
        var remainder = remainder(from: 2, except: 5)
        remainder.remainingCount -= 1
        backlog.enqueue(remainder, of: [1].span, for: fanOut, 0, .socket)
        fanOut.remove(3)
        try run(loop) { backlog.isEmpty }
        try settle(loop)
        #expect(inboxes.map(\.datagrams) == [[], [], [[1]], [], [[1]], []])
        #expect(fanOut.statistics.sent == 2 && fanOut.statistics.dropped == 1)
    }

    @Test func aClosedBacklogCountsWhatItHeld() throws {
        _ = try listeners(3)
        backlog.enqueue(remainder(from: 1), of: [1].span, for: fanOut, 0, .socket)
        backlog.close()
        #expect(fanOut.statistics.dropped == 2)
        sender.close()
        fanOut.send([2])
        #expect(fanOut.statistics.dropped == 5 && fanOut.statistics.offered == 3)
    }

    private func remainder(from next: Int, except: Int32? = nil) -> FanOut.Remainder {
        FanOut.Remainder(next: next, end: fanOut.count, remainingCount: fanOut.count - next, except: except)
    }

}

var fanOutOptions: SocketOptions {
    var options = SocketOptions()
    options.neverFragments = true
    options.sendBufferSize = 4 << 20
    return options
}

extension FanOut {
    func send(_ bytes: [UInt8], stream: Int = 0, except: Int? = nil) {
        send(bytes.span, stream: stream, except: except)
    }
}
