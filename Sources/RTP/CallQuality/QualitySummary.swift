public import TenfourAudioCore
public import TenfourJSON
public import TenfourJitterBuffer
public import TenfourPackets

/// The quality of the received audio in one second, or in the whole time.
///
/// A property named `…Share` is a proportion, 0…1: of the packets that were sent, or of the audio that was due. Unknown
/// values are nil, for example when nothing was heard.
public struct QualitySummary: Hashable, Sendable {
    /// The number of RTP packets that were sent, according to their sequence numbers.
    public private(set) var expected = 0
    /// The number of expected packets that did not arrive. It is negative in a second in which packets arrived that had
    /// counted as lost before.
    public private(set) var lost = 0
    /// The number of bursts of loss. `lost` divided by this number is the mean number of packets lost in a row.
    public private(set) var lossRuns = 0
    /// The playout statistics of the summarised period. But `delay`, `target` and the drift are the values at the end
    /// of the period.
    public private(set) var playout = PlayoutStatistics()
    /// The time in which a talker was transmitting and nothing arrived. The times of several talkers are added up.
    public private(set) var outage = Duration.zero
    /// The number of outages that began in the summarised period.
    public private(set) var outageCount = 0
    /// The interarrival jitter at the end of the summarised period (RFC 3550 section 6.4.1); nil if it is not known.
    public private(set) var jitter: Duration?
    /// The network's round-trip time at the end of the summarised period; nil if it is not known.
    public internal(set) var roundTrip: Duration?
    /// Whether any talker was heard up to the end of the summarised period. Without audio there is no score.
    public internal(set) var hasSound = false
    /// The codec's bit rate before the summarised period, in bit/s. It is used if the period contains too little speech
    /// to measure the bit rate.
    var earlierBitRate: Int?
    /// The mean duration of a packet before the summarised period; nil if it is not known.
    var earlierFrame: Duration?
    /// The codec of the packets that were received before the summarised period.
    var earlierEncoding: AudioEncoding?
    /// Samples of the playout delay, measured from the arrival of the fastest packet.
    public private(set) var delays = DelaySamples()

    public init() {}

    /// Creates an empty summary for the period after `earlier`, of the same talkers.
    init(after earlier: Self) {
        hasSound = earlier.hasSound
        earlierBitRate = earlier.codecBitRate
        earlierFrame = earlier.packetFrame
        earlierEncoding = earlier.encoding
    }

    /// The delay of the codec: the duration of a packet, and with Opus 6.5 ms more for its look-ahead. G.711 encodes
    /// each sample alone, so it has no look-ahead.
    var codingDelay: Duration {
        (packetFrame ?? .milliseconds(20)) + (encoding == .opus ? .microseconds(6_500) : .zero)
    }

    mutating func add(_ counts: QualityCounts, since before: QualityCounts) {
        expected += counts.expected - before.expected
        lost += counts.lost - before.lost
        lossRuns += max(counts.lossRuns - before.lossRuns, 0)
        jitter = counts.jitter
        roundTrip = counts.roundTrip ?? roundTrip
        playout.add(counts.playout, since: before.playout)
    }

    mutating func add(_ delay: Duration) { delays.add(delay) }

    /// Adds a part of an outage, which begins with this part if it `isFirst`.
    mutating func add(outage: Duration, isFirst: Bool) {
        self.outage += outage
        if isFirst { outageCount += 1 }
    }

    /// Adds the summary of a later period.
    mutating func add(_ later: Self) {
        expected += later.expected
        lost += later.lost
        lossRuns += later.lossRuns
        outage += later.outage
        outageCount += later.outageCount
        jitter = later.jitter ?? jitter
        roundTrip = later.roundTrip ?? roundTrip
        hasSound = hasSound || later.hasSound
        earlierBitRate = earlierBitRate ?? later.earlierBitRate
        earlierFrame = earlierFrame ?? later.earlierFrame
        earlierEncoding = earlierEncoding ?? later.earlierEncoding
        playout.add(later.playout, since: PlayoutStatistics())
        delays.add(later.delays)
    }
}

