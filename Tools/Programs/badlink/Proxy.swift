import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourRadio
import TenfourSession
import TenfourUV

/// Carries datagrams between clients and a target through links that lose and delay them.
///
/// Whatever comes to a front socket goes to the target; what the target sends back goes to the client heard last on that port.
/// A packet that is due when it arrives is sent on at once; others wait in one queue and one timer.
final class Proxy {
    struct Configuration {
        /// Of the RTP port; RTCP is carried on the port after each of these.
        var listen: Endpoint
        var target: Endpoint
        var carriesRTCP = true
        var there: NetworkModel
        var back: NetworkModel
        var seed: UInt64
        /// Is given a line for the fate of each packet.
        var log: ((String) -> Void)?
    }

    /// One direction of one port.
    private struct Path {
        var name: String
        var network: NetworkModel
        var seed: UInt64
        /// Made with the first packet of any path, so that all links begin together.
        var link: EmulatedLink?
        var tally = LinkTally()
    }

    /// A port: a socket that clients send to and one that the target answers to.
    private struct Port {
        var front: UDPSocket
        var back: UDPSocket
        var target: Endpoint
        var client: Endpoint?
    }

    /// Where a packet in flight goes, and what its tally wants to know.
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
    /// There and back of the first port, then of the second. Their seeds follow each other.
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

    /// Where clients send to.
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
            // Of a group anyone may answer.
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

    /// Now, after those that are due before it, or when it is due.
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
            case .lost(.queueFull): "lost to the full queue"
            case .lost(.trace): "lost by the trace"
            case .delivered(let time): "comes after \(delay(time))"
            case .doubled(let first, let second): "comes after \(delay(first)) and \(delay(second))"
            }
        log("\(path) \(index), \(byteCount) bytes at \((now - beginning) / .seconds(1)) s: \(outcome)")
    }
}

private func portAfter(_ port: UInt16) throws -> UInt16 {
    guard port < .max else {
        throw RadioError(.usage, "no port comes after 65535 for RTCP: choose a lower one, or give --no-rtcp")
    }
    return port + 1
}

/// What UDP can carry, and a little more.
private let longestDatagram = 65_536
