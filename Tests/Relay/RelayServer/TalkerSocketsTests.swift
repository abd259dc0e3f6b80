import TenfourAudioCore
import TenfourRelayCore
import TenfourSession
import TenfourUV
import Testing

@testable import TenfourRelayServer

/// The shared socket and the talkers' sockets of a relay.
private final class Port {
    let loop: EventLoop
    let shared: UDPSocket
    let talkers: TalkerSockets
    private(set) var heard: [UInt8] = []
    /// The number of datagrams received by the talkers' sockets.
    private(set) var heardApart = 0
    var whenHeard: (UInt8) -> Void = { _ in }

    init() throws {
        let loop = try EventLoop()
        var options = SocketOptions()
        options.portSharing = .offered
        options.receiveBufferSize = relayBufferByteCount
        let port = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort, options: options)
        let hearing = Hearing()
        talkers = try TalkerSockets(joining: port.localEndpoint, on: loop) { bytes, _, _ in
            hearing.port?.heardApart += 1
            hearing.port?.hear(bytes[0])
        }
        (self.loop, shared) = (loop, port)
        hearing.port = self
        shared.receive { [unowned self] bytes, _, _ in hear(bytes[0]) }
        shared.whenEmptied { [unowned talkers] in talkers.sharedSocketIsEmpty() }
    }

    private func hear(_ number: UInt8) {
        heard.append(number)
        whenHeard(number)
    }

    /// Runs the event loop until `count` datagrams have been received, for at most one second.
    func hear(_ count: Int) throws {
        let end = try loop.makeTimer { [unowned loop] in loop.stop() }
        end.arm(at: loop.now + .seconds(1))
        let seen = whenHeard
        whenHeard = { [unowned self] in
            seen($0)
            if heard.count == count { loop.stop() }
        }
        loop.run()
        whenHeard = seen
        end.close()
    }
}

private final class Hearing {
    weak var port: Port?
}

struct TalkerSocketsTests {
    private let port: Port
    private let talker: UDPSocket

    init() throws {
        port = try Port()
        talker = try UDPSocket(on: port.loop, bindingTo: .anyLoopbackPort)
    }

    private func speak(_ numbers: Range<UInt8>) {
        for number in numbers { talker.send([number].span, to: port.shared.localEndpoint) }
    }

    /// After a sleep the shared socket holds more datagrams than are read in one go, and the talker's own socket
    /// holds the newest.
    @Test func datagramsOlderThanATalkersSocketAreReadFirst() throws {
        speak(0..<150)
        port.whenHeard = { number in
            if number == 0 {
                port.talkers.open(for: 1, at: talker.localEndpoint)
                speak(150..<200)
            }
        }
        try port.hear(200)
        #expect(port.heard == Array(0..<200))
        #expect(port.heardApart == 50)
        port.whenHeard = { _ in }
    }

    /// The shared socket never becomes empty during a flood.
    @Test func aTalkerIsHeardThoughTheSharedSocketIsNeverEmpty() throws {
        port.shared.whenEmptied {}
        port.talkers.open(for: 1, at: talker.localEndpoint)
        speak(0..<10)
        try port.hear(10)
        #expect(port.heard == Array(0..<10))
    }

    @Test func aTalkerThatResumesAtOnceLosesNothing() throws {
        port.talkers.open(for: 1, at: talker.localEndpoint)
        for turn: UInt8 in 0..<20 {
            speak(turn * 10..<turn * 10 + 5)
            port.talkers.close(for: 1)
            speak(turn * 10 + 5..<turn * 10 + 10)
            port.talkers.open(for: 1, at: talker.localEndpoint)
        }
        #expect(port.talkers.count == 1)
        try port.hear(200)
        #expect(port.heard == Array(0..<200))
        #expect(port.heardApart == 200)
    }

    @Test func aSocketThatIsLeftIsReadForAWhileAndThenClosed() throws {
        port.talkers.open(for: 1, at: talker.localEndpoint)
        speak(0..<1)
        port.talkers.close(for: 1)
        speak(1..<2)
        try port.hear(2)
        #expect(port.heard == [0, 1] && port.heardApart == 2)
        try port.hear(-1)
        speak(2..<3)
        try port.hear(3)
        #expect(port.heard == [0, 1, 2] && port.heardApart == 2)
    }
}
