import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourFloor
import TenfourPackets
import TenfourSession
import TestSupport

/// A channel member with a socket and its own clock offset. It does nothing except in `pump`.
final class SocketMember {
    let socket = PlainSocket()
    private(set) var channel: Channel
    /// The media packets opened.
    private(set) var packets: [(ssrc: UInt32, number: UInt16, at: Instant)] = []
    /// The time of the last packet of each talker.
    private(set) var lastHeard: [UInt32: Instant] = [:]
    /// The number of BYEs that the relays have sent.
    private(set) var goodbyeCount = 0
    private(set) var events: [ChannelEvent] = []
    private(set) var floorEvents: [FloorEvent] = []
    let ssrc: SSRC
    private var number: UInt16 = 0
    private var timestamp = RTPTimestamp(rawValue: 0)
    /// The time of the last packet sent; nil before the first.
    private var spokenAt: Instant?

    /// `relayPort` is the port that the member takes for its relay; `others` are further relays. `ahead` is the offset of its wall clock from this
    /// machine's.
    init(
        _ role: Role, of keys: ChannelKeys, at relayPort: UInt16 = 0, orAt others: [Endpoint] = [], ssrc: UInt32,
        ahead: Duration = .zero,
        isSynchronised: Bool = true, name: String? = nil, usesFloor: Bool = false,
        fingerprint: RelayFingerprint? = nil
    ) {
        self.ssrc = SSRC(ssrc)
        var generator = CSPRNG()
        let wall = WallClock(milliseconds: UInt64(Clocks.wallMilliseconds + Int64(ahead / .milliseconds(1))))
        var configuration = ChannelConfiguration(
            keys: keys, role: role,
            relays: ((relayPort > 0 ? [.loopback(relayPort)] : []) + others).map {
                RelayCandidate(id: RelayID(host: "127.0.0.1", port: $0.port), endpoint: $0)
            }, isSynchronised: isSynchronised)
        configuration.name = name
        configuration.fingerprint = fingerprint
        configuration.usesFloor = usesFloor
        channel = Channel(
            configuration,
            ssrc: self.ssrc, at: Clocks.now, clock: wall, using: &generator)
    }

    var isJoined: Bool { channel.isJoined }
    /// The sequence numbers of the media packets opened.
    var heard: [UInt16] { packets.map(\.number) }
    /// The sequence number of the last media packet sent; nil before the first.
    var lastSpoken: UInt16? { spokenAt.map { _ in number &- 1 } }

    func microphone(isOpen: Bool) {
        channel.microphone(isOpen: isOpen, at: Clocks.now)
        flush()
    }

    /// Whether it has the floor.
    var maySend: Bool { channel.floor?.maySend ?? false }

    func pressFloor(waits: Bool = false) {
        channel.pressFloor(waits: waits, at: Clocks.now)
        flush()
    }

    func releaseFloor() {
        channel.releaseFloor(at: Clocks.now)
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

    /// Sends the next packet of 20 ms. After a silence of a second or more the RTP timestamp has run on, as members
    /// refuse packets as late otherwise.
    func speak() {
        let now = Clocks.now
        if let spokenAt, now - spokenAt >= .seconds(1) {
            timestamp = RTPTimestamp(rawValue: timestamp.rawValue &+ UInt32((now - spokenAt) / .milliseconds(20)) * 960)
        }
        spokenAt = now
        let packet = [UInt8](capacity: 100) {
            RTPHeader(
                marker: number == 0, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: timestamp, ssrc: ssrc
            ).write(into: &$0)
            $0.append(31 << 3)
            $0.append(repeating: 0xAA, count: 79)
        }
        number += 1
        timestamp = RTPTimestamp(rawValue: timestamp.rawValue &+ 960)
        channel.send(packet.span, isControl: false, at: Clocks.now)
        flush()
    }

    /// Handles all datagrams received and the timers that are due.
    func pump() {
        while let (datagram, host, port) = socket.receiveFrom(within: 0) {
            _ = channel.receive(datagram.span, from: Endpoint(.v4(host), port: port), at: Clocks.now)
            takeOpened()
        }
        if let deadline = channel.nextDeadline, deadline <= Clocks.now { channel.timeElapsed(at: Clocks.now) }
        flush()
        while let event = channel.nextEvent() { events.append(event) }
        while let event = channel.nextFloorEvent() { floorEvents.append(event) }
    }

    private func takeOpened() {
        while true {
            var kind: Channel.Opened?
            let packet = [UInt8](capacity: Channel.maximumDatagramByteCount) { kind = channel.nextOpened(into: &$0) }
            guard let kind else { return }
            if kind == .media {
                let ssrc = packet[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                lastHeard[ssrc] = Clocks.now
                packets.append((ssrc, UInt16(packet[2]) << 8 | UInt16(packet[3]), Clocks.now))
            } else if packet[1] == 203 {
                goodbyeCount += 1
            }
        }
    }

    private func flush() {
        while true {
            var to: Endpoint?
            let datagram = [UInt8](capacity: Channel.maximumDatagramByteCount) { to = channel.nextDatagram(into: &$0) }
            guard let to, case .v4(let host) = to.address else { return }
            socket.send(datagram, toPort: to.port, at: host)
        }
    }
}

/// An attacker on the path: the member takes it for the relay, and the relay takes it for the member.
final class OnTheWay {
    private let inside = PlainSocket()
    private let outside = PlainSocket()
    private let relayPort: UInt16
    var member: SocketMember?
    /// The datagrams that the relay has sent, with their times.
    private(set) var recorded: [(at: Instant, bytes: [UInt8])] = []
    /// Returns whether to withhold a datagram of the relay.
    var withholds: ((_ datagram: [UInt8]) -> Bool)?
    /// Called with each datagram of the member before it is passed on to the relay.
    var overhears: ((_ datagram: [UInt8]) -> Void)?

    init(to relayPort: UInt16) { self.relayPort = relayPort }

    /// The port that the member takes for its relay.
    var port: UInt16 { inside.port }

    /// Sends a datagram to the member from the relay's address.
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
