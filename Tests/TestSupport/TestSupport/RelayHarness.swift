package import TenfourAudioCore
package import TenfourChannelKeys
package import TenfourManagedChannel
import TenfourNetworkEmulator
package import TenfourPackets
package import TenfourRelayCore
package import TenfourSeededRandom
package import TenfourSession

/// A relay and all datagrams that it sends, on a clock that only the test moves.
package final class RelayHarness {
    package var relay: Relay
    package var now = Instant.start
    package var events: [RelayEvent] = []
    /// Datagrams that the relay has sent and the test has not taken, by destination.
    package var inbox: [Endpoint: [[UInt8]]] = [:]
    /// Whether the relay's output is left in its queues, as if the socket accepted nothing.
    package var isBlocked = false
    /// The files of channels with an owner that the relay has written, by the channels' names.
    package var files: [String: [UInt8]] = [:]
    /// Whether no file can be written.
    package var isDiskFull = false
    package var bytesIn = 0
    package var bytesOut = 0
    package var randomness: SeededRandom
    /// Called with each datagram and what the relay made of it, before the relay's output is taken.
    package var received: (Relay.Reception, [UInt8]) -> Void = { _, _ in }

    package static let address = PeerAddress(v4: 0xC633_6401, port: 5004)
    package static let name = RelayID(host: "relay.example", port: 5004)
    package static let clock = WallClock(milliseconds: 1_700_000_000_000)

    package init(
        _ configuration: RelayConfiguration, stores: [String: ManagedChannelStore] = [:], seed: UInt64 = 1,
        at start: Instant = .start
    ) {
        randomness = SeededRandom(seed: seed)
        now = start
        relay = Relay(
            configuration, stores: stores, address: Self.address, at: now, clock: Self.clock, using: &randomness)
    }

    /// Creates a relay with these channels.
    package convenience init(_ channels: [ChannelKeys], limits: RelayLimits = RelayLimits(), seed: UInt64 = 1) {
        self.init(RelayConfiguration(channels, limits: limits), seed: seed)
    }

    @discardableResult
    package func receive(_ datagram: [UInt8], from sender: Endpoint) -> Relay.Reception {
        bytesIn += datagram.count
        let reception = relay.receive(datagram.span, from: sender, at: now)
        received(reception, datagram)
        flush()
        return reception
    }

    package func stop(for reason: Refusal.Reason = .stopping) {
        relay.stop(for: reason, at: now)
        flush()
    }

    package func reload(_ configuration: RelayConfiguration) {
        relay.reload(configuration, at: now)
        flush()
    }

    package func setOtherListeners(_ count: Int, of channel: String) {
        relay.setOtherListeners(count, of: channel, at: now)
        flush()
    }

    /// Advances the clock by `duration` and calls the relay at each of its deadlines.
    package func run(_ duration: Duration) {
        let end = now + duration
        while let deadline = relay.nextDeadline, deadline <= end {
            now = max(now, deadline)
            relay.timeElapsed(at: now)
            flush()
        }
        now = end
    }

    package func take(_ endpoint: Endpoint) -> [[UInt8]] { inbox.removeValue(forKey: endpoint) ?? [] }

    package func takeEvents() -> [RelayEvent] {
        defer { events = [] }
        return events
    }

    package func flush() {
        if isBlocked { return }
        while true {
            var endpoint: Endpoint?
            let datagram = [UInt8](capacity: 1_600) { endpoint = relay.nextDatagram(into: &$0) }
            guard let endpoint else { break }
            bytesOut += datagram.count
            inbox[endpoint, default: []].append(datagram)
        }
        while let event = relay.nextEvent() { events.append(event) }
        while let snapshot = relay.nextSnapshot(at: now) {
            if !isDiskFull { files[snapshot.name] = snapshot.content }
            relay.snapshotWritten(snapshot, isStored: !isDiskFull, at: now)
        }
    }
}

extension RelayConfiguration {
    package init(_ channels: [ChannelKeys], limits: RelayLimits = RelayLimits()) {
        self.init(
            channels: channels.map { Channel(name: $0.name, talkJoin: $0.talkJoin!, listenJoin: $0.listenJoin) },
            names: [RelayHarness.name], limits: limits)
    }
}

extension ChannelKeys {
    package static func drawn(_ name: String, seed: UInt64 = 7) -> ChannelKeys {
        var randomness = SeededRandom(seed: seed)
        return ChannelKeys(name: name, secret: Secret(.talk, using: &randomness))
    }
}

extension Endpoint {
    /// Returns the endpoint of a host. Each host is in a network of its own.
    package static func host(_ number: Int, port: UInt16 = 40_000) -> Endpoint {
        Endpoint(.v4(0x0A00_0001 + UInt32(number) << 8), port: port)
    }
}

