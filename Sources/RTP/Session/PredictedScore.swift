internal import TenfourAudioCore
internal import TenfourPackets

/// How a stream is going to sound under loss: a small model of what speech scored (PESQ-WB) with this codec, libopus 1.3.1 and
/// 1.5.2, over traces of independent loss and of bursts.
///
/// Good to a quarter of a point, and better than that in telling which of two defences is the better one.
struct PredictedScore: Sendable {
    /// Of the packets, 0…1; lost for `meanBurst` in a row on average.
    var lossShare: Double
    var meanBurst: Double
    /// There and back; nil where it is not known, and a question is not worth waiting for.
    var roundTrip: Duration?
    /// How far behind the fastest packet playout may lie.
    var depth: Duration
    var frame: Duration
    /// How the receiver makes up what stays lost.
    var concealment = PacketLossConcealment.plain

    /// What a pull and a late thread take of the depth.
    private static let margin = Duration.microseconds(6_500)
    /// How many tries are worth counting.
    private static let maximumTryCount = 8
    /// In packets.
    private static let longestBurst = 32

    /// 1…4.5.
    func score(of lossProtection: LossProtection) -> Double {
        let copies = lossProtection.inBandFEC ? [1] + lossProtection.copies : lossProtection.copies
        let retransmits = lossProtection.retransmits
        let residual = lossShare * shareMissed(copies: copies, retransmits: retransmits)
        var clean = Self.cleanScore(bitRate: Double(lossProtection.bitRate))
        var coarse = 1.0
        if lossProtection.inBandFEC {
            clean -= Self.priceOfFEC(bitRate: Double(lossProtection.bitRate))
            // Where packets are sent again as well, some of them come before the coarse copy has to do.
            coarse = Self.exponential(-weightOfCoarse * (lossShare - residual) * (retransmits ? 0.5 : 1))
        }
        // Of packets lost together each is missed less than one by itself.
        let weight = weightOfLoss / max(meanBurst, 1).squareRoot().squareRoot()
        return 1 + (clean - 1) * Self.exponential(-weight * residual) * coarse
    }

    /// What a share of packets that stay lost costs, by what a packet holds.
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

    /// What a share of packets costs of which the coarse copy is played.
    private var weightOfCoarse: Double { concealment == .deep ? 1.4 : 2.1 }

    /// Whether what is sent so many packets later is there when it is needed.
    func hasRoom(forPacketsLater count: Int) -> Bool { frame * count + Self.margin <= depth }

    /// What the first question and its answer take; nil where the round trip is not known.
    var minimumRetransmissionDelay: Duration? { roundTrip.map { ArrivalTrace.shortestTail + $0 + Self.margin } }
    var allowsRetransmission: Bool { minimumRetransmissionDelay.map { $0 <= depth } ?? false }

    /// Gilbert's two states, in a form that is computed once for a stream.
    private struct LossProcess {
        let lossShare: Double
        /// How much the fate of one packet tells about that of the next: 1 all, 0 nothing.
        let memoryOfOne: Double

        init(lossShare: Double, meanBurst: Double) {
            self.lossShare = lossShare
            let leaving = 1 / max(meanBurst, 1)
            let entering = leaving * lossShare / max(1 - lossShare, 0.01)
            memoryOfOne = min(max(1 - leaving - entering, 0), 1)
        }

        /// The probability that a packet is lost, `distance` packets behind a lost one.
        func lostLater(by distance: Int) -> Double { lossShare + (1 - lossShare) * memory(of: distance) }

        /// The probability that a packet is lost, `distance` packets behind one that came: 0 where it is the same.
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

    /// The share of lost packets that are neither copied in a packet that came nor retransmitted in time. Both fail in long bursts, so
    /// the sum is over the number of packets after which the burst ends.
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

    /// The loss of one copy tells about the loss of the next.
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

    /// The first packet of a burst is missed at once, the others when the burst has ended. Then each round trip is a try, in which the
    /// NACK or the retransmission may be lost.
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

    /// In bit/s; what lies between the rates that were measured is interpolated.
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

    /// What the coarser copies cost, with the least `expectedLoss` that turns them on.
    private static func priceOfFEC(bitRate: Double) -> Double {
        bitRate >= 32_000 ? 0.11 : 0.4
    }

    private static let cleanScores: [(bitRate: Double, score: Double)] = [
        (6_000, 2.2), (8_000, 2.9), (10_000, 3.4), (12_000, 3.75), (16_000, 3.95), (20_000, 4.16), (24_000, 4.27),
        (32_000, 4.38), (48_000, 4.5),
    ]

    /// e to a power of zero or less, by halving the power until three terms of the series will do: the room needs no libm.
    private static func exponential(_ power: Double) -> Double {
        let part = power / 1_024
        var value = 1 + part * (1 + part / 2 * (1 + part / 3))
        for _ in 0..<10 { value *= value }
        return value
    }
}
