public import TenfourAudioCore
public import TenfourNetworkEmulator
internal import TenfourPackets
public import TenfourRadio
internal import TenfourSeededRandom
internal import TenfourSession

/// A link test over an emulated network with a seed, on a simulated clock: the same seed always gives the same result.
public struct SimulatedLinkTest: ~Copyable {
    private var client: LinkTestClient
    private var server: LinkTestServer
    private var there: EmulatedLink
    private var back: EmulatedLink
    private var flight = PacketsInFlight<Way>(capacity: 8_192)
    private var now = Instant.start

    /// The times at which the lost speech packets were sent; each was lost in one of the two directions.
    public private(set) var losses: [Instant] = []
    /// The time at which the first packet of speech was sent.
    public private(set) var firstSent: Instant?

    private enum Way { case there, back }

    private static let clientEndpoint = Endpoint(.v4(0xC000_0201), port: 40_000)
    private static let serverEndpoint = Endpoint(.v4(0xC000_0202), port: 5_004)

    /// Creates a test. The direction to the server uses `seed`, and the direction back uses `seed` + 1, as the tool
    /// badlink does. The host of `configuration` is ignored.
    public init(
        _ configuration: LinkTestClient.Configuration, there: NetworkModel, back: NetworkModel, seed: UInt64,
        hear: ((Span<Float>, SimulatedReceiver.Pull) -> Void)? = nil
    ) throws(RadioError) {
        var configuration = configuration
        configuration.host = Self.serverEndpoint
        var chance = SeededRandom(seed: seed)
        let identity = Identity(
            ssrc: SSRC(UInt32.random(in: 1...0x7FFF_FFFF, using: &chance)),
            firstSequenceNumber: SequenceNumber(rawValue: .random(in: 0...32_767, using: &chance)),
            firstTimestamp: RTPTimestamp(rawValue: .random(in: 0 ... .max, using: &chance)),
            seed: .random(in: 0 ... .max, using: &chance))
        let client = try LinkTestClient(configuration, identity: identity, at: .start, hear: hear)
        self.client = client
        server = LinkTestServer(using: &chance)
        self.there = EmulatedLink(there, seed: seed, beginning: .start)
        self.back = EmulatedLink(back, seed: seed &+ 1, beginning: .start)
    }

    /// Runs the test to its end.
    public mutating func run() -> LinkTestResult {
        while let deadline = client.nextDeadline {
            now = max(now, min(deadline, flight.nextDelivery ?? deadline))
            deliver()
            if let deadline = client.nextDeadline, deadline <= now { client.timeElapsed(at: now) }
            flush()
        }
        return client.result()
    }

    public var state: LinkTestClient.State { client.state }

    private mutating func deliver() {
        while true {
            var due: (address: Way, due: Instant)?
            let datagram = [UInt8](capacity: 2_048) { due = flight.next(due: now, into: &$0) }
            guard let due else { return }
            switch due.address {
            case .there:
                var isResponsive = false
                let answer = [UInt8](capacity: 2_048) {
                    isResponsive = server.receive(datagram.span, from: Self.clientEndpoint, at: now, answer: &$0)
                }
                if isResponsive { send(answer, .back) }
            case .back:
                client.receive(datagram.span, from: Self.serverEndpoint, at: now)
                flush()
            }
        }
    }

    private mutating func flush() {
        while true {
            var isThere = false
            let datagram = [UInt8](capacity: 2_048) { isThere = client.nextDatagram(into: &$0) }
            guard isThere else { return }
            send(datagram, .there)
        }
    }

    private mutating func send(_ datagram: [UInt8], _ way: Way) {
        let fate =
            way == .there ? there.fate(ofPacket: datagram.count, at: now) : back.fate(ofPacket: datagram.count, at: now)
        let isSpeech = isSpeech(datagram.span)
        if isSpeech, firstSent == nil { firstSent = now }
        switch fate {
        case .lost:
            if isSpeech { losses.append(now) }
        case .delivered(let time):
            _ = flight.insert(datagram.span, for: way, due: time)
        case .doubled(let first, let second):
            _ = flight.insert(datagram.span, for: way, due: first)
            _ = flight.insert(datagram.span, for: way, due: second)
        }
    }

    private func isSpeech(_ datagram: Span<UInt8>) -> Bool {
        datagram.count >= 2 && !RTCPCompound.isRTCP(secondByte: datagram[1])
            && (try? RTPHeader(parsing: datagram)) != nil
    }
}
