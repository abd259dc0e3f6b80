internal import Sound

/// How a stream is going to sound under loss: a small model of what speech scored (PESQ-WB) with this codec in 20 ms frames,
/// over traces of independent loss and of bursts.
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

    /// What a pull and a late thread take of the depth.
    static let margin = Duration.milliseconds(10)
    /// How many tries are worth counting.
    private static let maximumTryCount = 8

    /// 1…4.5.
    func score(of defence: Defence) -> Double {
        var residual = lossShare * shareLostAgain(behind: defence.copies)
        if defence.resends { residual *= shareNotAnswered }
        var clean = Self.cleanScore(bitRate: Double(defence.bitRate))
        var coarse = 1.0
        if defence.inBandFEC {
            residual *= shareLostAgain(behind: [1])
            clean -= Self.priceOfFEC(bitRate: Double(defence.bitRate))
            // Where packets are sent again as well, some of them come before the coarse copy has to do.
            coarse = Self.exponential(-2.1 * (lossShare - residual) * (defence.resends ? 0.5 : 1))
        }
        return 1 + (clean - 1) * Self.exponential(-12 * residual) * coarse
    }

    /// Whether what is sent so many packets later is there when it is needed.
    func hasRoom(forPacketsLater count: Int) -> Bool { frame * count + Self.margin <= depth }

    /// Whether the first question can be answered in time.
    var hasRoomForQuestion: Bool { roundTrip.map { frame + $0 + Self.margin <= depth } ?? false }

    /// Of the packets that are lost: all their copies are lost, too. The chain forgets: what is lost at one distance tells about
    /// the next.
    private func shareLostAgain(behind copies: [Int]) -> Double {
        var share = 1.0
        var last = 0
        for distance in copies {
            share *= lostLater(by: distance - last)
            last = distance
        }
        return share
    }

    /// How likely a packet is lost so many behind a lost one (Gilbert's two states).
    private func lostLater(by distance: Int) -> Double {
        var memory = 1.0
        for _ in 0..<distance { memory *= memoryOfOne }
        return lossShare + (1 - lossShare) * memory
    }

    private var memoryOfOne: Double {
        let leaving = 1 / max(meanBurst, 1)
        let entering = leaving * lossShare / max(1 - lossShare, 0.01)
        return min(max(1 - leaving - entering, 0), 1)
    }

    /// Of the packets that are lost: not there in time though asked for. A loss is seen when the burst has ended; then each
    /// round trip is a try, and in each both question and answer may be lost.
    var shareNotAnswered: Double {
        guard let roundTrip else { return 1 }
        let failure = 1 - (1 - lossShare) * (1 - lossShare)
        let lostOn = lostLater(by: 1)
        var share = 0.0
        var isStillLost = 1.0
        for length in 1...32 {
            let room = depth - frame * length - Self.margin
            var missed = 1.0
            if room > .zero {
                let tryCount = Int(min(room / max(roundTrip, .milliseconds(1)), Double(Self.maximumTryCount)))
                for _ in 0..<tryCount { missed *= failure }
            }
            share += isStillLost * (1 - lostOn) * missed
            isStillLost *= lostOn
        }
        return share + isStillLost
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
