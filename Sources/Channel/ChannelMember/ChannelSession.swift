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
        keepalive = LeaseKeepalive(
            lease: .seconds(Int(terms.lease)), isWatchful: isWatchful, token: token, at: now)
    }

    var endpoint: Endpoint { relay.endpoint }

    // MARK: - Receiving

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

    /// Whether the number of sent datagrams has reached the limit. A new session is then needed.
    func isUsedUp(_ configuration: ChannelConfiguration) -> Bool { tagger.counter >= configuration.lastHopCounter }

    mutating func send(_ record: Record, into outbox: inout DatagramQueue) {
        outbox.put(capacity: ControlPacket.maximumByteCount, to: endpoint) { sealer.seal(record, into: &$0) }
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
        _ configuration: ChannelConfiguration, at clocks: ClockReading, _ now: Instant, using generator: inout CSPRNG,
        into outbox: inout DatagramQueue
    ) -> ChannelDiscard? {
        if stream.isSentAgain(header) {
            let isSent = put(into: &outbox) { stream.write(again: header.sequenceNumber, into: &$0, at: now) }
            return isSent ? nil : .forgotten
        }
        stream.prepare(header, configuration, at: clocks, now, using: &generator)
        let count = stream.announcementCount(at: now)
        for index in 0..<count {
            guard let announcement = stream.announcement(index, of: count, configuration, at: clocks.boot) else {
                continue
            }
            _ = put(into: &outbox) {
                ControlPacket.write(announcement, into: &$0)
                return true
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
