internal import Glibc
internal import TenfourAudioCore
internal import TenfourCall
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession
internal import TenfourUV

/// Runs the exchanges with other ends over one socket, on the thread that calls `run`.
final class ExchangeLoop {
    var station: StationExchange?
    var relays: [RelayExchange] = []
    var probes: [StationProbe] = []
    /// Whether the datagram that was sent to this machine's own address has come back; nil if none was sent.
    private(set) var ownArrives: Bool?

    private let loop: EventLoop
    private let socket: UDPSocket
    private var timer: LoopTimer?
    private var failedCount = 0
    private var token: [UInt8] = []
    private var ownDeadline: Instant?
    private var bytes: [UInt8] = []

    /// The time in which a datagram to this machine itself arrives.
    private static let ownLimit = Duration.milliseconds(500)
    /// The length of a datagram that shows whether the path carries what each IPv6 network carries, less the headers.
    private static let longByteCount = NetworkFacts.usualMTU - 48

    /// Binds a socket at `port` of all addresses; 0 is any port.
    init(port: UInt16) throws(NetworkError) {
        loop = try EventLoop()
        var options = SocketOptions()
        // A datagram that is too long then comes back as an error, which tells the size that fits.
        options.neverFragments = true
        socket = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: port), options: options)
        bytes.reserveCapacity(1_500)
    }

    var now: Instant { loop.now }

    /// The port that the socket is bound to.
    var port: UInt16 { socket.localEndpoint.port }

    /// The wall clock at `Instant.start`.
    var wallClockAtStart: NTPTime {
        let (seconds, nanoseconds) = RealTimeClock.sinceEpoch
        return NTPTime(secondsSince1970: seconds, nanoseconds: nanoseconds).advanced(by: .start - now)
    }

    /// Sends a datagram to this machine's own address, and notes whether it arrives.
    func sendToOwnAddress() {
        // An address of RFC 5737, which stands for any other machine. Nothing is sent there.
        guard let own = IPAddress.v4(0xC000_0201).localSource, !own.isLoopback, !own.isUnspecified else { return }
        var generator = SystemRandomNumberGenerator()
        token = (0..<16).map { _ in .random(in: 0...63, using: &generator) }
        ownArrives = false
        ownDeadline = now + Self.ownLimit
        let token = token
        socket.send(token.span, to: Endpoint(own, port: socket.localEndpoint.port))
    }

    /// Runs until all exchanges are over.
    func run() throws(NetworkError) {
        timer = try loop.makeTimer { [unowned self] in step() }
        socket.receive { [unowned self] datagram, sender, now in
            if isToken(datagram) {
                ownArrives = true
                ownDeadline = nil
            }
            station?.receive(datagram, from: sender, at: now)
            for index in relays.indices {
                relays[index].receive(
                    datagram, from: sender, at: now, clock: WallClock(milliseconds: RealTimeClock.milliseconds))
            }
            for index in probes.indices { probes[index].receive(datagram, from: sender, at: now) }
            step()
        }
        let long = [UInt8](repeating: 0, count: Self.longByteCount)
        for endpoint in [station?.endpoint].compactMap(\.self) + relays.map(\.endpoint) {
            socket.send(long.span, to: endpoint)
        }
        step()
        loop.run()
        loop.closeAll()
    }

    private func step() {
        readFailures()
        let now = now
        station?.timeElapsed(at: now)
        while let endpoint = station?.endpoint, next({ station?.nextDatagram(into: &$0, at: now) ?? false }) {
            send(to: endpoint)
        }
        for index in relays.indices {
            while next({ relays[index].nextDatagram(into: &$0, at: now) }) { send(to: relays[index].endpoint) }
        }
        for index in probes.indices {
            while next({ probes[index].nextDatagram(into: &$0, at: now) }) { send(to: probes[index].endpoint) }
        }
        readFailures()
        if let ownDeadline, ownDeadline <= now { self.ownDeadline = nil }
        let deadlines =
            [station?.nextDeadline(at: now), ownDeadline] + relays.map { $0.nextDeadline(at: now) }
            + probes.map(\.nextDeadline)
        guard let deadline = deadlines.compactMap(\.self).min() else { return loop.stop() }
        timer?.arm(at: max(deadline, now + .milliseconds(1)))
    }

    private func next(_ take: (inout OutputSpan<UInt8>) -> Bool) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        var isThere = false
        bytes.append(addingCapacity: 1_500) { isThere = take(&$0) }
        return isThere
    }

    private func send(to endpoint: Endpoint) {
        let bytes = bytes
        socket.send(bytes.span, to: endpoint)
    }

    private func isToken(_ datagram: Span<UInt8>) -> Bool {
        guard !token.isEmpty, datagram.count == token.count else { return false }
        for index in token.indices where datagram[index] != token[index] { return false }
        return true
    }

    /// Passes new failures of the socket on. The long datagram's own (EMSGSIZE) is none.
    private func readFailures() {
        let statistics = socket.statistics
        guard statistics.failed > failedCount, let last = statistics.lastFailure else { return }
        failedCount = statistics.failed
        guard last.code != EMSGSIZE else { return }
        if station?.endpoint == last.destination { station?.sendingFailed(last.code) }
        for index in relays.indices where relays[index].endpoint == last.destination {
            relays[index].sendingFailed(last.code)
        }
    }
}
