import TenfourRelayServer

/// Prints a relay's notices to standard error, one line each. It never prints a secret. Dropped packets are reported by
/// reason, at most every ten seconds.
struct RelayLog: Sendable {
    var isQuiet: Bool

    func write(_ text: String) { if !isQuiet { Terminal.log("tenfour: \(text)") } }

    func report(_ notice: RelayNotice) {
        switch notice {
        case .listening(let endpoint): write("relaying on \(endpoint)")
        case .receiving(let channel, let endpoint): write("receiving for \(channel) on \(endpoint), not encrypted")
        case .inputRefused(let channel, let endpoint, let error):
            Terminal.log("tenfour: nothing is received for \(channel) on \(endpoint): \(error)")
        case .waitsForRestart: write("a new bind address or number of workers takes effect after a restart")
        case .dropped(let drops): write("dropped \(drops.map(\.description).joined(separator: "; "))")
        }
    }
}
