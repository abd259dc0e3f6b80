internal import TenfourAudioCore

/// Chooses a defence by predicted score, and changes its mind slowly enough to be followed.
///
/// Loss is answered with the first report of it; what is then clearly better replaces it after three seconds, and nothing at
/// all does when reports have told for one that nothing was lost in the five before, or none has come for fifteen: longer
/// for those who report seldom.
struct LossProtectionSelector: Sendable {
    private(set) var lossProtection: LossProtection
    private var lastChange: Instant?
    private var lastLoss: Instant?

    /// What the receivers are like, and what is left of the bits.
    struct Situation {
        var prediction: PredictedScore
        /// Of all payload, in bit/s.
        var bitRate: Int
        /// What may be chosen from: whether the receivers take copies, and answer nothing or ask.
        var takesCopies: Bool
        var asks: Bool
        var hasInBandFEC: Bool
        /// Whether copies go out even where nothing is lost.
        var alwaysCopies = false
        /// Of the bits that are left for the sound beside its copies, what the encoder is told: it may take a little more.
        var encoderShare = 1.0
        /// Between two reports of the receiver that reports least often, of late.
        var reportInterval = Duration.zero
    }

    /// A change between two defences has to promise so much, and comes so long after the last one at the earliest.
    private static let worthChanging = 0.12
    /// Unless it promises as much as this: something was learned, such as the round trip.
    private static let worthHurrying = 0.3
    private static let shortestStay = Duration.seconds(3)
    /// How long a defence stays up where reports tell of no loss, and where they do not come.
    private static let patience = Duration.seconds(1)
    private static let patienceInSilence = Duration.seconds(15)
    /// Where reports are seldom, one of them may be lost.
    private static let patienceInIntervals = 2
    /// Of the score: what 100 ms of depth must gain, so that of two equal ones the one with less delay is taken.
    private static let priceOfDepth = 0.02

    init(_ lossProtection: LossProtection) { self.lossProtection = lossProtection }

    /// `isFresh` where the loss of the situation has just been reported. Returns whether the defence is another one.
    mutating func update(_ situation: Situation, isFresh: Bool, at now: Instant) -> Bool {
        let before = lossProtection
        if isFresh, situation.prediction.lossShare > 0 {
            lastLoss = now
            weigh(situation, at: now)
        } else if lastLoss.map({ now - $0 >= patience(situation, isFresh) }) ?? true {
            take(Self.unprotected(situation), at: now)
        } else {
            // One that receivers do not take any more is worse than none.
            take(Self.fitted(lossProtection, situation) ?? Self.unprotected(situation), at: now)
        }
        return lossProtection != before
    }

    /// How long after loss was told of a defence stays up.
    private func patience(_ situation: Situation, _ isFresh: Bool) -> Duration {
        isFresh
            ? Self.patience : max(Self.patienceInSilence, situation.reportInterval * Self.patienceInIntervals)
    }

    /// All that can be chosen from, with the bits they leave for the sound. `none` comes first.
    static func candidates(_ situation: Situation) -> [LossProtection] {
        var schemes = [LossProtection(bitRate: 0)]
        if situation.hasInBandFEC { schemes.append(LossProtection(inBandFEC: true, bitRate: 0)) }
        if situation.takesCopies {
            let distances = situation.prediction.lossShare < 0.2 ? [[1], [2], [3]] : [[1], [2], [3], [1, 3]]
            schemes += distances.map { LossProtection(copies: $0, bitRate: 0) }
        }
        if situation.alwaysCopies, situation.takesCopies { schemes.removeAll { $0.copies.isEmpty } }
        if situation.asks, situation.prediction.allowsRetransmission {
            schemes += schemes.map { scheme in
                var scheme = scheme
                scheme.retransmits = true
                return scheme
            }
        }
        return schemes.compactMap { fitted($0, situation) }
    }

    private mutating func weigh(_ situation: Situation, at now: Instant) {
        let candidates = Self.candidates(situation)
        guard var best = candidates.first else { return }
        for candidate in candidates where Self.worth(candidate, situation) > Self.worth(best, situation) {
            best = candidate
        }
        let current = Self.fitted(lossProtection, situation)
        let gain = current.map { Self.worth(best, situation) - Self.worth($0, situation) } ?? .infinity
        let hasStayed = lastChange.map { now - $0 >= Self.shortestStay } ?? true
        let mayChange = hasStayed || lossProtection.isNone || gain >= Self.worthHurrying
        if let current, current.isSameScheme(as: best) || gain < Self.worthChanging || !mayChange {
            lossProtection = current
        } else {
            take(best, at: now)
        }
    }

    private mutating func take(_ other: LossProtection, at now: Instant) {
        if !other.isSameScheme(as: lossProtection) { lastChange = now }
        lossProtection = other
    }

    /// Where nothing is lost.
    private static func unprotected(_ situation: Situation) -> LossProtection {
        let copies = situation.alwaysCopies && situation.takesCopies ? [1] : []
        return fitted(LossProtection(copies: copies, bitRate: 0), situation)
            ?? LossProtection(bitRate: situation.bitRate)
    }

    /// The same scheme with the bits that the situation leaves it; nil where it cannot be.
    private static func fitted(_ scheme: LossProtection, _ situation: Situation) -> LossProtection? {
        let prediction = situation.prediction
        var lossProtection = scheme
        var bits = Double(situation.bitRate)
        if let farthest = scheme.copies.last {
            guard situation.takesCopies, prediction.hasRoom(forPacketsLater: farthest) else { return nil }
            bits -= headerBits(copies: scheme.copies.count, frame: prediction.frame)
            bits *= situation.encoderShare / Double(1 + scheme.copies.count)
        }
        if scheme.retransmits {
            guard situation.asks, prediction.allowsRetransmission else { return nil }
            bits *= min(1, 1.15 * (1 - prediction.lossShare))
        }
        lossProtection.bitRate = Int(bits)
        lossProtection.expectedLoss = 0
        if scheme.inBandFEC {
            // With fewer bits it costs more than whole copies do, where those are to be had.
            guard lossProtection.bitRate >= cheapFECBitRate || !situation.takesCopies else { return nil }
            guard situation.hasInBandFEC, prediction.hasRoom(forPacketsLater: 1),
                let loss = leastExpectedLoss(bitRate: lossProtection.bitRate)
            else { return nil }
            lossProtection.expectedLoss = loss
        }
        return lossProtection.bitRate >= leastBitRate ? lossProtection : nil
    }

    /// The least loss, in percent, that makes libopus 1.3.1 send copies; more of it takes bits from the sound and mends
    /// nothing. Nil where it sends none whatever it is told.
    static func leastExpectedLoss(bitRate: Int) -> Int? {
        switch bitRate {
        case cheapFECBitRate...: 1
        case 18_000...: 6
        default: nil
        }
    }

    private static let cheapFECBitRate = 32_000
    /// What Opus can code at the least.
    private static let leastBitRate = 6_000

    /// In bit/s.
    private static func headerBits(copies: Int, frame: Duration) -> Double {
        Double(8 * (4 * copies + 1)) / (frame / .seconds(1))
    }

    private static func worth(_ lossProtection: LossProtection, _ situation: Situation) -> Double {
        let prediction = situation.prediction
        var depth = prediction.frame * (lossProtection.copies.last ?? (lossProtection.inBandFEC ? 1 : 0))
        if lossProtection.retransmits, let roundTrip = prediction.roundTrip {
            depth = max(depth, prediction.frame + roundTrip)
        }
        return prediction.score(of: lossProtection) - depth / .milliseconds(100) * priceOfDepth
    }
}
