public import TenfourAudioCore
public import TenfourJitterBuffer
public import TenfourPackets

/// How a stretch of time sounded, a second or all of it.
///
/// Shares are 0…1: those of packets of all that were sent, those of sound of all that was heard. What is not known, as when
/// nothing was heard, is nil.
public struct QualitySummary: Hashable, Sendable {
    /// RTP packets that were sent, as far as their numbers tell.
    public private(set) var expected = 0
    /// Of those, packets that did not come. Below zero in a second in which packets came that were missed before.
    public private(set) var lost = 0
    public private(set) var lossRuns = 0
    /// What became of the sound in this time; `delay`, `target` and drift as they were at its end.
    public private(set) var playout = PlayoutStatistics()
    public private(set) var jitter: Duration?
    public internal(set) var roundTrip: Duration?
    /// Whether anybody was heard, in this time or before it. Without sound there is no score.
    public internal(set) var hasSound = false
    /// The codec's bit rate before this time, in bit/s: silence does not tell it.
    var earlierBitRate: Int?
    /// What a packet held before this time.
    var earlierFrame: Duration?
    /// The codec before this time.
    var earlierEncoding: AudioEncoding?
    /// Playout behind what the fastest packet would have allowed, a sample for each time that it was looked at.
    public private(set) var delays = DelaySamples()

    public init() {}

    /// An empty summary of the time after `earlier`, of the same talkers.
    init(after earlier: Self) {
        hasSound = earlier.hasSound
        earlierBitRate = earlier.codecBitRate
        earlierFrame = earlier.packetFrame
        earlierEncoding = earlier.encoding
    }

    /// The delay beside those of the network and the jitter buffer: the duration of a packet, and the 6.5 ms that Opus looks ahead.
    /// G.711 encodes each sample alone.
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

    /// What came later.
    mutating func add(_ later: Self) {
        expected += later.expected
        lost += later.lost
        lossRuns += later.lossRuns
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
    /// Losses in a row, on average; nil where nothing was lost.
    public var burstLength: Double? { lossRuns > 0 && lost > 0 ? max(Double(lost) / Double(lossRuns), 1) : nil }

    public var concealedShare: Double? { share(playout.concealed) }
    /// Of what was concealed, the share that a neural network made up; nil where nothing was.
    public var deepShare: Double? {
        playout.concealed > .zero
            ? min(Double(playout.concealedByModel.rawValue) / Double(playout.concealed.rawValue), 1) : nil
    }
    /// By whatever brought it back.
    public var recoveredShare: Double? {
        share(playout.recovered + playout.recoveredByCopy + playout.recoveredByResend)
    }
    public var recoveredByFECShare: Double? { share(playout.recovered) }
    public var recoveredByCopyShare: Double? { share(playout.recoveredByCopy) }
    public var recoveredByResendShare: Double? { share(playout.recoveredByResend) }
    public var stretchedShare: Double? { share(playout.timeScaled) }
    /// The share that the card did not play, because it stood still or was gone.
    public var missingShare: Double? { share(playout.missing) }
    /// The mean length of the holes that the card left; nil where there was none.
    public var holeLength: Duration? { playout.holes > 0 ? playout.missing.duration() / playout.holes : nil }

    /// The codec's bit rate for speech, in bit/s; nil where it is not known.
    public var codecBitRate: Int? {
        let own = playout.coded
        return own.frameCount >= Self.enough ? own.bitRate : earlierBitRate ?? own.bitRate
    }

    /// What a packet holds; nil where it is not known.
    public var packetFrame: Duration? { playout.coded.frame ?? earlierFrame }

    /// The codec of the newest speech; Opus before the first.
    public var encoding: AudioEncoding {
        playout.coded.packetCount > 0 ? playout.coded.encoding : earlierEncoding ?? .opus
    }

    /// 200 ms of loud speech.
    private static let enough = FrameCount(9_600)

    /// The E-model's estimate, for the codec and bit rate of the speech; nil where nothing was heard.
    public var model: EModel? {
        guard hasSound, let concealedShare else { return nil }
        let network = (roundTrip ?? .zero) / 2
        let chance = 1 - (lostShare ?? 0)
        return EModel(
            delay: network + (delays.mean ?? .zero) + codingDelay, lossShare: concealedShare,
            burstRatio: (burstLength ?? 1) * chance, missingShare: missingShare ?? 0, holeLength: holeLength ?? .zero,
            codec: EModel.Codec(
                encoding, bitRate: codecBitRate ?? EModel.Codec.usualBitRate, frame: packetFrame ?? .milliseconds(20),
                deepShare: deepShare))
    }

    /// 1…4.5.
    public var score: Double? { model?.score }

    private func share(_ part: Int, of whole: Int) -> Double? {
        whole > 0 ? min(Double(part) / Double(whole), 1) : nil
    }

    private func share(_ sound: FrameCount) -> Double? { share(sound.rawValue, of: playout.due.rawValue) }
}

extension QualitySummary {
    /// `lost_share` and the others, under the names that all tools use.
    public var members: [(String, JSON)] {
        [
            ("packets", .integer(expected)), ("lost", .integer(max(lost, 0))), ("late", .integer(playout.late)),
            ("lost_share", .decimal(lostShare, places: 5)), ("burst_length", .decimal(burstLength, places: 2)),
            ("late_share", .decimal(lateShare, places: 5)),
            ("concealed_share", .decimal(concealedShare, places: 5)),
            ("deep_plc_share", .decimal(deepShare, places: 3)),
            ("missing_share", .decimal(missingShare, places: 5)), ("holes", .integer(playout.holes)),
            ("recovered_share", .decimal(recoveredShare, places: 5)),
            (
                "recovered_by",
                .object([
                    ("fec", .decimal(recoveredByFECShare, places: 5)),
                    ("copy", .decimal(recoveredByCopyShare, places: 5)),
                    ("resend", .decimal(recoveredByResendShare, places: 5)),
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
    /// Counts what has been added to `before`; what is no count is as it was last.
    mutating func add(_ now: Self, since before: Self) {
        decoded += now.decoded - before.decoded
        concealed += now.concealed - before.concealed
        concealedInHindsight += now.concealedInHindsight - before.concealedInHindsight
        concealedByModel += now.concealedByModel - before.concealedByModel
        recovered += now.recovered - before.recovered
        recoveredByCopy += now.recoveredByCopy - before.recoveredByCopy
        recoveredByResend += now.recoveredByResend - before.recoveredByResend
        timeScaled += now.timeScaled - before.timeScaled
        skipped += now.skipped - before.skipped
        unplayed += now.unplayed - before.unplayed
        holes += now.holes - before.holes
        coded.add(now.coded, since: before.coded)
        late += now.late - before.late
        duplicates += now.duplicates - before.duplicates
        discarded += now.discarded - before.discarded
        spareRecoveries += now.spareRecoveries - before.spareRecoveries
        lateRecoveries += now.lateRecoveries - before.lateRecoveries
        resyncs += now.resyncs - before.resyncs
        guard now.decoded > before.decoded else { return }
        (delay, target, driftPartsPerMillion) = (now.delay, now.target, now.driftPartsPerMillion)
    }
}
