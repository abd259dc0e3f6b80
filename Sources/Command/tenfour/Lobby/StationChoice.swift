import TenfourCommandSupport
import TenfourLobby

extension NearbyList {
    /// The list without the stations after the first `count`.
    func first(_ count: Int) -> NearbyList {
        var list = self
        list.stations = Array(stations.prefix(count))
        return list
    }
}

/// The station in the list that the arrow keys have chosen.
struct StationChoice {
    private var id: NearbyStation.ID?

    /// Returns the chosen station; nil if none is, or if it has gone.
    func station(in list: NearbyList) -> NearbyStation? { list.stations.first { $0.id == id } }

    /// Takes the key up or down, and chooses the station above or below the present one. Returns false for another key.
    mutating func move(_ key: TerminalKey, in list: NearbyList) -> Bool {
        let place = list.stations.firstIndex { $0.id == id }
        let last = list.stations.count - 1
        switch key {
        case .up: choose(place.map { max($0 - 1, 0) } ?? last, in: list)
        case .down: choose(place.map { min($0 + 1, last) } ?? 0, in: list)
        default: return false
        }
        return true
    }

    mutating func clear() { id = nil }

    private mutating func choose(_ place: Int, in list: NearbyList) {
        id = list.stations.indices.contains(place) ? list.stations[place].id : nil
    }
}
