internal import TenfourAudioCore
internal import TenfourCall
internal import TenfourLinkTest
internal import TenfourPackets
internal import TenfourSession

/// Asks the station at an address that a person typed for a sign of life: with a probe, then with the link test, which
/// sends a second of silence as RTP to a station that knows neither.
///
/// Opens no socket and reads no clock. After each input, call `nextDatagram` until it returns false, and sleep until
/// `nextDeadline`; it is over when that is nil.
struct StationExchange: ~Copyable {
    let endpoint: Endpoint
    private var probe: StationProbe
    private var linkTest: LinkTestClient
    private var heardRTP = false
    private var heardOther = false
    private var reports: ReportReader
    /// The errno of the last datagram that was not sent or was answered by an ICMP error.
    private var failure: Int32?
    private let end: Instant

    /// The time after which the answers that came so far are the result, unless `init` is told a shorter one.
    static let limit = Duration.milliseconds(3_800)
    private static let mediaDuration = Duration.seconds(1)

    /// `wallClock` is that at `Instant.start`. `generator` must be unpredictable.
    init?(
        _ endpoint: Endpoint, wallClock: NTPTime, within limit: Duration = limit, at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) {
        self.endpoint = endpoint
        reports = ReportReader(wallClock: wallClock)
        probe = StationProbe(endpoint, at: now, using: &generator)
        var configuration = LinkTestClient.Configuration(
            host: endpoint, speech: [Float](repeating: 0, count: SampleRate.opus.hertz))
        configuration.duration = Self.mediaDuration
        let identity = Identity.random(wallClock: wallClock, using: &generator)
        guard let client = try? LinkTestClient(configuration, identity: identity, at: now) else { return nil }
        linkTest = client
        end = now + limit
    }

    mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        guard sender.address == endpoint.address, !isOver(at: now) else { return }
        probe.receive(datagram, from: sender, at: now)
        linkTest.receive(datagram, from: sender, at: now)
        guard probe.outcome == nil else { return }
        if datagram.count >= 2, (128...191).contains(datagram[0]) {
            heardRTP = true
            if RTCPCompound.isRTCP(secondByte: datagram[1]) { reports.read(datagram, at: now) }
        } else if !isLinkTest(datagram) {
            heardOther = true
        }
    }

    /// Records the errno of a datagram that was refused, at once or later by an ICMP error.
    mutating func sendingFailed(_ code: Int32) { failure = code }

    mutating func timeElapsed(at now: Instant) {
        if let deadline = linkTest.nextDeadline, deadline <= now { linkTest.timeElapsed(at: now) }
        if now >= end || isRefused { linkTest.stop(at: now) }
    }

    /// Appends the next datagram for `endpoint`, of at most 1500 bytes. Returns false if there is none.
    mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        // What remains to be said to the link test's other end may be said after the end.
        if probe.outcome == nil, now < end, probe.nextDatagram(into: &buffer, at: now) { return true }
        return linkTest.nextDatagram(into: &buffer)
    }

    // The compiler (Swift 6.3) takes a quarter of a minute to check a borrow of so large a struct, so these are mutating.

    mutating func isOver(at now: Instant) -> Bool {
        if case .answered = probe.outcome { return true }
        if case .over = linkTest.state { return true }
        return now >= end || isRefused
    }

    mutating func nextDeadline(at now: Instant) -> Instant? {
        if isOver(at: now) { return nil }
        return [probe.nextDeadline, linkTest.nextDeadline].reduce(end) { min($0, $1 ?? $0) }
    }

    /// Whether the machine has refused the packets, and nothing else has come.
    private var isRefused: Bool { failure.map { Reachability($0) == .refused } ?? false && !heardRTP }

    /// The result so far. `words` gives the text of an errno.
    mutating func answer(_ words: (Int32) -> String) -> OtherEndFacts.Answer {
        if case .answered(let time, let name) = probe.outcome { return .station(time, name: name) }
        switch linkTest.state {
        case .speaking(true), .waiting(true), .over(.heard): return .linkTest
        case .over(.busy): return .linkTestBusy
        case .handshake, .speaking, .waiting, .over: break
        }
        if heardRTP { return .plainRTP(name: reports.name) }
        if heardOther { return .otherProtocol }
        guard let failure else { return .silent }
        return Reachability(failure) == .refused ? .refused : .notSent(failure, words(failure))
    }

    private func isLinkTest(_ datagram: Span<UInt8>) -> Bool {
        datagram.count == 32 && datagram[0] == UInt8(ascii: "t") && datagram[1] == UInt8(ascii: "f")
    }

    /// The other end's clock less ours; nil if it is unknown.
    var difference: Duration? { reports.difference }
}
