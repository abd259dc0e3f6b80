public import TenfourCallQuality
public import TenfourPackets
public import TenfourSession

/// How a radio check went.
public struct LinkTestResult: Sendable {
    /// Packets of ours.
    public var sentCount: Int
    /// How that sounded which came back; nil where the other end only reports.
    public var quality: QualityReport?
    /// How long packets were away.
    public var roundTrip: DelaySamples?
    /// What the other end reported last.
    public var view: ReceiverView?
    /// What was done against loss in the end.
    public var lossProtection: LossProtection
    /// In bit/s.
    public var bitRate: Int
    /// What playout was allowed, so that lost packets can be asked for.
    public var maximumDepth: Duration

    /// The E-model's estimate, 1…4.5: `quality`'s of the way there and back at once where it came back, else that of the way
    /// there by what was reported.
    public var model: EModel? { quality.map { $0.whole.model } ?? view.map(model) }

    public var score: Double? { model?.score }

    /// Of packets, 0…1.
    var lossShare: Double? {
        if let quality { return quality.whole.lostShare }
        guard let view, sentCount > 0 else { return nil }
        return min(max(Double(view.lostCount) / Double(sentCount), 0), 1)
    }

    var burstLength: Double? { quality?.whole.burstLength ?? view?.burstLength }

    /// A report's own share is that of its last interval: the whole counts.
    private func model(_ view: ReceiverView) -> EModel {
        let lossShare = lossShare ?? view.lossShare
        return EModel(
            delay: (view.roundTrip ?? .zero) / 2, lossShare: lossShare,
            burstRatio: (view.burstLength ?? 1) * (1 - lossShare), missingShare: view.discardShare ?? 0,
            codec: .opus(bitRate: lossProtection.bitRate, deepShare: view.concealment == .deep ? 1 : 0))
    }
}

extension LinkTestResult {
    /// Everything, in the shape that all tools share.
    public var members: [(String, JSON)] {
        var members: [(String, JSON)] = [
            ("score", .decimal(score, places: 2)), ("rating", .decimal(model?.rating, places: 1)),
            ("sent_packets", .integer(sentCount)), ("defence", .text("\(lossProtection)")),
            ("advice", .list(advice.map { .text($0) })),
        ]
        if let roundTrip {
            members.append(
                (
                    "round_trip_ms",
                    .object([
                        ("min", milliseconds(roundTrip.quantile(0))), ("mean", milliseconds(roundTrip.mean)),
                        ("p95", milliseconds(roundTrip.quantile(0.95))), ("max", milliseconds(roundTrip.maximum)),
                    ])
                ))
        }
        if let view {
            members.append(
                (
                    "reported",
                    .object([
                        ("lost_share", .decimal(lossShare, places: 5)), ("lost", .integer(view.lostCount)),
                        ("burst_length", .decimal(view.burstLength, places: 2)),
                        ("missing_share", .decimal(view.discardShare, places: 5)),
                        ("jitter_ms", milliseconds(view.jitter)),
                        ("round_trip_ms", milliseconds(view.roundTrip)),
                    ])
                ))
        }
        return members + (quality?.members() ?? [])
    }
}

private func milliseconds(_ duration: Duration?) -> JSON { .decimal(duration.map { $0 / .milliseconds(1) }, places: 2) }
