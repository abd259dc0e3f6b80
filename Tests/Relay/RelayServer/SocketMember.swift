import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourSession
import TestSupport

/// A member of a channel at a socket, whose clocks may be other than this machine's. Nothing happens but while it is pumped.
final class SocketMember {
    let socket = PlainSocket()
    private(set) var channel: Channel
    /// The sequence numbers of the sound that was opened.
    private(set) var heard: [UInt16] = []
    private(set) var events: [ChannelEvent] = []
    private let relayPort: UInt16
    private let ssrc: SSRC
    private var number: UInt16 = 0

    /// `relayPort` is where its relay seems to be. `ahead` says how much later it is than on this machine.
    init(
        _ role: Role, of keys: ChannelKeys, at relayPort: UInt16, ssrc: UInt32, ahead: Duration = .zero,
        isSynchronised: Bool = true, name: String? = nil
    ) {
        self.relayPort = relayPort
        self.ssrc = SSRC(ssrc)
        var generator = CSPRNG()
        let wall = WallClock(milliseconds: UInt64(Clocks.wallMilliseconds + Int64(ahead / .milliseconds(1))))
        var configuration = ChannelConfiguration(
            keys: keys, role: role, relay: RelayID(host: "127.0.0.1", port: relayPort),
            endpoints: [.loopback(relayPort)], isSynchronised: isSynchronised)
        configuration.name = name
        channel = Channel(
            configuration,
            ssrc: self.ssrc, at: Clocks.now, clock: wall, using: &generator)
    }

    var isJoined: Bool { channel.isJoined }

    func microphone(isOpen: Bool) {
        channel.microphone(isOpen: isOpen, at: Clocks.now)
        flush()
    }

    func requestListeners(from position: Int) {
        channel.requestListeners(from: position, at: Clocks.now)
        flush()
    }

    func leave() {
        channel.leave(at: Clocks.now)
        flush()
    }

    /// Says the next 20 ms.
    func speak() {
        let packet = [UInt8](capacity: 100) {
            RTPHeader(
                marker: number == 0, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: ssrc
            ).write(into: &$0)
            $0.append(31 << 3)
            $0.append(repeating: 0xAA, count: 79)
        }
        number += 1
        channel.send(packet.span, isControl: false, at: Clocks.now)
        flush()
    }

    /// Takes in all that has come, and does what is due.
    func pump() {
        while let datagram = socket.receive(within: 0) {
            _ = channel.receive(datagram.span, from: .loopback(relayPort), at: Clocks.now)
            takeOpened()
        }
        if let deadline = channel.nextDeadline, deadline <= Clocks.now { channel.timeElapsed(at: Clocks.now) }
        flush()
        while let event = channel.nextEvent() { events.append(event) }
    }

    private func takeOpened() {
        while true {
            var kind: Channel.Opened?
            let packet = [UInt8](capacity: Channel.maximumDatagramByteCount) { kind = channel.nextOpened(into: &$0) }
            guard let kind else { return }
            if kind == .media { heard.append(UInt16(packet[2]) << 8 | UInt16(packet[3])) }
        }
    }

    private func flush() {
        while true {
            var to: Endpoint?
            let datagram = [UInt8](capacity: Channel.maximumDatagramByteCount) { to = channel.nextDatagram(into: &$0) }
            guard to != nil else { return }
            socket.send(datagram, toPort: relayPort)
        }
    }
}

/// One on the way between a member and its relay: for the member it is the relay, for the relay the member.
final class OnTheWay {
    private let inside = PlainSocket()
    private let outside = PlainSocket()
    private let relayPort: UInt16
    var member: SocketMember?
    /// What the relay sent, and when.
    private(set) var recorded: [(at: Instant, bytes: [UInt8])] = []
    /// Whether to keep back what the relay sends.
    var withholds: ((_ datagram: [UInt8]) -> Bool)?
    /// Told of what the member sends, before the relay is.
    var overhears: ((_ datagram: [UInt8]) -> Void)?

    init(to relayPort: UInt16) { self.relayPort = relayPort }

    /// Where the relay seems to be.
    var port: UInt16 { inside.port }

    /// With the relay's address.
    func send(_ datagram: [UInt8]) {
        if let member { inside.send(datagram, toPort: member.socket.port) }
    }

    func pump() {
        while let datagram = inside.receive(within: 0) {
            overhears?(datagram)
            outside.send(datagram, toPort: relayPort)
        }
        while let datagram = outside.receive(within: 0) {
            recorded.append((Clocks.now, datagram))
            if !(withholds?(datagram) ?? false) { send(datagram) }
        }
    }
}

enum Clocks {
    static var now: Instant { Instant(nanoseconds: nanoseconds(CLOCK_MONOTONIC)) }
    static var wallMilliseconds: Int64 { nanoseconds(CLOCK_REALTIME) / 1_000_000 }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
