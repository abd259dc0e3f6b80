public import TenfourCallQuality
public import TenfourJSON
public import TenfourPackets
public import TenfourSession

/// The result of a link test.
public struct LinkTestResult: Sendable {
    /// The number of packets sent.
    public var sentCount: Int
    /// The quality of the returned media; nil if the other end only sends reports.
    public var quality: QualityReport?
    /// The round-trip times of packets; nil if no packet came back.
    public var roundTrip: DelaySamples?
    /// The last report of the other end.
    public var view: ReceiverView?
    /// The loss protection of the packet sent last.
    public var lossProtection: LossProtection
    /// The bit rate of the speech at the end of the test, in bit/s.
    public var bitRate: Int
    /// The maximum to which the playout delay could be raised in order to recover lost packets.
    public var maximumDelay: Duration

    /// The E-model's estimate of the call quality: for both directions together if the media came back, or for the
    /// direction to the other end, from its reports.
    public var model: EModel? { quality.map { $0.whole.model } ?? view.map(model) }

    public var score: Double? { model?.score }

    /// The fraction of the packets that were lost, 0…1; nil if nothing came back.
    var lossShare: Double? {
        if let quality { return quality.whole.lostShare }
        guard let view, sentCount > 0 else { return nil }
        return min(max(Double(view.lostCount) / Double(sentCount), 0), 1)
    }

    var burstLength: Double? { quality?.whole.burstLength ?? view?.burstLength }

    /// Returns the E-model for a report, with the loss of the whole test, because the fraction in a report covers the
    /// report's last interval only.
    private func model(_ view: ReceiverView) -> EModel {
        let lossShare = lossShare ?? view.lossShare
        return EModel(
            delay: (view.roundTrip ?? .zero) / 2, lossShare: lossShare,
            burstRatio: (view.burstLength ?? 1) * (1 - lossShare), missingShare: view.discardShare ?? 0,
            codec: .opus(bitRate: lossProtection.bitRate, deepShare: view.concealment == .deep ? 1 : 0))
    }
}

extension LinkTestResult {
    /// All values, in the JSON form that all tools share.
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
