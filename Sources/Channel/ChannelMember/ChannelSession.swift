internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourSession

/// A member's session with its relay, from WELCOME to its end: keys, counters, lease.
struct ChannelSession: Sendable {
    let number: UInt64
    let relay: RelayCandidate
    /// Our address and port, as the relay sees them.
    var seen: PeerAddress
    private var sealer: RecordSealer
    private var opener: RecordOpener
    private var tagger: HopTagger
    /// Checks the ends of forwarded packets; nil if the relay's packets have no trailers.
    private var trailers: TrailerChecker?
    /// The trailers of our session before this one at the same relay, and the time until which packets of it may arrive.
    private var former: (trailers: TrailerChecker, end: Instant)?
    var keepalive: LeaseKeepalive
    /// The number in the relay's last answer to a renewal. Our requests return it, which proves that we receive at our
    /// address.
    var receipt: UInt64 = 0
    /// The rate limits that the relay has reported for our stream; nil if the relay has reported none.
    var limits: TalkerLimits?

    /// `isWatchful` states whether the relay is probed whenever it is silent, because there are others.
    init(
        _ keys: SessionKeys, _ terms: Welcome.Terms, at relay: RelayCandidate, isWatchful: Bool, token: UInt64,
        _ now: Instant
    ) {
        number = keys.session
        self.relay = relay
        seen = terms.address
        sealer = keys.sealer(for: .member)
        opener = keys.opener(for: .member)
        tagger = keys.hopTagger(for: .member)
        trailers = terms.hasTrailers ? keys.trailerKey.map { TrailerChecker($0) } : nil
        keepalive = LeaseKeepalive(
            lease: terms.leaseDuration, isWatchful: isWatchful, token: token, at: now)
    }

    var endpoint: Endpoint { relay.endpoint }

    // MARK: - Receiving

    /// The time for which packets of the former session are accepted: until our first record has arrived at the relay, it
    /// sends them in that session.
    private static let formerPatience = Duration.seconds(2)

    /// Takes over the trailers of `session`, in whose place this one comes, if both are at the same relay.
    mutating func follow(_ session: ChannelSession?, at now: Instant) {
        guard let session, session.endpoint == endpoint, let trailers = session.trailers else { return }
        former = (trailers, now + Self.formerPatience)
    }

    /// Checks and removes the trailer of a datagram: returns the number of bytes before it. Returns all bytes of a datagram
    /// that needs no trailer, and the reason to discard one without a right trailer.
    mutating func trailerStart(in datagram: Span<UInt8>, at now: Instant) -> Result<Int, TrailerChecker.Failure> {
        guard trailers != nil, RelayTrailer.isDue(datagram) else { return .success(datagram.count) }
        if let end = former?.end, end <= now { former = nil }
        do throws(TrailerChecker.Failure) {
            guard let count = try trailers?.check(datagram) else { return .failure(.forged) }
            return .success(count)
        } catch {
            guard error == .forged else { return .failure(error) }
        }
        do throws(TrailerChecker.Failure) {
            guard let count = try former?.trailers.check(datagram) else { return .failure(.forged) }
            return .success(count)
        } catch {
            return .failure(error)
        }
    }

    /// Decrypts the record in the first `count` bytes of `bytes`, in place.
    mutating func receive(
        _ bytes: inout [UInt8], count: Int, at now: Instant
    ) -> Result<Record, RecordOpener.Failure> {
        var span = bytes.mutableSpan
        var sealed = span._mutatingExtracting(..<count)
        do throws(RecordOpener.Failure) {
            let record = try opener.open(&sealed)
            keepalive.recordReceived(at: now)
            return .success(record)
        } catch {
            return .failure(error)
        }
    }

    // MARK: - Sending

    /// Whether the number of datagrams with hop tags, or of received trailers, has reached the limit. A new session is then
    /// needed.
    func isUsedUp(_ configuration: ChannelConfiguration) -> Bool {
        tagger.counter >= configuration.lastHopCounter
            || trailers?.highest ?? 0 >= configuration.lastTrailerCounter
    }

    mutating func send(_ record: Record, into outbox: inout DatagramQueue) {
        outbox.put(capacity: ControlPacket.maximumByteCount, to: endpoint) { sealer.seal(record, into: &$0) }
    }

    /// Sends a record of a managed channel; `content` is its type and body.
    mutating func send(managed content: [UInt8], into outbox: inout DatagramQueue) {
        outbox.put(capacity: ControlPacket.maximumByteCount, to: endpoint) {
            sealer.seal(managed: content.span, into: &$0)
        }
    }

    /// Sends RTCP in a report record. Returns the reason if the RTCP is not sent.
    mutating func send(report: Span<UInt8>, into outbox: inout DatagramQueue) -> ChannelDiscard? {
        guard report.count >= 8, report.count <= Record.maximumReportByteCount else { return .unsendable }
        outbox.put(capacity: ControlPacket.maximumByteCount, to: endpoint) { sealer.seal(report: report, into: &$0) }
        return nil
    }

    /// Sends a packet of our stream, and before it the announcements that are due. Returns the reason if it is not
    /// sent.
    mutating func send(
        _ header: RTPHeader, _ packet: Span<UInt8>, of stream: inout ProtectedSendStream,
        _ configuration: ChannelConfiguration, _ keys: StreamKeys, at clocks: ClockReading, _ now: Instant,
        using generator: inout CSPRNG, into outbox: inout DatagramQueue
    ) -> ChannelDiscard? {
        if stream.isSentAgain(header) {
            let isSent = put(into: &outbox) { stream.write(again: header.sequenceNumber, into: &$0, at: now) }
            return isSent ? nil : .forgotten
        }
        stream.prepare(header, configuration, keys, at: clocks, now, using: &generator)
        let count = stream.announcementCount(at: now)
        for index in 0..<count {
            _ = put(into: &outbox) {
                stream.announce(index, of: count, configuration.suite, keys, at: clocks.boot, into: &$0)
            }
        }
        let isSent = put(into: &outbox) { stream.seal(header, packet, configuration, into: &$0, at: now) }
        keepalive.talkContinues(at: now)
        return isSent ? nil : .unsendable
    }

    /// Puts the datagram that `write` writes into `outbox`, with a hop tag. Returns false, and puts nothing, if `write`
    /// returns false or the hop counter is used up.
    private mutating func put(
        into outbox: inout DatagramQueue, _ write: (inout OutputSpan<UInt8>) -> Bool
    ) -> Bool {
        var isGood = false
        outbox.put(capacity: Channel.maximumDatagramByteCount, to: endpoint) {
            isGood = write(&$0) && tagger.tag(&$0)
            if !isGood { $0.removeAll() }
        }
        return isGood
    }
}
