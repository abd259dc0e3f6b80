import TenfourRelayServer

/// What a relay says of itself: a line for each thing that happened, never a secret. Drops come with their reasons and at most
/// once in ten seconds, as `RelayServer` tells them.
struct RelayLog: Sendable {
    var isQuiet: Bool

    func say(_ text: String) { if !isQuiet { Terminal.say("tenfour: \(text)") } }

    func take(_ notice: RelayNotice) {
        switch notice {
        case .listening(let endpoint): say("relaying on \(endpoint)")
        case .receiving(let channel, let endpoint): say("receiving for \(channel) on \(endpoint), not encrypted")
        case .inputRefused(let channel, let endpoint, let error):
            Terminal.say("tenfour: nothing is received for \(channel) on \(endpoint): \(error)")
        case .waitsForRestart: say("another bind or another number of workers waits until the relay is started anew")
        case .dropped(let drops): say("dropped \(drops.map(\.description).joined(separator: "; "))")
        }
    }
}
