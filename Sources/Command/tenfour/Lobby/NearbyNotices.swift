import TenfourAudioCore
import TenfourLobby

/// Sentences about the stations nearby, for output that is no terminal, and for screen readers. Anybody on the network
/// can announce and withdraw stations, so the number of sentences is limited.
struct NearbyNotices {
    private var known: [NearbyStation] = []
    private var start = Instant.start
    private var count = 0

    static let maximumCount = 30
    private static let interval = Duration.seconds(60)

    /// Returns what has changed since the last call: at most 30 sentences a minute.
    mutating func update(_ list: NearbyList, at now: Instant) -> [String] {
        if now - start >= Self.interval || start == .start { (start, count) = (now, 0) }
        var notices: [String] = []
        for station in list.stations {
            let before = known.first { $0.id == station.id }
            if before == nil { notices.append("\(station.name) is near: \(station.digit) calls") }
            switch (before?.reachability, station.reachability) {
            case (.unreachable, .unreachable): break
            case (_, .unreachable): notices.append("\(station.name) is not reachable")
            case (.unreachable, .answers): notices.append("\(station.name) is reachable again")
            default: break
            }
        }
        for station in known where !list.stations.contains(where: { $0.id == station.id }) {
            notices.append("\(station.name) is gone")
        }
        known = list.stations
        let shown = notices.prefix(Self.maximumCount - count)
        count += shown.count
        return Array(shown)
    }
}
