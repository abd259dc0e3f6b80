internal import TenfourAudioCore
public import TenfourPackets

/// What we do about the losses that receivers report.
extension RTPSession {
    /// Only receivers at the addresses a person typed decide about our stream.
    func isReceiver(_ sender: Endpoint) -> Bool { configuration.remotes.contains { $0.address == sender.address } }

    /// Weighs what is known of the receivers. `isFresh` where one of them has just reported.
    mutating func decide(isFresh: Bool, at now: Instant) {
        let loss = receivers.loss(at: now)
        if isFresh, loss.share > 0 { lastReportedLoss = now }
        guard configuration.lossProtection.mode != .off, !configuration.remotes.isEmpty else { return }
        if isFresh {
            bitRateLimit.update(
                lossShare: receivers.lastLossShare(at: now), roundTrip: receivers.standingRoundTrip, at: now)
        }
        let capabilities = receivers.capabilities(
            at: Set(configuration.remotes.map(\.address)), otherwise: configuration.lossProtection.remoteCapabilities)
        adjustEncoderShare()
        let mode = configuration.lossProtection.mode
        let mayCopy = (mode == .auto || mode == .copy) && !configuration.isGroup
        let situation = LossProtectionSelector.Situation(
            prediction: PredictedScore(
                lossShare: min(loss.share, 0.95), meanBurst: loss.meanBurst, roundTrip: receivers.roundTrip,
                depth: capabilities?.depth ?? configuration.lossProtection.depth(roundTrip: receivers.roundTrip),
                frame: configuration.lossProtection.frameCount.duration(),
                concealment: capabilities?.concealment ?? .plain),
            bitRate: bitRateLimit.bitRate, takesCopies: mayCopy && capabilities?.redPayloadType != nil,
            asks: answers && capabilities?.supportsNACK ?? false,
            hasInBandFEC: mode == .auto && configuration.lossProtection.hasInBandFEC, alwaysCopies: mode == .copy,
            encoderShare: encoderShare, reportInterval: receivers.reportInterval)
        redPayloadType = capabilities?.redPayloadType ?? configuration.lossProtection.redPayloadType
        if choice.update(situation, isFresh: isFresh, at: now) {
            payloadAllowance.perSecond = Double(bitRateLimit.bitRate) / 8
            resendAllowance.perSecond = Double(bitRateLimit.bitRate) / 8 * Self.bitRateWithResends
        }
        decisionDeadline = choice.lossProtection.isNone ? nil : now + Self.decisionInterval
    }

    /// With what our decoder makes up lost sound from now on; our next report tells it.
    public mutating func setConcealment(_ concealment: PacketLossConcealment) {
        configuration.lossProtection.concealment = concealment
    }

    /// A defence is taken back when reports of loss have ended, whether or not others come.
    mutating func decideWhenDue(at now: Instant) {
        guard let decisionDeadline, decisionDeadline <= now else { return }
        decide(isFresh: false, at: now)
    }

    /// An encoder that takes more than it is told would use up what is saved for copies, and leave them out.
    private mutating func adjustEncoderShare() {
        let level = payloadAllowance.left / payloadAllowance.most
        if level < Self.savedShare { encoderShare = max(encoderShare - Self.encoderShareStep, 0.9) }
        if level > 2 * Self.savedShare { encoderShare = min(encoderShare + Self.encoderShareStep, 1) }
    }

    private static let encoderShareStep = 0.005
    /// Of what can be saved, what is there at first and is aimed at.
    static let savedShare = 0.25
    private static let decisionInterval = Duration.milliseconds(500)
}
