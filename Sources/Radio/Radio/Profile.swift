/// A set of settings for a kind of network and use. A user's own settings override it.
public enum Profile: String, CaseIterable, Sendable {
    case lan, wifi, internet, quality, music, lowest

    /// The settings in one line.
    public var summary: String {
        switch self {
        case .lan: "speech, 20 ms frames, 32 kbit/s, adaptive delay (the default)"
        case .wifi: "speech, 20 ms frames, 32 kbit/s, FEC for 2% loss, delay at least 20 ms"
        case .internet: "speech, 20 ms frames, 32 kbit/s, FEC for 5% loss, delay at least 40 ms"
        case .quality:
            "speech, 20 ms frames, 32 kbit/s, delay for retransmissions from the first packet: up to 4 round trips plus 40 ms, but no more than 200 ms"
        case .music: "music, 20 ms frames, 128 kbit/s, stereo, delay at least 60 ms"
        case .lowest:
            "least delay: card periods of 2.5 ms, at most two of them queued; frames and bit rate as in lan"
        }
    }

    /// Applies the settings in `summary` and leaves all others unchanged.
    public func apply(to configuration: inout RadioConfiguration) {
        apply(to: &configuration.coding, &configuration.playout)
    }

    /// Applies the settings in `summary` and leaves all others unchanged.
    public func apply(to coding: inout CodingSettings, _ playout: inout PlayoutSettings) {
        switch self {
        case .lan:
            break
        case .wifi:
            coding.expectedLoss = 2
            playout.minimumDelay = .milliseconds(20)
        case .internet:
            coding.expectedLoss = 5
            playout.minimumDelay = .milliseconds(40)
        case .quality:
            playout.maximumRecoveryDelay = .milliseconds(200)
            playout.followsRoundTrip = true
        case .music:
            coding.content = .music
            coding.bitRate = 128_000
            coding.channelCount = 2
            playout.channelCount = 2
            playout.minimumDelay = .milliseconds(60)
        case .lowest:
            playout.period = .microseconds(2_500)
            playout.queuedPeriods = 2
        }
    }
}