/// A member that speaks the control protocol with a relay.
package final class SimulatedMember {
    package let keys: ChannelKeys
    package let role: Role
    /// The relay that the member's link demands; nil if any will do.
    package var expected: ExpectedRelay?
    /// The X25519 pair of the member's identity; nil if it has none.
    package var identity: KeyShare?
    package var endpoint: Endpoint
    package var ssrc: SSRC
    package var randomness: SeededRandom
    package var session: SessionKeys?
    package var sealer: RecordSealer?
    package var opener: RecordOpener?
    package var tagger: HopTagger?
    package var terms: Welcome.Terms?
    /// The member's id at the relay.
    package var number: MemberID?
    /// The sequence number of the next packet.
    package var sequenceNumber = SequenceNumber(rawValue: 65_530)
    private var rolloverCounter: UInt32 = 0
    /// The receipt of the last RENEWED, which the next renewal returns.
    package var receipt: UInt64 = 0
    package var joinDatagram: [UInt8] = []
    package var helloDatagram: [UInt8] = []

    package init(_ keys: ChannelKeys, _ role: Role, at endpoint: Endpoint, seed: UInt64 = 99) {
        self.keys = keys
        self.role = role
        self.endpoint = endpoint
        // Not the hash value: it differs from run to run, and 16 bits of it are the same for some of a hundred hosts.
        let host: UInt64 =
            switch endpoint.address {
            case .v4(let number): UInt64(number)
            case .v6(let high, let low, _): high &* 31 &+ low
            }
        randomness = SeededRandom(seed: seed &+ UInt64(endpoint.port) << 32 &+ host)
        ssrc = SSRC(UInt32(truncatingIfNeeded: randomness.next()))
    }

    /// Sends HELLO and JOIN, and returns the answer to the JOIN.
    @discardableResult
    package func knock(_ room: RelayHarness, relay: RelayID = RelayHarness.name) -> JoinAttempt.Answer {
        var joining = JoinAttempt(
            keys.joinKey(for: role)!, relay: relay, expecting: expected, as: identity, using: &randomness)
        helloDatagram = [UInt8](capacity: 128) { joining.write(into: &$0) }
        room.receive(helloDatagram, from: endpoint)
        for datagram in room.take(endpoint) { _ = joining.receive(datagram.span) }
        joinDatagram = [UInt8](capacity: JoinAttempt.maximumByteCount) { joining.write(into: &$0) }
        room.receive(joinDatagram, from: endpoint)
        for datagram in room.take(endpoint) {
            let answer = joining.receive(datagram.span)
            if case .welcome(let terms, let session) = answer {
                self.terms = terms
                self.session = session
                receipt = 0
                sealer = session.sealer(for: .member)
                opener = session.opener(for: .member)
                tagger = session.hopTagger(for: .member)
            }
            return answer
        }
        return .nothing
    }

    /// Joins and sends the first renewal. Returns whether the member has joined.
    @discardableResult
    package func join(_ room: RelayHarness) -> Bool {
        guard case .welcome = knock(room) else { return false }
        renew(room)
        for case .joined(let member, _, let endpoint) in room.events where endpoint == self.endpoint { number = member }
        return number != nil
    }

    @discardableResult
    package func renew(_ room: RelayHarness, token: UInt64 = 5) -> Relay.Reception {
        let reception = say(.renewal(token: token, receipt: receipt), room)
        takeReceipt(room)
        return reception
    }

    /// Reads the newest receipt from the inbox and leaves the datagrams there.
    package func takeReceipt(_ room: RelayHarness) {
        guard var opener else { return }
        for datagram in room.inbox[endpoint]?.suffix(32) ?? [] {
            var bytes = datagram
            var span = bytes.mutableSpan
            if case .renewed(_, let receipt, _)? = try? opener.open(&span) { self.receipt = receipt }
        }
    }

    @discardableResult
    package func say(_ record: Record, _ room: RelayHarness, from sender: Endpoint? = nil) -> Relay.Reception {
        room.receive(sealed(record), from: sender ?? endpoint)
    }

    package func sealed(_ record: Record) -> [UInt8] { [UInt8](capacity: 160) { sealer!.seal(record, into: &$0) } }

    /// Sends an RTCP report to the relay.
    @discardableResult
    package func report(_ room: RelayHarness, _ write: (inout OutputSpan<UInt8>) -> Void) -> Relay.Reception {
        room.receive(sealed(write), from: endpoint)
    }

    package func sealed(_ write: (inout OutputSpan<UInt8>) -> Void) -> [UInt8] {
        let report = [UInt8](capacity: 1_232, initializingWith: write)
        return [UInt8](capacity: 1_300) { sealer!.seal(report: report.span, into: &$0) }
    }

    /// Takes all datagrams for this member: records, RTCP reports and all others.
    package func records(_ room: RelayHarness) -> (records: [Record], reports: [[UInt8]], others: [[UInt8]]) {
        var result: (records: [Record], reports: [[UInt8]], others: [[UInt8]]) = ([], [], [])
        for datagram in room.take(endpoint) {
            var bytes = datagram
            var span = bytes.mutableSpan
            switch Result(catching: { () throws(RecordOpener.Failure) in try opener!.open(&span) }) {
            case .success(.report(let range)): result.reports.append(Array(bytes[range]))
            case .success(let record): result.records.append(record)
            case .failure: result.others.append(datagram)
            }
        }
        return result
    }

    package func announcement(_ ssrc: SSRC? = nil) -> [UInt8] {
        let announcement = Announcement(
            suite: SRTPSuite.allCases.first!, ssrc: ssrc ?? self.ssrc, epoch: Self.epoch,
            index: PacketIndex(rolloverCounter: rolloverCounter, sequenceNumber), at: RelayHarness.clock,
            under: keys.mediaRoot)
        return [UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }
    }

    /// Returns an RTP packet with arbitrary payload, which a relay cannot tell from SRTP.
    package func packet(_ ssrc: SSRC? = nil, byteCount: Int = 100) -> [UInt8] {
        let number = sequenceNumber
        sequenceNumber = number.advanced(by: 1)
        if sequenceNumber.rawValue == 0 { rolloverCounter += 1 }
        return [UInt8](capacity: byteCount) {
            RTPHeader(
                marker: false, payloadType: 111, sequenceNumber: number,
                timestamp: RTPTimestamp(rawValue: UInt32(number.rawValue) &* 960), ssrc: ssrc ?? self.ssrc
            ).write(into: &$0)
            while $0.count < byteCount { $0.append(UInt8(truncatingIfNeeded: randomness.next())) }
        }
    }

    package func tagged(_ datagram: [UInt8]) -> [UInt8] {
        [UInt8](capacity: datagram.count + HopTag.byteCount) {
            for byte in datagram { $0.append(byte) }
            _ = tagger!.tag(&$0)
        }
    }

    @discardableResult
    package func announce(_ room: RelayHarness, _ ssrc: SSRC? = nil) -> Relay.Reception {
        room.receive(tagged(announcement(ssrc)), from: endpoint)
    }

    @discardableResult
    package func talk(_ room: RelayHarness) -> Relay.Reception { room.receive(tagged(packet()), from: endpoint) }
}