extension QualitySummary {
    public var lostShare: Double? { share(max(lost, 0), of: expected) }
    public var lateShare: Double? { share(playout.late, of: expected) }
    /// The mean number of packets lost in a row; nil without loss.
    public var burstLength: Double? { lossRuns > 0 && lost > 0 ? max(Double(lost) / Double(lossRuns), 1) : nil }

    public var concealedShare: Double? { share(playout.concealed) }
    /// The share of the concealed audio that a neural network generated; nil if no audio was concealed.
    public var deepShare: Double? {
        playout.concealed > .zero
            ? min(Double(playout.concealedByModel.rawValue) / Double(playout.concealed.rawValue), 1) : nil
    }
    /// The proportion of the due audio that was recovered by FEC, copies or retransmission.
    public var recoveredShare: Double? {
        share(playout.recovered + playout.recoveredByCopy + playout.recoveredByRetransmission)
    }
    public var recoveredByFECShare: Double? { share(playout.recovered) }
    public var recoveredByCopyShare: Double? { share(playout.recoveredByCopy) }
    public var recoveredByRetransmissionShare: Double? { share(playout.recoveredByRetransmission) }
    /// The proportion of the arrived and due audio that was dropped, because it arrived faster than real time or did not
    /// fit the stream.
    public var droppedShare: Double? {
        share(playout.dropped.rawValue, of: (playout.due + playout.dropped).rawValue)
    }
    public var stretchedShare: Double? { share(playout.timeScaled) }
    /// The proportion of the due audio that the card did not play, because the card stood still or was lost.
    public var unplayedShare: Double? { share(playout.missing) }
    /// The proportion of the audio that was due and that nothing replaced: the card stood still or was lost, or nothing
    /// arrived from a talker that was transmitting.
    public var missingShare: Double? {
        let due = playout.due.duration() + outage
        return due > .zero ? min((playout.missing.duration() + outage) / due, 1) : nil
    }
    /// The mean length of these dropouts; nil without dropouts.
    public var holeLength: Duration? {
        let count = playout.holes + outageCount
        return count > 0 ? (playout.missing.duration() + outage) / count : nil
    }

    /// The codec's bit rate for speech, in bit/s; nil if it is not known.
    public var codecBitRate: Int? {
        let own = playout.coded
        return own.frameCount >= Self.enough ? own.bitRate : earlierBitRate ?? own.bitRate
    }

    /// The duration of a packet; nil if it is not known.
    public var packetFrame: Duration? { playout.coded.frame ?? earlierFrame }

    /// The codec of the speech received last; Opus if no speech was received yet.
    public var encoding: AudioEncoding {
        playout.coded.packetCount > 0 ? playout.coded.encoding : earlierEncoding ?? .opus
    }

    /// The duration of loud speech that is needed to compute the bit rate: 200 ms. With less speech, `earlierBitRate`
    /// is used.
    private static let enough = FrameCount(9_600)

    /// The E-model with the measured delay and loss, and the codec of the received speech; nil if nothing was heard and
    /// nobody was transmitting.
    public var model: EModel? {
        guard outage > .zero || hasSound && playout.due > .zero else { return nil }
        let concealedShare = concealedShare ?? 0
        let dropped = droppedShare ?? 0
        let network = (roundTrip ?? .zero) / 2
        let chance = 1 - (lostShare ?? 0)
        return EModel(
            delay: network + (delays.mean ?? .zero) + codingDelay, lossShare: concealedShare * (1 - dropped) + dropped,
            burstRatio: (burstLength ?? 1) * chance, missingShare: missingShare ?? 0, holeLength: holeLength ?? .zero,
            codec: EModel.Codec(
                encoding, bitRate: codecBitRate ?? EModel.Codec.usualBitRate, frame: packetFrame ?? .milliseconds(20),
                deepShare: deepShare))
    }

    /// The score of the E-model, from 1 to `EModel.bestScore`; nil if nothing was heard and nobody was transmitting.
    public var score: Double? { model?.score }

