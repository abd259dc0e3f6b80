import TenfourRadio

/// Composes the notices about a session's sound cards. Each change is returned once.
struct CardNotices {
    private let usesCard: Bool
    private let captureChannel: CaptureChannel
    private let sendsMono: Bool
    private var hasReportedPriority = false
    private var hasReportedSilence = false
    private var output = CardLoss(
        lost: "the sound card is gone: you hear nothing until it is back; connect it again",
        returned: "the sound card is back: you hear again")
    private var microphone = CardLoss(
        lost: "the microphone's sound card is gone: you send silence until it is back; connect it again",
        returned: "the microphone's sound card is back: you send sound again")

    /// Returns a sentence when a card is lost, and when it is back.
    private struct CardLoss {
        let lost, returned: String
        private var wasLost = false

        init(lost: String, returned: String) { (self.lost, self.returned) = (lost, returned) }

        /// `isLost` is nil without a card.
        mutating func notice(isLost: Bool?) -> String? {
            guard let isLost, isLost != wasLost else { return nil }
            wasLost = isLost
            return isLost ? lost : returned
        }
    }

    init(_ configuration: RadioConfiguration) {
        var usesCard = false
        if case .card = configuration.input { usesCard = true }
        if case .card = configuration.output { usesCard = true }
        self.usesCard = usesCard
        captureChannel = configuration.coding.captureChannel
        sendsMono = configuration.coding.channelCount == 1
    }

    /// Returns notices for the problems in `snapshot` that were not reported before.
    mutating func newNotices(in snapshot: RadioSnapshot) -> [String] {
        var notices: [String] = []
        // Reports a missing real-time priority only with a card, since without a card it causes no audible gaps.
        if usesCard, !hasReportedPriority, let denial = snapshot.priorityDenial {
            hasReportedPriority = true
            notices.append(denial)
        }
        if !hasReportedSilence, let text = text(ofSilent: snapshot.capture?.silentChannel) {
            hasReportedSilence = true
            notices.append(text)
        }
        notices += [
            output.notice(isLost: snapshot.playback?.isCardLost),
            microphone.notice(isLost: snapshot.capture?.isCardLost),
        ].compactMap { $0 }
        return notices
    }

    private func text(ofSilent channel: CaptureChannel?) -> String? {
        guard let channel, channel != .mix else { return nil }
        let other = channel == .left ? CaptureChannel.right : .left
        let silence = "the \(channel.rawValue) channel of the microphone carries only digital silence"
        switch captureChannel {
        case channel:
            return
                "\(silence), so nobody hears you: write --capture-channel \(other.rawValue) to send the other channel"
        case .mix where sendsMono:
            return
                "\(silence) and halves the level of the mix: write --capture-channel \(other.rawValue) to send only the other channel"
        case .mix:
            return "\(silence): write --capture-channel \(other.rawValue) to send the other channel on both sides"
        default: return nil
        }
    }
}
