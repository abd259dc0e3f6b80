import TenfourDNSSD

/// Sentences about the announcement of a station that waits: under which name others see it, or why they do not.
struct AnnouncementNotices {
    /// The name that was asked for.
    private let name: String
    /// The name that the person expects others to see.
    private var toldName: String
    private var toldReason: String?

    init(name: String) {
        self.name = name
        toldName = name
    }

    /// Returns a sentence if there is news. `state` is nil for a station that hides. If the search for stations fails, too,
    /// that is told elsewhere, with the same reason.
    mutating func update(_ state: ServiceAnnouncement.State?, search: DiscoveryState) -> String? {
        switch state {
        case .announced(let present):
            toldReason = nil
            guard present != toldName else { return nil }
            toldName = present
            return "others see this station as \(present)" + (present == name ? "" : ", because \(name) is taken")
        case .waiting(.unavailable(.failed(let reason))) where search == .running:
            guard reason != toldReason else { return nil }
            toldReason = reason
            return "others cannot see this station: avahi-daemon: \(reason)"
        case .waiting, nil: return nil
        }
    }
}
