public import TenfourAudioCore
public import TenfourNetworkEmulator
public import TenfourSession

/// RTP sessions with an emulated link from every session to every other session, on a clock that only the test moves.
///
///     let link = SimulatedLink(left: talker, right: listener, network: .init(delay: .milliseconds(40)), seed: 1)
///     link.left.speech = Speech()
///     link.run(until: .start + .seconds(1))
///     #expect(link.right.events == [.sourceAppeared(SSRC(9), from: link.left.endpoint)])
///
/// The same seed gives a byte-identical run.
public final class SimulatedLink {
    public private(set) var now = Instant.start
    /// The sessions on the link: `left`, `right` and any further sessions.
    public let ends: [LinkEnd]
    /// A hash of all datagrams sent so far and their times.
    public private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The links from each end to each other end, one row per sender.
    private var links: [EmulatedLink]
    private var flight = PacketsInFlight<Route>(capacity: 4_096, byteCapacity: 256)
    private var output: [UInt8] = []
    /// Whether a datagram of `byteCount` bytes from one end may reach another. Without a firewall all do.
    public var firewall: ((_ sender: Int, _ receiver: Int, _ byteCount: Int) -> Bool)?

    private struct Route: Sendable {
        var sender: Endpoint
        var receiver: Int
    }

    /// Places the ends at 192.0.2.1, 192.0.2.2, …, each on `LinkEnd.port`; the sessions' configurations use these
    /// addresses.
    public init(_ ends: [LinkEnd], network: NetworkModel = NetworkModel(), seed: UInt64 = 1) {
        self.ends = ends
        links = (0..<UInt64(ends.count * ends.count)).map {
            EmulatedLink(network, seed: seed &* 1_000 &+ $0, beginning: .start)
        }
        for index in ends.indices { flush(index) }
    }

    public convenience init(
        left: consuming RTPSession, right: consuming RTPSession, network: NetworkModel = NetworkModel(),
        seed: UInt64 = 1
    ) {
        self.init([LinkEnd(left, number: 0), LinkEnd(right, number: 1)], network: network, seed: seed)
    }

    public var left: LinkEnd { ends[0] }
    public var right: LinkEnd { ends[1] }

    /// Returns the endpoint of the session with this index.
    public static func endpoint(_ index: Int) -> Endpoint {
        Endpoint(.v4(0xC000_0201 + UInt32(index)), port: LinkEnd.port)
    }

    /// Advances the clock: sends speech, delivers datagrams and fires timers.
    public func run(until end: Instant) {
        while let next = nextMoment, next <= end {
            now = max(now, next)
            speak()
            deliver()
            for index in ends.indices {
                guard let deadline = ends[index].session.nextDeadline, deadline <= now else { continue }
                ends[index].session.timeElapsed(at: now)
                flush(index)
            }
        }
        now = max(now, end)
    }

    /// Delivers `datagram` to a session directly, as if `sender` had sent it.
    @discardableResult
    public func inject(
        _ datagram: [UInt8], from sender: Endpoint, to receiver: Int
    ) -> RTPSession.Reception {
        let reception = ends[receiver].receive(datagram.span, from: sender, at: now)
        flush(receiver)
        return reception
    }

    /// Lets a session send BYE.
    public func leave(_ index: Int) {
        ends[index].speech = nil
        ends[index].session.leave(at: now)
        flush(index)
    }

    /// Replaces a session by a new session with the same endpoint, as if another process had started. The datagrams
    /// sent so far are kept.
    public func replace(_ index: Int, by session: consuming RTPSession, speech: Speech?) {
        ends[index].session = session
        ends[index].speech = speech
        flush(index)
    }

    /// Replaces the network in all directions.
    public func change(to network: NetworkModel, seed: UInt64 = 1) {
        links = links.indices.map { EmulatedLink(network, seed: seed &* 1_000 &+ UInt64($0), beginning: now) }
    }

    /// The number of datagrams in flight.
    public var flyingCount: Int { flight.count }

    private var nextMoment: Instant? {
        var next = flight.nextDelivery
        for index in ends.indices {
            if let deadline = ends[index].session.nextDeadline { next = min(next ?? deadline, deadline) }
            if let packet = ends[index].speech?.nextPacket { next = min(next ?? packet, packet) }
        }
        return next
    }

    private func speak() {
        for index in ends.indices {
            if let speech = ends[index].speech, speech.followsDefence {
                let bits = ends[index].session.lossProtection.bitRate * speech.frameCount.rawValue / 48_000
                ends[index].speech?.byteCount = max(bits / 8, 5)
            }
            while let packet = ends[index].speech?.next(at: now) {
                ends[index].session.send(
                    packet.payload.span, at: packet.position, startsTalkspurt: packet.startsTalkspurt, now: now)
                flush(index)
            }
        }
    }

    private func deliver() {
        while true {
            var due: (address: Route, due: Instant)?
            let datagram = [UInt8](capacity: 2_048) { due = flight.next(due: now, into: &$0) }
            guard let due else { return }
            _ = ends[due.address.receiver].receive(datagram.span, from: due.address.sender, at: now)
            flush(due.address.receiver)
        }
    }

    /// Sends the session's pending datagrams and takes its events. Call it after each input.
    private func flush(_ index: Int) {
        while true {
            var destination: RTPSession.Destination?
            output.removeAll(keepingCapacity: true)
            output.append(addingCapacity: RTPSession.maximumDatagramByteCount) {
                destination = ends[index].session.nextDatagram(into: &$0)
            }
            guard let destination else { break }
            let datagram = Array(output[...])
            ends[index].sent.append(SentDatagram(at: now, destination, datagram))
            send(datagram, from: index, to: destination)
        }
        while let event = ends[index].session.nextEvent() { ends[index].events.append(event) }
    }

    private func send(_ datagram: [UInt8], from index: Int, to destination: RTPSession.Destination) {
        for byte in datagram { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        digest = (digest ^ UInt64(bitPattern: now.nanoseconds)) &* 0x100_0000_01B3
        guard let receiver = ends.firstIndex(where: { $0.endpoint.address == destination.endpoint.address }) else {
            return
        }
        guard firewall?(index, receiver, datagram.count) ?? true else { return }
        var sender = ends[index].endpoint
        if destination.endpoint.port == LinkEnd.port + 1 { sender.port += 1 }
        let route = Route(sender: sender, receiver: receiver)
        switch links[index * ends.count + receiver].fate(ofPacket: datagram.count, at: now) {
        case .lost: break
        case .delivered(let due): launch(datagram, on: route, due: due)
        case .doubled(let due, let again):
            launch(datagram, on: route, due: due)
            launch(datagram, on: route, due: again)
        }
    }

    private func launch(_ datagram: [UInt8], on route: Route, due: Instant) {
        let hasRoom = flight.insert(datagram.span, for: route, due: due)
        precondition(hasRoom, "more is under way than a simulation holds")
    }
}
