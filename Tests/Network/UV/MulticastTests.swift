import Glibc
import TenfourAudioCore
import TenfourSession
import Testing

@testable import TenfourUV

struct MulticastTests {
    let loop: EventLoop
    private let group = IPAddress.v4(0xEFFF_4D21)
    private var local = SocketOptions()

    init() throws {
        loop = try EventLoop()
        local.multicastInterface = "127.0.0.1"
        local.multicastTimeToLive = 0
    }

    @Test(arguments: ["lo", "127.0.0.1"])
    func everyListenerOfAGroupHearsItOnTheInterfaceThatWasNamed(_ interface: String) throws {
        let first = try UDPSocket(on: loop, joining: Endpoint(group, port: 0), interface: interface)
        let endpoint = first.localEndpoint
        #expect(endpoint.address == group)
        let second = try UDPSocket(on: loop, joining: endpoint, interface: interface)
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: local)
        let inboxes = [Inbox(of: first), Inbox(of: second)]
        #expect(sender.send([1, 2], to: endpoint) == .sent)
        try run(loop) { inboxes.allSatisfy { $0.datagrams == [[1, 2]] } }
        #expect(inboxes[0].senders == [sender.localEndpoint])
    }

    @Test func aSocketForAllAddressesHearsOnlyTheGroupsThatItJoined() throws {
        var shared = SocketOptions()
        shared.reusesAddress = true
        let bystander = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV4, port: 0), options: shared)
        let endpoint = Endpoint(group, port: bystander.localEndpoint.port)
        let listener = try UDPSocket(on: loop, joining: endpoint, interface: "lo")
        let (heard, overheard) = (Inbox(of: listener), Inbox(of: bystander))
        let sender = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: local)
        sender.send([1], to: endpoint)
        try run(loop) { heard.datagrams.count == 1 }
        try bystander.join(group: group, interface: "lo")
        sender.send([2], to: endpoint)
        try run(loop) { heard.datagrams.count == 2 && !overheard.datagrams.isEmpty }
        #expect(overheard.datagrams == [[2]])
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aSocketOfBothFamiliesHearsAGroupOfIPv4() throws {
        let listener = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0))
        try listener.join(group: group, interface: "lo")
        let inbox = Inbox(of: listener)
        var options = local
        options.multicastInterface = "lo"
        let sender = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0), options: options)
        #expect(sender.send([7], to: Endpoint(group, port: listener.localEndpoint.port)) == .sent)
        try run(loop) { inbox.datagrams == [[7]] }
    }

    /// Joins only: Linux has no IPv6 multicast route on the loopback interface, so nothing can be sent.
    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aGroupOfIPv6IsJoinedOnceOnTheInterfaceThatWasNamed() throws {
        let group = IPAddress.v6(high: 0xFF02_0000_0000_0000, low: 0x4D21, scope: 0)
        let socket = try UDPSocket(on: loop, joining: Endpoint(group, port: 0), interface: "lo")
        let error = #expect(throws: NetworkError.self) { try socket.join(group: group, interface: "lo") }
        #expect(error?.code == EADDRINUSE)
    }

    /// Reads the options back from the kernel, because the loopback interface loops everything back anyway.
    @Test func aSenderSaysHowFarItsMulticastGoesAndWhetherItIsHeardHere() throws {
        var options = local
        options.multicastTimeToLive = 7
        options.loopsMulticastBack = false
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        #expect(socket.option(IP_MULTICAST_TTL, Int32(IPPROTO_IP)) == 7)
        #expect(socket.option(IP_MULTICAST_LOOP, Int32(IPPROTO_IP)) == 0)
        let plain = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        #expect(plain.option(IP_MULTICAST_TTL, Int32(IPPROTO_IP)) == 1)
        #expect(plain.option(IP_MULTICAST_LOOP, Int32(IPPROTO_IP)) == 1)
    }

    @Test func anInterfaceThatIsNotThereIsNamedBesideThoseThatAre() throws {
        let error = #expect(throws: NetworkError.self) {
            try UDPSocket(on: loop, joining: Endpoint(group, port: 0), interface: "eth99")
        }
        #expect(error?.description.contains("there is no network interface eth99; this machine has lo") == true)
        var options = SocketOptions()
        options.multicastInterface = "192.0.2.254"
        #expect(throws: NetworkError.self) {
            try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        }
    }

    @Test func anAddressThatIsNoGroupCannotBeJoined() throws {
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        let error = #expect(throws: NetworkError.self) { try socket.join(group: .loopbackV4, interface: nil) }
        #expect(error?.reason == .notAGroup(.loopbackV4))
    }

    @Test func aClosedSocketJoinsNothing() throws {
        let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
        socket.close()
        #expect(throws: NetworkError.self) { try socket.join(group: group, interface: "lo") }
    }
}