    private func share(_ part: Int, of whole: Int) -> Double? {
        whole > 0 ? min(Double(part) / Double(whole), 1) : nil
    }

    private func share(_ sound: FrameCount) -> Double? { share(sound.rawValue, of: playout.due.rawValue) }
}

extension QualitySummary {
    /// The JSON members, such as `lost_share`, with the names that all tools use.
    public var members: [(String, JSON)] {
        [
            ("packets", .integer(expected)), ("lost", .integer(max(lost, 0))), ("late", .integer(playout.late)),
            ("lost_share", .decimal(lostShare, places: 5)), ("burst_length", .decimal(burstLength, places: 2)),
            ("late_share", .decimal(lateShare, places: 5)),
            ("concealed_share", .decimal(concealedShare, places: 5)),
            ("deep_plc_share", .decimal(deepShare, places: 3)),
            ("dropped_ms", milliseconds(playout.dropped.duration())),
            ("dropped_share", .decimal(droppedShare, places: 5)),
            ("outage_ms", .decimal(outage / .milliseconds(1), places: 0)),
            ("missing_share", .decimal(missingShare, places: 5)), ("holes", .integer(playout.holes + outageCount)),
            ("recovered_share", .decimal(recoveredShare, places: 5)),
            (
                "recovered_by",
                .object([
                    ("fec", .decimal(recoveredByFECShare, places: 5)),
                    ("copy", .decimal(recoveredByCopyShare, places: 5)),
                    ("resend", .decimal(recoveredByRetransmissionShare, places: 5)),
                ])
            ),
            ("stretched_share", .decimal(stretchedShare, places: 5)),
            ("resyncs", .integer(playout.resyncs)),
            (
                "delay_ms",
                .object([
                    ("mean", milliseconds(delays.mean)), ("p95", milliseconds(delays.quantile(0.95))),
                    ("max", milliseconds(delays.maximum)),
                ])
            ),
            ("target_ms", playout.due > .zero ? milliseconds(playout.target.duration()) : .null),
            ("jitter_ms", milliseconds(jitter)), ("round_trip_ms", milliseconds(roundTrip)),
            ("codec_kbit_s", .decimal(playout.coded.bitRate.map { Double($0) / 1_000 }, places: 1)),
            ("drift_ppm", playout.due > .zero ? .decimal(Double(playout.driftPartsPerMillion), places: 1) : .null),
            ("score", .decimal(score, places: 2)), ("rating", .decimal(model?.rating, places: 1)),
        ]
    }

    public var json: JSON { .object(members) }
}

func milliseconds(_ duration: Duration?) -> JSON { .decimal(duration.map { $0 / .milliseconds(1) }, places: 2) }

extension PlayoutStatistics {
    /// Adds the counts of `now` less those of `before`, earlier statistics of the same talker. Values that are not
    /// counts are taken from `now`.
    mutating func add(_ now: Self, since before: Self) {
        decoded += now.decoded - before.decoded
        concealed += now.concealed - before.concealed
        concealedInHindsight += now.concealedInHindsight - before.concealedInHindsight
        concealedByModel += now.concealedByModel - before.concealedByModel
        recovered += now.recovered - before.recovered
        recoveredByCopy += now.recoveredByCopy - before.recoveredByCopy
        recoveredByRetransmission += now.recoveredByRetransmission - before.recoveredByRetransmission
        timeScaled += now.timeScaled - before.timeScaled
        skipped += now.skipped - before.skipped
        unplayed += now.unplayed - before.unplayed
        holes += now.holes - before.holes
        coded.add(now.coded, since: before.coded)
        late += now.late - before.late
        duplicates += now.duplicates - before.duplicates
        discarded += now.discarded - before.discarded
        dropped += now.dropped - before.dropped
        spareRecoveries += now.spareRecoveries - before.spareRecoveries
        lateRecoveries += now.lateRecoveries - before.lateRecoveries
        resyncs += now.resyncs - before.resyncs
        guard now.decoded > before.decoded else { return }
        (delay, target, driftPartsPerMillion) = (now.delay, now.target, now.driftPartsPerMillion)
    }
}
