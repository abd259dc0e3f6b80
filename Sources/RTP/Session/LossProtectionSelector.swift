internal import TenfourAudioCore

/// Chooses a loss protection scheme by its predicted score, and avoids rapid changes.
///
/// The first report of loss turns protection on. A scheme that is clearly better replaces the present one after three
/// seconds. Protection ends when reports have shown no loss for one second (each report covers the last five seconds).
/// It also ends when no report has arrived for 15 seconds or two report intervals, whichever is longer.
struct LossProtectionSelector: Sendable {
    private(set) var lossProtection: LossProtection
    private var lastChange: Instant?
    private var lastLoss: Instant?

    /// The state of the network and the receivers, and the available bit rate.
    struct Situation {
        var prediction: PredictedScore
        /// The bit rate of the whole payload, redundant copies included, in bit/s.
        var bitRate: Int
        /// Whether the receivers accept copies.
        var takesCopies: Bool
        /// Whether the receivers request lost packets and we answer.
        var asks: Bool
        /// Whether in-band FEC may be chosen.
        var hasInBandFEC: Bool
        /// Whether copies are sent even if no packet is lost.
        var alwaysCopies = false
        /// The encoder's bit rate, as a proportion of the bit rate that the copies leave to it. It is less than 1 if
        /// the encoder exceeds its bit rate a little.
        var encoderShare = 1.0
        /// The time between the last two reports of the receiver that reports least often.
        var reportInterval = Duration.zero
    }

    /// The minimum gain in predicted score for which another scheme replaces the present one.
    private static let worthChanging = 0.12
    /// The minimum gain in predicted score for which a change need not wait for `shortestStay`. A gain of this size
    /// shows that new information has arrived, for example the round trip.
    private static let worthHurrying = 0.3
    /// The shortest time between two changes of the scheme.
    private static let shortestStay = Duration.seconds(3)
    /// The time for which protection continues after the last reported loss, if reports arrive.
    private static let patience = Duration.seconds(1)
    /// The minimum time for which protection continues after the last reported loss, if no reports arrive.
    private static let patienceInSilence = Duration.seconds(15)
    /// The minimum number of report intervals for which protection continues without a report. It is more than one,
    /// because a single report may be lost.
    private static let patienceInIntervals = 2
    /// The gain in score that 100 ms of additional playout delay must bring. So if two schemes have the same score, the
    /// one with less delay is chosen.
    private static let priceOfDepth = 0.02

    init(_ lossProtection: LossProtection) { self.lossProtection = lossProtection }

    /// Chooses the scheme again. `isFresh` is true if the loss in `situation` has just been reported. Returns whether
    /// the protection has changed.
    mutating func update(_ situation: Situation, isFresh: Bool, at now: Instant) -> Bool {
        let before = lossProtection
        if isFresh, situation.prediction.lossShare > 0 {
            lastLoss = now
            weigh(situation, at: now)
        } else if lastLoss.map({ now - $0 >= patience(situation, isFresh) }) ?? true {
            take(Self.unprotected(situation), at: now)
        } else {
            // Keeps the present scheme. Ends protection if that scheme has become impossible, for example because the
            // receivers no longer accept copies.
            take(Self.fitted(lossProtection, situation) ?? Self.unprotected(situation), at: now)
        }
        return lossProtection != before
    }

    /// Returns the time for which protection continues after the last reported loss.
    private func patience(_ situation: Situation, _ isFresh: Bool) -> Duration {
        isFresh
            ? Self.patience : max(Self.patienceInSilence, situation.reportInterval * Self.patienceInIntervals)
    }

    /// Returns the possible schemes with the bit rates that they leave to the encoder. The scheme without protection is
    /// first, unless copies are always sent.
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

    /// Returns the scheme for a stream without loss: no protection, or copies if they are always sent.
    private static func unprotected(_ situation: Situation) -> LossProtection {
        let copies = situation.alwaysCopies && situation.takesCopies ? [1] : []
        return fitted(LossProtection(copies: copies, bitRate: 0), situation)
            ?? LossProtection(bitRate: situation.bitRate)
    }

    /// Returns the scheme with the bit rate that it leaves to the encoder; nil if the scheme is impossible in this
    /// situation.
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
            // Excludes in-band FEC at low bit rates, where it costs more than complete copies, unless receivers accept
            // no copies.
            guard lossProtection.bitRate >= cheapFECBitRate || !situation.takesCopies else { return nil }
            guard situation.hasInBandFEC, prediction.hasRoom(forPacketsLater: 1),
                let loss = leastExpectedLoss(bitRate: lossProtection.bitRate)
            else { return nil }
            lossProtection.expectedLoss = loss
        }
        return lossProtection.bitRate >= leastBitRate ? lossProtection : nil
    }

    /// Returns the smallest expected loss, in percent, at which libopus 1.3.1 sends in-band FEC; nil if it sends none
    /// at any expected loss. A larger expected loss would take bits from the audio and recover nothing more.
    static func leastExpectedLoss(bitRate: Int) -> Int? {
        switch bitRate {
        case cheapFECBitRate...: 1
        case 18_000...: 6
        default: nil
        }
    }

    private static let cheapFECBitRate = 32_000
    /// The minimum bit rate of Opus, in bit/s.
    private static let leastBitRate = 6_000

    /// Returns the bit rate of the headers of redundant coding, in bit/s.
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
