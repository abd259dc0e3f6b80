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
        guard configuration.defence.mode != .off, !configuration.remotes.isEmpty else { return }
        if isFresh {
            bitRateLimit.update(
                lossShare: receivers.toldLossShare(at: now), roundTrip: receivers.standingRoundTrip, at: now)
        }
        let abilities = receivers.abilities(
            at: Set(configuration.remotes.map(\.address)), otherwise: configuration.defence.remoteAbilities)
        regulateThrift()
        let mode = configuration.defence.mode
        let mayCopy = (mode == .auto || mode == .copy) && !configuration.isGroup
        let situation = LossProtectionSelector.Situation(
            outlook: PredictedScore(
                lossShare: min(loss.share, 0.95), meanBurst: loss.meanBurst, roundTrip: receivers.roundTrip,
                depth: abilities?.depth ?? configuration.defence.depth(roundTrip: receivers.roundTrip),
                frame: configuration.defence.frameCount.duration(), concealment: abilities?.concealment ?? .plain),
            bitRate: bitRateLimit.bitRate, takesCopies: mayCopy && abilities?.redPayloadType != nil,
            asks: answers && abilities?.answersNACK ?? false,
            hasInBandFEC: mode == .auto && configuration.defence.hasInBandFEC, alwaysCopies: mode == .copy,
            thrift: thrift, reportInterval: receivers.reportInterval)
        redPayloadType = abilities?.redPayloadType ?? configuration.defence.redPayloadType
        if choice.update(situation, isFresh: isFresh, at: now) {
            payloadAllowance.perSecond = Double(bitRateLimit.bitRate) / 8
            resendAllowance.perSecond = Double(bitRateLimit.bitRate) / 8 * Self.bitRateWithResends
        }
        decisionDeadline = choice.defence.isNone ? nil : now + Self.decisionInterval
    }

    /// With what our decoder makes up lost sound from now on; our next report tells it.
    public mutating func setConcealment(_ concealment: PacketLossConcealment) {
        configuration.defence.concealment = concealment
    }

    /// A defence is taken back when reports of loss have ended, whether or not others come.
    mutating func decideWhenDue(at now: Instant) {
        guard let decisionDeadline, decisionDeadline <= now else { return }
        decide(isFresh: false, at: now)
    }

    /// An encoder that takes more than it is told would use up what is saved for copies, and leave them out.
    private mutating func regulateThrift() {
        let level = payloadAllowance.left / payloadAllowance.most
        if level < Self.savedShare { thrift = max(thrift - Self.thriftStep, 0.9) }
        if level > 2 * Self.savedShare { thrift = min(thrift + Self.thriftStep, 1) }
    }

    private static let thriftStep = 0.005
    /// Of what can be saved, what is there at first and is aimed at.
    static let savedShare = 0.25
    private static let decisionInterval = Duration.milliseconds(500)
}
