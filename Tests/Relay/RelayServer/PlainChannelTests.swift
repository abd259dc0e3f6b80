import Glibc
import TenfourRelayServer
import TenfourSession
import TenfourUV
import TestSupport
import Testing

@Suite(.onItsOwnThread)
struct PlainChannelTests {
    private func channel(
        _ name: String = "news", from: IPAddress? = nil, to ports: [UInt16], limits: PlainChannel.Limits = .init()
    ) -> PlainChannel {
        PlainChannel(
            name: name, inputs: [.init(bind: .anyLoopbackPort, from: from)], targets: ports.map { .loopback($0) },
            limits: limits)
    }

    private func relay(_ plain: [PlainChannel], workers: Int = 1) throws -> RunningRelay {
        try RunningRelay(RelayServerConfiguration(bind: .anyLoopbackPort, plain: plain, workers: workers))
    }

    @Test func datagramsReachEveryTargetUnchanged() throws {
        let talker = PlainSocket()
        let left = PlainSocket()
        let right = PlainSocket()
        let relay = try relay([channel(to: [left.port, right.port])])
        let port = relay.plainPorts(1)[0]
        for number: UInt8 in 0..<20 { talker.send(rtp(number), toPort: port) }
        for number: UInt8 in 0..<20 {
            #expect(left.receive(within: 5_000) == rtp(number))
            #expect(right.receive(within: 5_000) == rtp(number))
        }
        let status = relay.wait { $0.plain.first?.fanOut.sent == 40 }
        #expect(status.plain.first?.received == 20 && status.plain.first?.targetCount == 2)
        #expect(status.plain.first?.fanOut.offered == 40)
    }

    @Test(arguments: [2, 3]) func severalThreadsShareTheTargets(workers: Int) throws {
        let talker = PlainSocket()
        let a = PlainSocket()
        let b = PlainSocket()
        let c = PlainSocket()
        let d = PlainSocket()
        let e = PlainSocket()
        let inboxes = [a.port, b.port, c.port, d.port, e.port]
        let relay = try relay([channel(to: inboxes)], workers: workers)
        let port = relay.plainPorts(1)[0]
        for number: UInt8 in 0..<20 { talker.send(rtp(number), toPort: port) }
        for number: UInt8 in 0..<20 {
            #expect(a.receive(within: 5_000) == rtp(number))
            #expect(b.receive(within: 5_000) == rtp(number))
            #expect(c.receive(within: 5_000) == rtp(number))
            #expect(d.receive(within: 5_000) == rtp(number))
            #expect(e.receive(within: 5_000) == rtp(number))
        }
        let status = relay.wait { $0.plain.first?.fanOut.sent == 100 }
        #expect(status.plain.first?.fanOut.offered == 100 && status.workers == workers)
    }

