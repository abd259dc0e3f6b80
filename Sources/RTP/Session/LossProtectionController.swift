internal import TenfourAudioCore
internal import TenfourPackets

/// Chooses how our stream is protected against loss, from what its receivers report.
struct LossProtectionController: Sendable {
    private var selector: LossProtectionSelector
    private var bandwidth: BandwidthEstimate
    /// The payload type of redundant coding that the receivers accept.
    private(set) var redPayloadType: UInt8
    /// The time at which the choice must be reviewed even if no report has arrived; nil while there is no protection.
    private(set) var deadline: Instant?
    /// The encoder's bit rate, as a proportion of the bit rate that the copies leave to it.
    private var encoderShare = 0.98
    /// The time at which a receiver last reported loss.
    private var lastReportedLoss: Instant?

    private static let encoderShareStep = 0.005
    private static let interval = Duration.milliseconds(500)

    init(_ configuration: LossProtectionConfiguration) {
        selector = LossProtectionSelector(LossProtection(bitRate: configuration.bitRate))
        bandwidth = BandwidthEstimate(configuration.bitRate)
        redPayloadType = configuration.redPayloadType
    }

    var current: LossProtection { selector.lossProtection }
    /// The estimated bit rate that the network carries, in bit/s.
    var bitRate: Int { bandwidth.bitRate }

    /// Whether a receiver reported loss within the last five seconds.
    func isLossy(at now: Instant) -> Bool { lastReportedLoss.map { now - $0 < ArrivalTrace.memoryOfLoss } ?? false }

    /// Chooses the protection again. `isFresh` is true if a report has just arrived, and `retransmits` if NACKs are
    /// answered. `savedBits` is the `level` of the `RedundancyEncoder`: its saved bits, as a proportion of the maximum.
    /// Returns the bit rate of the whole payload, redundant copies included; nil if the protection has not changed.
    mutating func update(
        _ receivers: Receivers, _ configuration: RTPSessionConfiguration, retransmits: Bool, savedBits: Double,
        isFresh: Bool, at now: Instant
    ) -> Int? {
        let loss = receivers.loss(at: now)
        if isFresh, loss.share > 0 { lastReportedLoss = now }
        let settings = configuration.lossProtection
        guard settings.mode != .off, !configuration.remotes.isEmpty else { return nil }
        if isFresh {
            bandwidth.update(
                lossShare: receivers.lastLossShare(at: now), roundTrip: receivers.standingRoundTrip, at: now)
        }
        let capabilities = receivers.capabilities(
            at: Set(configuration.remotes.map(\.address)), otherwise: settings.remoteCapabilities)
        adjustEncoderShare(savedBits)
        redPayloadType = capabilities?.redPayloadType ?? settings.redPayloadType
        // Sends copies only with Opus. G.711 has one bit rate, which leaves no bits for copies.
        let isOpus = configuration.encoding == .opus
        let mayCopy = (settings.mode == .auto || settings.mode == .copy) && !configuration.isGroup && isOpus
        let situation = LossProtectionSelector.Situation(
            prediction: PredictedScore(
                lossShare: min(loss.share, 0.95), meanBurst: loss.meanBurst, roundTrip: receivers.roundTrip,
                depth: capabilities?.depth ?? settings.depth(roundTrip: receivers.roundTrip),
                frame: settings.frameCount.duration(), concealment: capabilities?.concealment ?? .plain),
            bitRate: bandwidth.bitRate, takesCopies: mayCopy && capabilities?.redPayloadType != nil,
            asks: retransmits && capabilities?.supportsNACK ?? false,
            hasInBandFEC: settings.mode == .auto && settings.hasInBandFEC && isOpus,
            alwaysCopies: settings.mode == .copy,
            encoderShare: encoderShare, reportInterval: receivers.reportInterval)
        let hasChanged = selector.update(situation, isFresh: isFresh, at: now)
        deadline = selector.lossProtection.isNone ? nil : now + Self.interval
        return hasChanged ? bandwidth.bitRate : nil
    }

    /// Adapts `encoderShare` to the saved bits. If an encoder exceeds its bit rate, it uses up the bits saved for
    /// copies, and copies are left out.
    private mutating func adjustEncoderShare(_ savedBits: Double) {
        let target = RedundancyEncoder.targetLevel
        if savedBits < target { encoderShare = max(encoderShare - Self.encoderShareStep, 0.9) }
        if savedBits > 2 * target { encoderShare = min(encoderShare + Self.encoderShareStep, 1) }
    }
}
