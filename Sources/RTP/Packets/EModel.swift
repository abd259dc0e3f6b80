internal import Glibc
public import TenfourAudioCore

/// The E-model (ITU-T G.107, 06/2015) estimates the quality of a conversation from the delay and loss of a link.
///
/// Parameters that tenfour cannot know (loudness, room noise, telephones) have the defaults of G.107 table 2. The delay
/// of echoes is zero by default, as with headphones. G.107 is made for narrow-band telephones and ends at a rating of
/// 93.2; its wide-band relative (G.107.1) reaches 129.
public struct EModel: Hashable, Sendable {
    /// The delay from mouth to ear: `Ta` of clause 7.4. Below 100 ms it has no effect.
    public var delay: Duration
    /// The share of packets lost and not recovered, 0…1: `Ppl` of clause 7.5.
    public var lossShare: Double
    /// The mean number of losses in a row, divided by the mean that independent losses of the same proportion would
    /// have: `BurstR` of clause 7.5, 1 or more.
    public var burstRatio: Double
    /// The share of the audio that was due and that nothing replaced, 0…1: the receiver's card stood still, or nothing
    /// arrived from a talker that was transmitting.
    public var missingShare: Double
    /// The mean length of these dropouts.
    public var holeLength: Duration
    /// The codec.
    public var codec: Codec

    /// A codec's impairment without loss (`Ie`) and its robustness against loss (`Bpl`): clause 7.5.
    public struct Codec: Hashable, Sendable {
        public var impairment: Double
        public var robustness: Double

        public init(impairment: Double, robustness: Double) {
            self.impairment = impairment
            self.robustness = robustness
        }
    }

    public init(
        delay: Duration = .zero, lossShare: Double = 0, burstRatio: Double = 1, missingShare: Double = 0,
        holeLength: Duration = .zero, codec: Codec = .opus()
    ) {
        self.delay = delay
        self.lossShare = lossShare
        self.burstRatio = burstRatio
        self.missingShare = missingShare
        self.holeLength = holeLength
        self.codec = codec
    }

    /// `R` of clause 7.1, 0…100: with 90 all users are satisfied, with 70 most, and with 50 nearly none (annex B).
    public var rating: Double {
        min(max(Self.ratingOfDefaults - delayImpairment - lossImpairment - holeImpairment, 0), 100)
    }

    /// The best score: that of a rating without impairments, 4.41.
    public static var bestScore: Double { score(ofRating: ratingOfDefaults) }

    /// The mean opinion score that follows from the rating, from 1 to `bestScore` (annex B).
    public var score: Double { Self.score(ofRating: rating) }

    /// Converts a rating to a score, 1…4.5 (annex B, formula B-4).
    public static func score(ofRating rating: Double) -> Double {
        guard rating > 0 else { return 1 }
        guard rating < 100 else { return 4.5 }
        return max(1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6, 1)
    }
}

extension EModel {
    /// `R` with every parameter at the default of table 2. The impairments by delay and loss are subtracted from this
    /// value.
    static var ratingOfDefaults: Double { basicRating - simultaneousImpairment - listenerEcho }

    /// The impairment by delay: `Idd` of clause 7.4, with the default delay sensitivity (mT = 100 ms, sT = 1).
    var delayImpairment: Double {
        let ratio = delay / .milliseconds(100)
        guard ratio > 1 else { return 0 }
        let x = log2(ratio)
        return 25 * (pow(1 + pow(x, 6), 1 / 6) - 3 * pow(1 + pow(x / 3, 6), 1 / 6) + 2)
    }

    /// The impairment by the codec and by lost packets: `Ie,eff` of clause 7.5.
    var lossImpairment: Double {
        let percent = min(max(lossShare, 0), 1) * 100
        guard percent > 0 else { return codec.impairment }
        return codec.impairment
            + (95 - codec.impairment) * percent / (percent / max(burstRatio, 1) + codec.robustness)
    }