extension Relay.Forwarded {
    /// The reception of the announcement that `SimulatedMember.announce` makes.
    package static let announced = Self.announcement(SimulatedMember.epoch)
}

extension SimulatedMember {
    package static let epoch = Epoch(rawValue: 1 << 80)

    /// Sends HELLO, takes the cookie and prepares `joinDatagram`, which is not sent yet.
    package func helloAndCookie(_ room: RelayHarness) {
        var joining = JoinAttempt(
            keys.joinKey(for: role)!, relay: RelayHarness.name, expecting: expected, as: identity, using: &randomness)
        room.receive([UInt8](capacity: 128) { joining.write(into: &$0) }, from: endpoint)
        for datagram in room.take(endpoint) { _ = joining.receive(datagram.span) }
        joinDatagram = [UInt8](capacity: JoinAttempt.maximumByteCount) { joining.write(into: &$0) }
    }

    /// Sends the JOIN once more and returns the answers.
    package func refusals(_ room: RelayHarness) -> [[UInt8]] {
        room.receive(joinDatagram, from: endpoint)
        return room.take(endpoint)
    }

    package func opened(_ datagram: [UInt8]) throws -> Record {
        var bytes = datagram
        var span = bytes.mutableSpan
        return try opener!.open(&span)
    }

    /// Takes the RTCP reports for this member.
    package func reports(_ room: RelayHarness) -> [ReadReport] { records(room).reports.map { ReadReport($0) } }

    package func goodbyes(_ room: RelayHarness) -> [SSRC] { reports(room).flatMap(\.goodbyes) }
}

/// A compound RTCP packet, split into its packets.
package struct ReadReport {
    package var packets: [RTCPPacket] = []

    package init(_ bytes: [UInt8]) {
        guard var compound = try? RTCPCompound(parsing: bytes.span, allowsReducedSize: true) else { return }
        while let packet = try? compound.next() { packets.append(packet) }
    }

    package var goodbyes: [SSRC] {
        packets.flatMap { packet -> [SSRC] in if case .goodbye(let goodbye) = packet { goodbye.sources } else { [] } }
    }

    package var questions: [GenericNACK] {
        packets.compactMap { if case .genericNACK(let nack) = $0 { nack } else { nil } }
    }

    package var receiverReports: [ReceiverReport] {
        packets.compactMap { if case .receiverReport(let report) = $0 { report } else { nil } }
    }

    package func blocks(about ssrc: SSRC) -> [ReportBlock] {
        receiverReports.flatMap(\.blocks).filter { $0.ssrc == ssrc }
    }
}
