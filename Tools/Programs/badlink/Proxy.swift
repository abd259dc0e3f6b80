import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourRadio
import TenfourSession
import TenfourUV

/// Forwards datagrams between clients and a target over emulated links that lose and delay them.
///
/// Datagrams that arrive at a front socket go to the target; datagrams of the target go to the client heard last on
/// that port. A packet that is due on arrival is sent at once; all others wait in one queue with one timer.
final class Proxy {
    struct Configuration {
        /// The address and the RTP port to listen on; RTCP uses the next higher port of both.
        var listen: Endpoint
        var target: Endpoint
        var carriesRTCP = true
        var there: NetworkModel
        var back: NetworkModel
        var seed: UInt64
        /// A function that is called with one line for the fate of each packet.
        var log: ((String) -> Void)?
    }

    /// One direction of one port.
    private struct Path {
        var name: String
        var network: NetworkModel
        var seed: UInt64
        /// The emulated link. It is created with the first packet of any path, so that all links begin at the same
        /// time.
        var link: EmulatedLink?
        var tally = LinkTally()
    }

    /// A forwarded port: one socket for datagrams of clients, and one for the target's answers.
    private struct Port {
        var front: UDPSocket
        var back: UDPSocket
        var target: Endpoint
        var client: Endpoint?
    }

    /// The destination of a packet in flight, and the values that its tally needs.
    private struct Flight {
        var path: Int
        var destination: Endpoint
        var index: Int
        var isSecond: Bool
        var received: Instant
    }

    private let configuration: Configuration
    private let loop: EventLoop
    private var ports: [Port] = []
    /// The paths: both directions of the first port, then both of the second. The seeds of the paths are consecutive.
    private var paths: [Path] = []
    private var beginning: Instant?
    private var inFlight = PacketsInFlight<Flight>(capacity: 8192, byteCapacity: 2048)
    private var outgoing: [UInt8] = []
    private var timer: PreciseTimer?

    init(_ configuration: Configuration, on loop: EventLoop) throws {
        self.configuration = configuration
        self.loop = loop
        outgoing.reserveCapacity(longestDatagram)
        timer = try PreciseTimer(on: loop) { [unowned self] in sendWhatIsDue(at: self.loop.now) }
        try openPort(named: "", listen: configuration.listen, target: configuration.target)
        if configuration.carriesRTCP {
            var listen = configuration.listen
            listen.port = try portAfter(localEndpoint.port)
            var target = configuration.target
            target.port = try portAfter(target.port)
            try openPort(named: "rtcp_", listen: listen, target: target)
        }
    }

    /// The address that clients send to.
    var localEndpoint: Endpoint { ports[0].front.localEndpoint }

    var tallies: [(name: String, tally: LinkTally)] { paths.map { ($0.name, $0.tally) } }

    private func openPort(named prefix: String, listen: Endpoint, target: Endpoint) throws {
        var options = SocketOptions()
        options.longestDatagram = longestDatagram
        options.receiveBufferSize = 1 << 20
        let number = ports.count
        let front = try UDPSocket(on: loop, bindingTo: listen, options: options)
        let any: IPAddress = if case .v4 = target.address { .anyV4 } else { .anyV6 }
        let back = try UDPSocket(on: loop, bindingTo: Endpoint(any, port: 0), options: options)
        ports.append(Port(front: front, back: back, target: target))
        for (name, network) in [("there", configuration.there), ("back", configuration.back)] {
            let seed = configuration.seed &+ UInt64(paths.count)
            paths.append(Path(name: prefix + name, network: network, seed: seed))
        }
        front.receive { [unowned self] datagram, sender, now in
            ports[number].client = sender
            carry(datagram, on: 2 * number, to: target, at: now)
        }
        back.receive { [unowned self] datagram, sender, now in
            // Any member of a multicast group may answer.
            guard let client = ports[number].client, sender == target || target.address.isMulticast else {
                paths[2 * number + 1].tally.stray += 1
                return
            }
            carry(datagram, on: 2 * number + 1, to: client, at: now)
        }
    }

