import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// Stations that talk and listen through a relay, each on a line of its own, in steps of one millisecond. The media
/// is not encrypted, which makes no difference to the relay.
final class RTPSessionRelay {
    let room: RelayHarness
    let lines: [StationLine]
    private var flights: [Flight] = []
    private(set) var forwardedCount = 0

    private struct Flight {
        var due: Instant
        var line: Int
        var isUp: Bool
        var bytes: [UInt8]
    }

    init(_ keys: ChannelKeys, _ lines: [StationLine]) {
        room = RelayHarness([keys], limits: .wide)
        self.lines = lines
        for line in lines {
            _ = line.member.join(room)
            if line.member.role == .talk { line.member.announce(room) }
        }
        room.inbox = [:]
    }

    func run(seconds: Double) {
        for _ in 0..<Int(seconds * 1e3) { step() }
    }

    private func step() {
        room.run(.milliseconds(1))
        let milliseconds = Int(room.now.nanoseconds / 1_000_000)
        let due = flights.filter { $0.due <= room.now }
        flights.removeAll { $0.due <= room.now }
        for flight in due { arrive(flight) }
        for (index, line) in lines.enumerated() {
            if milliseconds % 10_000 == 0 {
                send(line.member.sealed(.renewal(token: 1, receipt: line.member.receipt)), up: index)
            }
            if line.isTalking, milliseconds % 20 == 0 { line.speak(at: room.now) }
            if let deadline = line.rtpSession.nextDeadline, deadline <= room.now {
                line.rtpSession.timeElapsed(at: room.now)
            }
            flush(index)
        }
        for (index, line) in lines.enumerated() {
            for datagram in room.take(line.member.endpoint) { send(datagram, down: index) }
        }
    }

    private func flush(_ index: Int) {
        let line = lines[index]
        while true {
            var destination: RTPSession.Destination?
            let datagram = [UInt8](capacity: 1_500) { destination = line.rtpSession.nextDatagram(into: &$0) }
            guard destination != nil else { break }
            if RTCPCompound.isRTCP(secondByte: datagram[1]) {
                send([UInt8](capacity: 1_300) { line.member.sealer!.seal(report: datagram.span, into: &$0) }, up: index)
            } else {
                line.sentCount += 1
                send(line.member.tagged(datagram), up: index)
            }
        }
        while let event = line.rtpSession.nextEvent() { line.events.append(event) }
    }

    private func send(_ datagram: [UInt8], up index: Int) {
        let line = lines[index]
        if RelayHarness.isMedia(datagram), line.randomness.happens(line.lossUp) { return }
        flights.append(Flight(due: room.now + line.delay, line: index, isUp: true, bytes: datagram))
    }

    private func send(_ datagram: [UInt8], down index: Int) {
        let line = lines[index]
        if RelayHarness.isMedia(datagram), line.randomness.happens(line.lossDown) { return }
        flights.append(Flight(due: room.now + line.delay, line: index, isUp: false, bytes: datagram))
    }

    private func arrive(_ flight: Flight) {
        let line = lines[flight.line]
        guard flight.isUp else { return line.receive(flight.bytes, at: room.now) }
        guard case .forward(_, let byteCount, _, let talker) = room.receive(flight.bytes, from: line.member.endpoint)
        else { return }
        if RelayHarness.isMedia(flight.bytes) { forwardedCount += 1 }
        for (index, line) in lines.enumerated() where line.member.number != talker {
            send(Array(flight.bytes[..<byteCount]), down: index)
        }
    }
}

/// A station and the line to its relay.
final class StationLine {
    let member: SimulatedMember
    var rtpSession: RTPSession
    var isTalking = false
    var delay = Duration.milliseconds(20)
    /// The share of media packets lost on the way to the relay and from it; control packets are not lost.
    var lossUp = 0.0
    var lossDown = 0.0
    var randomness: SeededRandom
    var events: [Event] = []
    var sentCount = 0
    var receivedCount = 0
    /// The numbers of the packets heard, by talker.
    var heard: [SSRC: Set<Int>] = [:]
    private var position = FrameCount.zero
    private var spokenCount = 0

    static let relay = Endpoint(.v4(0xC633_6401), port: 5_004)

    init(_ keys: ChannelKeys, _ role: Role, _ number: Int) {
        member = SimulatedMember(keys, role, at: .host(number))
        randomness = SeededRandom(seed: UInt64(number))
        rtpSession = RTPSession(
            identity: Identity(ssrc: member.ssrc, seed: UInt64(number)),
            configuration: RTPSessionConfiguration(remotes: [Self.relay]), at: .start)
    }

    func speak(at now: Instant) {
        let payload =
            [31 << 3] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: spokenCount >> $0) }
            + [UInt8](repeating: 0xAA, count: 60)
        rtpSession.send(payload.span, at: position, startsTalkspurt: spokenCount == 0, now: now)
        position += FrameCount(960)
        spokenCount += 1
    }

    func receive(_ datagram: [UInt8], at now: Instant) {
        guard !RelayHarness.isMedia(datagram) else {
            receivedCount += 1
            if case .media(let packet) = rtpSession.receive(datagram.span, from: Self.relay, at: now) {
                let start = packet.description.offset
                let number = (1...4).reduce(0) { $0 << 8 | Int(datagram[start + $1]) }
                heard[packet.ssrc, default: []].insert(number)
                for copy in 0..<packet.copyCount {
                    let start = packet.copy(copy).description.offset
                    let number = (1...4).reduce(0) { $0 << 8 | Int(datagram[start + $1]) }
                    heard[packet.ssrc, default: []].insert(number)
                }
            }
            return
        }
        var bytes = datagram
        var span = bytes.mutableSpan
        switch try? member.opener!.open(&span) {
        case .report(let range)?: _ = rtpSession.receive(bytes.span.extracting(range), from: Self.relay, at: now)
        case .renewed(_, let receipt, _)?: member.receipt = receipt
        default: return
        }
    }
}

extension RelayHarness {
    static func isMedia(_ datagram: [UInt8]) -> Bool { (128...191).contains(datagram[0]) }
}
