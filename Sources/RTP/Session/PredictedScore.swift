internal import TenfourAudioCore
internal import TenfourPackets

/// Predicts the score (PESQ-WB) of speech over a stream with loss. The formula is fitted to measured scores of this
/// codec, libopus 1.3.1 and 1.5.2, over traces of independent loss and of bursts.
///
/// Accurate to a quarter of a point, and more accurate in the comparison of two loss protection schemes.
struct PredictedScore: Sendable {
    /// The share of packets that the network loses, 0…1.
    var lossShare: Double
    /// The mean number of packets lost in a row.
    var meanBurst: Double
    /// The round trip; nil if it is not known. Without it, no retransmission is expected in time.
    var roundTrip: Duration?
    /// The maximum playout delay, measured from the arrival of the fastest packet.
    var depth: Duration
    /// The duration of a packet.
    var frame: Duration
    /// The receiver's concealment of packets that stay lost.
    var concealment = PacketLossConcealment.plain

    /// The time of `depth` that recovery cannot use: the duration of one pull of the card, and the time by which the
    /// playback thread may wake late.
    private static let margin = Duration.microseconds(6_500)
    /// The maximum number of requests for one packet that the prediction takes into account.
    private static let maximumTryCount = 8
    /// The maximum length of a burst that the prediction takes into account, in packets. Longer bursts count as not
    /// recovered.
    private static let longestBurst = 32

    /// Returns the predicted score, 1…4.5.
    func score(of lossProtection: LossProtection) -> Double {
        let copies = lossProtection.inBandFEC ? [1] + lossProtection.copies : lossProtection.copies
        let retransmits = lossProtection.retransmits
        let residual = lossShare * shareMissed(copies: copies, retransmits: retransmits)
        var clean = Self.cleanScore(bitRate: Double(lossProtection.bitRate))
        var coarse = 1.0
        if lossProtection.inBandFEC {
            clean -= Self.priceOfFEC(bitRate: Double(lossProtection.bitRate))
            // Halves the effect of the coarse copies if packets are retransmitted, because some packets then arrive
            // before their coarse copy is needed.
            coarse = Self.exponential(-weightOfCoarse * (lossShare - residual) * (retransmits ? 0.5 : 1))
        }
        // Lowers the weight with the length of bursts: a packet that is lost in a burst lowers the score less than a
        // packet that is lost alone.
        let weight = weightOfLoss / max(meanBurst, 1).squareRoot().squareRoot()
        return 1 + (clean - 1) * Self.exponential(-weight * residual) * coarse
    }

    /// The weight, in the score, of packets that stay lost. It depends on the duration of a packet and on the
    /// concealment.
    private var weightOfLoss: Double {
        let weights: (plain: Double, deep: Double) =
            switch frame {
            case ..<Duration.milliseconds(5): (36, 24)
            case ..<Duration.milliseconds(10): (16, 15)
            case ..<Duration.milliseconds(20): (9, 7)
            default: (12, 8.5)
            }
        return concealment == .deep ? weights.deep : weights.plain
    }

    /// The weight, in the score, of packets of which only the coarse copy (in-band FEC) is played.
    private var weightOfCoarse: Double { concealment == .deep ? 1.4 : 2.1 }

    /// Whether data that is sent `count` packets after a packet arrives in time to replace it.
    func hasRoom(forPacketsLater count: Int) -> Bool { frame * count + Self.margin <= depth }

    /// The minimum playout delay with which one request and its retransmission arrive in time; nil if the round trip is
    /// unknown.
    var minimumRetransmissionDelay: Duration? { roundTrip.map { ArrivalTrace.shortestTail + $0 + Self.margin } }
    var allowsRetransmission: Bool { minimumRetransmissionDelay.map { $0 <= depth } ?? false }

    /// Gilbert's two-state model of packet loss, computed once for a stream.
    private struct LossProcess {
        let lossShare: Double
        /// The correlation between the losses of two consecutive packets, from 0 (none) to 1 (complete).
        let memoryOfOne: Double

        init(lossShare: Double, meanBurst: Double) {
            self.lossShare = lossShare
            let leaving = 1 / max(meanBurst, 1)
            let entering = leaving * lossShare / max(1 - lossShare, 0.01)
            memoryOfOne = min(max(1 - leaving - entering, 0), 1)
        }

        /// Returns the probability that a packet is lost, `distance` packets after a lost packet.
        func lostLater(by distance: Int) -> Double { lossShare + (1 - lossShare) * memory(of: distance) }