    @Test func refusedDatagramsAreReportedForEveryThread() throws {
        let talker = PlainSocket()
        let listener = PlainSocket()
        let relay = try relay([channel(to: [0, 0, listener.port])], workers: 2)
        let port = relay.plainPorts(1)[0]
        for number: UInt8 in 0..<5 { talker.send(rtp(number), toPort: port) }
        for number: UInt8 in 0..<5 { #expect(listener.receive(within: 5_000) == rtp(number)) }
        let status = relay.wait { $0.socket.failures == [EINVAL: 10] }
        #expect(status.plain.first?.fanOut.failed == 10 && status.plain.first?.fanOut.sent == 5)
    }

    @Test func onlyRTPFromTheNamedHostPasses() throws {
        let talker = PlainSocket()
        let listener = PlainSocket()
        let relay = try relay([
            channel(from: .loopbackV4, to: [listener.port]),
            channel("other", from: .v4(0x7F00_0002), to: [listener.port]),
        ])
        let ports = relay.plainPorts(2)
        talker.send([], toPort: ports[0])
        talker.send([1, 2, 3], toPort: ports[0])
        talker.send([0x40] + rtp(1).dropFirst(), toPort: ports[0])
        talker.send([0x80, 200] + rtp(1).dropFirst(2), toPort: ports[0])
        talker.send(rtp(8), toPort: ports[1])
        talker.send(rtp(9), toPort: ports[0])
        #expect(listener.receive(within: 5_000) == rtp(9))
        let status = relay.wait { $0.plain.last?.discards.isEmpty == false }
        #expect(status.plain.first?.discards == [.malformed: 3, .control: 1])
        #expect(status.plain.last?.discards == [.stranger: 1])
        relay.wait { relay.notices.contains { if case .dropped = $0 { true } else { false } } }
        // The reports of a usual sender are no trouble.
        #expect(!relay.notices.contains { "\($0)".contains("control") }, "\(relay.notices)")
        #expect(listener.receive(within: 100) == nil)
    }

    @Test func datagramsBeyondTheLimitAreDropped() throws {
        let talker = PlainSocket()
        let listener = PlainSocket()
        var limits = PlainChannel.Limits()
        limits.packetsPerSecond = 20
        let relay = try relay([channel(to: [listener.port], limits: limits)])
        let port = relay.plainPorts(1)[0]
        for number: UInt8 in 0..<100 { talker.send(rtp(number), toPort: port) }
        let status = relay.wait { ($0.plain.first?.received ?? 0) + ($0.plain.first?.discards[.tooMuch] ?? 0) == 100 }
        let passed = status.plain.first?.received ?? 0
        #expect(passed >= 10 && passed < 50)
    }

    @Test func aPortThatSomebodyHasIsReportedAtTheStart() throws {
        let other = PlainSocket()
        var plain = channel(to: [])
        plain.inputs = [.init(bind: .loopback(other.port))]
        #expect {
            _ = try RelayServer(RelayServerConfiguration(bind: .anyLoopbackPort, plain: [plain]))
        } throws: {
            if case .portInUse(other.port, _) = ($0 as? NetworkError)?.reason { true } else { false }
        }
        #expect {
            _ = try RelayServer(RelayServerConfiguration(bind: .loopback(other.port)))
        } throws: {
            if case .portInUse(other.port, _) = ($0 as? NetworkError)?.reason { true } else { false }
        }
    }

    @Test func aConfigurationReadAgainKeepsWhatIsTheSameAndEndsTheRest() throws {
        let talker = PlainSocket()
        let stays = PlainSocket()
        let leaves = PlainSocket()
        let comes = PlainSocket()
        let other = PlainSocket()
        let same = channel("same", to: [stays.port])
        let relay = try relay([same, channel("gone", to: [leaves.port])])
        let ports = relay.plainPorts(2)
        for port in ports { talker.send(rtp(1), toPort: port) }
        #expect(stays.receive(within: 5_000) == rtp(1))
        #expect(leaves.receive(within: 5_000) == rtp(1))

        var refused = channel("refused", to: [])
        refused.inputs = [.init(bind: .loopback(other.port))]
        var next = RelayServerConfiguration(
            bind: .anyLoopbackPort, plain: [channel("new", to: [comes.port]), same, refused])
        next.workers = 2
        relay.server.reload(next)
        let new = relay.plainPorts(3)[2]
        talker.send(rtp(2), toPort: new)
        talker.send(rtp(2), toPort: ports[0])
        talker.send(rtp(2), toPort: ports[1])
        #expect(comes.receive(within: 5_000) == rtp(2))
        #expect(stays.receive(within: 5_000) == rtp(2))
        #expect(leaves.receive(within: 100) == nil)
        let status = relay.wait { $0.plain.count == 3 && $0.plain[1].received == 2 }
        #expect(status.plain.map(\.name) == ["new", "same", "refused"])
        #expect(relay.notices.contains(.waitsForRestart))
        #expect(
            relay.notices.contains {
                if case .inputRefused("refused", .loopback(other.port), _) = $0 { true } else { false }
            })
    }

    @Test func anInputThatCouldNotBeOpenedIsTriedAgain() throws {
        let talker = PlainSocket()
        let listener = PlainSocket()
        let relay = try relay([])
        var plain = channel(to: [listener.port])
        var port: UInt16 = 0
        do {
            // Uses a fixed port: one chosen by the system could be given to another program before the relay tries
            // again.
            let other = PlainSocket(port: UDPPort.free())
            port = other.port
            plain.inputs = [.init(bind: .loopback(port))]
            relay.server.reload(RelayServerConfiguration(bind: .anyLoopbackPort, plain: [plain]))
            relay.wait { relay.notices.contains { if case .inputRefused = $0 { true } else { false } } }
        }
        // Repeated: a process that another test is starting holds the port until its exec.
        relay.wait {
            relay.server.reload(RelayServerConfiguration(bind: .anyLoopbackPort, plain: [plain]))
            return relay.notices.contains { if case .receiving = $0 { true } else { false } }
        }
        #expect(relay.plainPorts(1) == [port])
        talker.send(rtp(1), toPort: port)
        #expect(listener.receive(within: 5_000) == rtp(1))
    }

    @Test func aRelayThatIsStoppedEnds() throws {
        let relay = try relay([], workers: 2)
        relay.wait { relay.notices.contains(.listening(relay.server.localEndpoint)) }
        relay.stop()
        #expect(!UDPPort.isBound(relay.port))
    }
}