    private func carry(_ datagram: Span<UInt8>, on number: Int, to destination: Endpoint, at now: Instant) {
        if beginning == nil { begin(at: now) }
        let index = paths[number].tally.received
        paths[number].tally.received += 1
        guard let fate = paths[number].link?.fate(ofPacket: datagram.count, at: now) else { return }
        log(fate, ofPacket: index, byteCount: datagram.count, on: paths[number].name, at: now)

        var flight = Flight(path: number, destination: destination, index: index, isSecond: false, received: now)
        switch fate {
        case .lost(let reason):
            paths[number].tally.lost[reason, default: 0] += 1
        case .delivered(let time):
            send(datagram, flight, due: time, at: now)
        case .doubled(let first, let second):
            paths[number].tally.doubled += 1
            send(datagram, flight, due: first, at: now)
            flight.isSecond = true
            send(datagram, flight, due: second, at: now)
        }
        timer?.arm(at: inFlight.nextDelivery)
    }

    private func begin(at now: Instant) {
        beginning = now
        for index in paths.indices {
            paths[index].link = EmulatedLink(paths[index].network, seed: paths[index].seed, beginning: now)
        }
    }

    /// Sends a packet that is due, after all packets that were due before it. Queues a packet that is not due yet.
    private func send(_ datagram: Span<UInt8>, _ flight: Flight, due: Instant, at now: Instant) {
        if due <= now {
            sendWhatIsDue(at: due)
            transmit(datagram, flight, due: due)
        } else if !inFlight.insert(datagram, for: flight, due: due) {
            paths[flight.path].tally.overflowed += 1
        }
    }

    private func sendWhatIsDue(at now: Instant) {
        while let due = inFlight.nextDelivery, due <= now {
            var next: (address: Flight, due: Instant)?
            outgoing.removeAll(keepingCapacity: true)
            outgoing.append(addingCapacity: longestDatagram) { next = inFlight.next(due: due, into: &$0) }
            if let next { transmit(outgoing.span, next.address, due: next.due) }
        }
        timer?.arm(at: inFlight.nextDelivery)
    }

    private func transmit(_ datagram: Span<UInt8>, _ flight: Flight, due: Instant) {
        let port = ports[flight.path / 2]
        let socket = flight.path % 2 == 0 ? port.back : port.front
        switch socket.send(datagram, to: flight.destination) {
        case .sent, .queued:
            paths[flight.path].tally.countSent(
                index: flight.index, isSecond: flight.isSecond, received: flight.received, due: due, at: loop.now)
        case .failed, .closed:
            paths[flight.path].tally.refused += 1
        }
    }

    private func log(_ fate: Fate, ofPacket index: Int, byteCount: Int, on path: String, at now: Instant) {
        guard let log = configuration.log, let beginning else { return }
        let delay: (Instant) -> String = { "\(($0 - now) / .milliseconds(1)) ms" }
        let outcome =
            switch fate {
            case .lost(.chance): "lost by chance"
            case .lost(.queueFull): "dropped by the full queue"
            case .lost(.trace): "lost by the trace"
            case .delivered(let time): "delivered after \(delay(time))"
            case .doubled(let first, let second): "delivered twice, after \(delay(first)) and \(delay(second))"
            }
        log("\(path) \(index), \(byteCount) bytes at \((now - beginning) / .seconds(1)) s: \(outcome)")
    }
}

private func portAfter(_ port: UInt16) throws -> UInt16 {
    guard port < .max else {
        throw RadioError(
            .usage, "RTCP needs a port above 65535, which does not exist: choose a lower port, or write --no-rtcp")
    }
    return port + 1
}

/// The size of the receive buffer in bytes: slightly more than the longest UDP datagram.
private let longestDatagram = 65_536