    /// The impairment by dropouts that nothing conceals, in the form of `Ie,eff`. No recommendation has figures for
    /// dropouts. The figures here are fitted to PESQ (P.862.2) of Opus at 32 kbit/s with 1 to 50 % of the audio
    /// silenced in dropouts of 5 to 700 ms. Short dropouts cost most, because there are more of them: `Bpl` is 4 up to
    /// 40 ms, and 2.5 more for each doubling of the length, up to 2 s. If 5 % of the audio or more is missing, the
    /// score exceeds PESQ by at most 0.2; at 1 %, by at most 0.4. Above 50 % the impairment rises in a straight line to
    /// that of silence, whose score is 1.
    var holeImpairment: Double {
        let percent = min(max(missingShare, 0), 1) * 100
        guard percent > 0 else { return 0 }
        let length = min(max(holeLength / .milliseconds(40), 1), 50)
        let impairment = 95 * percent / (percent + 4 + 2.5 * log2(length))
        return impairment + (95 - impairment) * max(percent - 50, 0) / 50
    }

    /// The signal to noise ratio: `Ro` of clause 7.2, with the loudness and noises of table 2.
    private static var basicRating: Double { 15 - 1.5 * (sendLoudness + noise) }

    /// The sum of all noises: `No` of clause 7.2, in dBm0p.
    private static var noise: Double {
        let listenerSidetone = 15.0 + 3
        let roomAtTalker = 35 - sendLoudness - 3 - 100 + 0.004 * pow(35 - sendLoudness - receiveLoudness - 3 - 14, 2)
        let effectiveRoom = 35 + decibels(1 + power(10 - listenerSidetone))
        let roomAtListener = receiveLoudness - 121 + effectiveRoom + 0.008 * pow(effectiveRoom - 35, 2)
        let floor = -64 + receiveLoudness
        return decibels(power(-70) + power(roomAtTalker) + power(roomAtListener) + power(floor))
    }

    /// The impairment by loudness, sidetone, and the quantization of one PCM link: `Is` of clause 7.3.
    private static var simultaneousImpairment: Double {
        let loudness = sendLoudness + receiveLoudness + 0.2 * (64 + noise - receiveLoudness)
        let tooLoud = 20 * (pow(1 + pow(loudness / 8, 8), 1 / 8) - loudness / 8)
        let sidetone = -decibels(power(-15) + power(-65))
        let ownVoice =
            12 * pow(1 + pow((sidetone - 13) / 6, 8), 1 / 8) - 28 * pow(1 + pow((sidetone + 1) / 19.4, 35), 1 / 35)
            - 13 * pow(1 + pow((sidetone - 3) / 33, 13), 1 / 13) + 29
        let signalToQuantization = 37.0
        let g = 1.07 + 0.258 * signalToQuantization + 0.0602 * pow(signalToQuantization, 2)
        let y = (basicRating - 100) / 15 + 46 / 8.4 - g / 9
        let z = 46.0 / 30 - g / 40
        return tooLoud + ownVoice + 15 * log10(1 + pow(10, y) + pow(10, z))
    }

    /// The impairment by listener echo: `Idle` of clause 7.4, with `Tr` = 0 and `WEPL` = 110 dB. The impairment by
    /// talker echo, `Idte`, is zero because `T` is zero.
    private static var listenerEcho: Double {
        let distance = basicRating - 10.5 * (110 + 7)
        return distance / 2 + (pow(distance, 2) / 4 + 169).squareRoot()
    }

    private static func decibels(_ power: Double) -> Double { 10 * log10(power) }
    private static func power(_ decibels: Double) -> Double { pow(10, decibels / 10) }

    /// The loudness of sending, `SLR` of table 2, in decibels.
    private static var sendLoudness: Double { 8 }
    /// The loudness of receiving, `RLR` of table 2, in decibels.
    private static var receiveLoudness: Double { 2 }
}

