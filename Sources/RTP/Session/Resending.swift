internal import TenfourAudioCore
internal import TenfourPackets

/// Answering those who ask for packets again (RFC 4585 section 6.2.1): the original datagram, to a remote that a person typed.
///
/// What one who asks for everything, or for what was never sent, can cost at the most:
///
/// | of all receivers | 100 questions a second, 50 at once, with 1000 packets a second, 500 at once; others are counted, and that is all |
/// | each packet | sent again eight times, and to the same remote once in 0.8 round trips, but at least 10 ms |
/// | all | with the media 1.15 times the bit rate, two seconds of it at once |
extension RTPSession {
    static let answersPerSecond = 100.0
    static let mostAnswers = 50.0
    static let answeredNumbersPerSecond = 1_000.0
    static let mostAnsweredNumbers = 500.0
    /// Media and what is sent again, over the bit rate.
    static let bitRateWithResends = 1.15
    /// What is not used is saved up for so many: loss by chance comes in clusters of seconds.
    static let savedSecondsOfResends = 2.0
    /// Of that, what is there at first: loss that is there from the start is met before a report has made the sound's bits fewer.
    static let savedShareOfResends = 0.75
    private static let maximumResentCount = 8
    private static let shortestInterval = Duration.milliseconds(10)

    /// Whether what we send can be asked for again.
    var answers: Bool {
        let mode = configuration.lossProtection.mode
        return (mode == .auto || mode == .nack) && !configuration.isGroup && configuration.controlPort != .none
    }

    mutating func take(_ nack: GenericNACK, from sender: Endpoint, at now: Instant) {
        guard nack.media == ssrc, nack.sender != ssrc else { return }
        sendStream.retransmission.nackCount += 1
        guard answers, let remote = configuration.remotes.firstIndex(where: { $0.address == sender.address }),
            answerAllowance.spend(1, at: now), numberAllowance.spend(Double(nack.sequenceNumbers.count), at: now)
        else {
            sendStream.retransmission.refusedCount += nack.sequenceNumbers.count
            return
        }
        let interval = max((receivers.roundTrip(from: sender.address) ?? .zero) * 4 / 5, Self.shortestInterval)
        for number in nack.sequenceNumbers { retransmit(number, to: remote, interval, at: now) }
    }

    private mutating func retransmit(_ number: SequenceNumber, to remote: Int, _ interval: Duration, at now: Instant) {
        guard let entry = sentDatagrams.entry(number, at: now) else {
            sendStream.retransmission.unknownCount += 1
            return
        }
        let isTooSoon = entry.lastRemote == remote && entry.lastResent.map { now - $0 < interval } ?? false
        let payloadByteCount = entry.byteCount - RTPHeader.byteCount
        guard !isTooSoon, entry.retransmittedCount < Self.maximumResentCount,
            resendAllowance.spend(Double(payloadByteCount), at: now)
        else {
            sendStream.retransmission.refusedCount += 1
            return
        }
        sentDatagrams.retransmitted(number, to: remote, at: now)
        sendStream.retransmission.retransmittedCount += 1
        sendStream.retransmission.byteCount += payloadByteCount
        outbox.putRetransmission(sentDatagrams.datagram(entry), to: configuration.remotes[remote])
    }
}

/// What was sent again of our stream, and what was not. Counts since the beginning.
public struct RetransmissionCounts: Hashable, Sendable {
    /// Datagrams that asked.
    public var nackCount = 0
    /// Packets sent again, and the bytes of their payload.
    public var retransmittedCount = 0
    public var byteCount = 0
    /// Packets asked for that were never sent, or long ago.
    public var unknownCount = 0
    /// Packets asked for too soon again, too often, by strangers, or beyond what the bit rate has room for.
    public var refusedCount = 0

    public init() {}
}