        /// Returns the probability that a packet is lost, `distance` packets after a packet that arrived; 0 for a
        /// distance of 0.
        func lostBehindOneThatCame(by distance: Int) -> Double { lossShare * (1 - memory(of: distance)) }

        private func memory(of distance: Int) -> Double {
            var memory = 1.0
            var distance = distance
            while distance > 0 {
                memory *= memoryOfOne
                distance -= 1
            }
            return memory
        }
    }

    /// Returns the proportion of lost packets that are neither copied in a packet that arrived nor retransmitted in
    /// time. Copies and retransmissions both fail in long bursts, so the result is a sum over the number of packets
    /// after which the burst ends.
    private func shareMissed(copies: [Int], retransmits: Bool) -> Double {
        let process = LossProcess(lossShare: lossShare, meanBurst: meanBurst)
        let lostOn = process.lostLater(by: 1)
        var share = 0.0
        var isStillLost = 1.0
        var length = 1
        while length <= Self.longestBurst {
            var missed = Self.shareOfCopiesLost(copies, burstEnd: length, process)
            if retransmits { missed *= shareNotRetransmitted(burstEnd: length, isFirst: 1 - lostOn) }
            share += isStillLost * (1 - lostOn) * missed
            isStillLost *= lostOn
            length += 1
        }
        return share + isStillLost
    }

    /// Returns the probability that all copies of a packet are lost with it, if the next packet to arrive is `burstEnd`
    /// packets later. The losses of two copies are correlated.
    private static func shareOfCopiesLost(_ copies: [Int], burstEnd: Int, _ process: LossProcess) -> Double {
        var share = 1.0
        var last = burstEnd
        var wasLost = false
        var index = 0
        while index < copies.count {
            let distance = copies[index]
            index += 1
            guard distance >= burstEnd else { continue }
            share *=
                wasLost ? process.lostLater(by: distance - last) : process.lostBehindOneThatCame(by: distance - last)
            (last, wasLost) = (distance, true)
        }
        return share
    }

    /// Returns the probability that no retransmission arrives in time. The loss of the first packet of a burst is
    /// noticed after `ArrivalTrace.shortestTail`, the loss of its other packets when the burst has ended. One request
    /// fits into each round trip after that; the NACK or the retransmission may be lost.
    private func shareNotRetransmitted(burstEnd: Int, isFirst: Double) -> Double {
        guard let roundTrip else { return 1 }
        return isFirst * shareNotRetransmitted(missedAfter: ArrivalTrace.shortestTail, roundTrip)
            + (1 - isFirst) * shareNotRetransmitted(missedAfter: frame * burstEnd, roundTrip)
    }

    private func shareNotRetransmitted(missedAfter time: Duration, _ roundTrip: Duration) -> Double {
        let failure = 1 - (1 - lossShare) * (1 - lossShare)
        let turn = Instant.nanoseconds(in: max(roundTrip, .milliseconds(1)) + NACKList.slack)
        let room = Instant.nanoseconds(in: depth - Self.margin - time + NACKList.slack)
        var tries = min(room / turn, Int64(Self.maximumTryCount))
        var share = 1.0
        while tries > 0 {
            share *= failure
            tries -= 1
        }
        return share
    }

    /// Returns the score without loss at a bit rate in bit/s, interpolated between the measured bit rates.
    static func cleanScore(bitRate: Double) -> Double {
        var before = cleanScores[0]
        for point in cleanScores {
            if bitRate < point.bitRate {
                guard point.bitRate > before.bitRate else { return before.score }
                return before.score + (point.score - before.score) * (bitRate - before.bitRate)
                    / (point.bitRate - before.bitRate)
            }
            before = point
        }
        return before.score
    }

    /// Returns the number of points by which in-band FEC lowers the score while no packet is lost. The encoder's
    /// expected loss is the smallest that turns FEC on.
    private static func priceOfFEC(bitRate: Double) -> Double {
        bitRate >= 32_000 ? 0.11 : 0.4
    }

    private static let cleanScores: [(bitRate: Double, score: Double)] = [
        (6_000, 2.2), (8_000, 2.9), (10_000, 3.4), (12_000, 3.75), (16_000, 3.95), (20_000, 4.16), (24_000, 4.27),
        (32_000, 4.38), (48_000, 4.5),
    ]

    /// Returns e to a `power` of zero or less. Divides `power` by 1024, so that three terms of the series suffice, and
    /// squares the result ten times. This module needs no libm.
    private static func exponential(_ power: Double) -> Double {
        let part = power / 1_024
        var value = 1 + part * (1 + part / 2 * (1 + part / 3))
        for _ in 0..<10 { value *= value }
        return value
    }
}