extension EModel.Codec {
    /// Creates the codec of `encoding`. The other parameters describe Opus, as at `opus`. They are ignored with G.711,
    /// which has neither a choice of bit rates nor a neural network for concealment.
    public init(
        _ encoding: AudioEncoding, bitRate: Int = usualBitRate, frame: Duration = .milliseconds(20),
        deepShare: Double? = nil
    ) {
        self = encoding == .opus ? .opus(bitRate: bitRate, frame: frame, deepShare: deepShare) : .g711
    }

    /// G.711 with the concealment of its appendix I (ITU-T G.113 appendix I): `Ie` is 0 and `Bpl` 25.1.
    ///
    /// These values are on the narrow-band scale of G.107, where nothing is better than a good telephone line: a score
    /// of 4.4. Opus is scored against wide-band speech instead. So a score of G.711 rates the network only, and cannot
    /// be compared with a score of Opus.
    public static var g711: Self { Self(impairment: 0, robustness: 25.1) }
    /// G.729A with voice activity detection (ITU-T G.113 appendix I).
    public static var g729A: Self { Self(impairment: 11, robustness: 19) }

    /// Opus at `bitRate` bit/s. No recommendation has figures for Opus. The figures here are fitted to PESQ (P.862.2)
    /// of libopus 1.3.1 and 1.5.2 on English speech, by bit rate, by packet duration, and by independent loss of 2 to
    /// 20 %. `Ie` determines the score without loss. With packets of 20 ms, `Ie` is 15 at 16 kbit/s (score 3.95), 6 at
    /// 24 kbit/s (4.27), 1 at 32 kbit/s (4.39) and 0 from 64 kbit/s (4.50). Shorter packets need a higher bit rate for
    /// the same score. `Bpl` determines the score at a loss of 2 to 5 %.
    ///
    /// - `frame`: the duration of a packet.
    /// - `deepShare`: the share of concealed audio that deep PLC generated (libopus 1.5); nil if none was concealed.
    public static func opus(
        bitRate: Int = usualBitRate, frame: Duration = .milliseconds(20), deepShare: Double? = nil
    ) -> Self {
        let share = min(max(deepShare ?? 0, 0), 1)
        let measured = measured.last { $0.frame <= frame } ?? measured[0]
        return Self(
            impairment: measured.impairment(atBitRate: Double(bitRate)),
            robustness: measured.plain + share * (measured.deep - measured.plain))
    }

    /// The bit rate of Opus that is assumed if the real one is not known, in bit/s.
    public static let usualBitRate = 32_000

    /// Measured values for packets whose duration is `frame` or longer: `Bpl` with plain concealment and with deep PLC,
    /// and `Ie` by bit rate in kbit/s.
    private struct Measured {
        var frame: Duration
        var plain: Double
        var deep: Double
        var impairments: [(kilobits: Double, impairment: Double)]

        /// Interpolates linearly between the measured bit rates. Below the lowest one, extrapolates from the two
        /// lowest.
        func impairment(atBitRate bitRate: Double) -> Double {
            let kilobits = bitRate / 1_000
            for (low, high) in zip(impairments, impairments.dropFirst()) where kilobits < high.kilobits {
                let share = (kilobits - low.kilobits) / (high.kilobits - low.kilobits)
                return min(low.impairment + share * (high.impairment - low.impairment), 60)
            }
            return 0
        }
    }

    private static let measured = [
        Measured(frame: .zero, plain: 1.3, deep: 1.9, impairments: [(24, 32), (64, 0)]),
        Measured(frame: .milliseconds(5), plain: 6, deep: 6.5, impairments: [(24, 21), (32, 10), (64, 0)]),
        Measured(frame: .milliseconds(10), plain: 10, deep: 12, impairments: [(24, 8), (32, 3), (64, 0)]),
        Measured(frame: .milliseconds(20), plain: 8, deep: 10, impairments: [(16, 15), (24, 6), (32, 1), (64, 0)]),
    ]
}
