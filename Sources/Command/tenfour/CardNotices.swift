import TenfourRadio

/// Notices about the sound cards of a session, each given once, with a remedy.
struct CardNotices {
    private let usesCard: Bool
    private let captureChannel: CaptureChannel
    private let sendsMono: Bool
    private var hasSaidPriority = false
    private var hasSaidSilence = false

    init(_ configuration: RadioConfiguration) {
        var usesCard = false
        if case .card = configuration.input { usesCard = true }
        if case .card = configuration.output { usesCard = true }
        self.usesCard = usesCard
        captureChannel = configuration.coding.captureChannel
        sendsMono = configuration.coding.channelCount == 1
    }

    /// The notices that `snapshot` gives for the first time.
    mutating func take(_ snapshot: RadioSnapshot) -> [String] {
        var news: [String] = []
        // Without a card nothing is heard of a thread that is late.
        if usesCard, !hasSaidPriority, let denial = snapshot.priorityDenial {
            hasSaidPriority = true
            news.append(denial)
        }
        if !hasSaidSilence, let text = text(ofSilent: snapshot.capture?.silentChannel) {
            hasSaidSilence = true
            news.append(text)
        }
        return news
    }

    private func text(ofSilent channel: CaptureChannel?) -> String? {
        guard let channel, channel != .mix else { return nil }
        let other = channel == .left ? CaptureChannel.right : .left
        let silence = "the \(channel.rawValue) channel of the microphone is digital silence"
        switch captureChannel {
        case channel:
            return "\(silence), so nobody hears you: --capture-channel \(other.rawValue) sends the other channel"
        case .mix where sendsMono:
            return
                "\(silence) and halves the level of the mix: --capture-channel \(other.rawValue) sends only the other channel"
        case .mix: return "\(silence): --capture-channel \(other.rawValue) sends the other channel on both sides"
        default: return nil
        }
    }
}
