import TenfourCommandSupport
import TenfourJSON
import TenfourLobby
import TenfourSession

/// A station as a line of `tenfour near`, or as JSON.
enum NearLine {
    static let heading = line("name", "host", "address", "answers")

    static func text(_ station: NearbyStation) -> String {
        let answers =
            switch station.reachability {
            case .answers(let time): "\(decimal(time / .milliseconds(1), places: 0)) ms"
            case .unreachable: "no"
            case .unknown: station.takesCalls ? "?" : "plain RTP"
            }
        return line(station.name, station.host, "\(station.endpoint)", answers)
    }

    static func json(_ station: NearbyStation) -> JSON {
        let (answers, time): (JSON, Duration?) =
            switch station.reachability {
            case .answers(let time): (.boolean(true), time)
            case .unreachable: (.boolean(false), nil)
            case .unknown: (.null, nil)
            }
        return .object([
            ("name", .text(station.name)), ("host", .text(station.host)),
            ("address", .text("\(station.endpoint.address)")), ("port", .integer(Int(station.endpoint.port))),
            ("takes_calls", .boolean(station.takesCalls)),
            ("answers", answers), ("round_trip_ms", .decimal(time.map { $0 / .milliseconds(1) }, places: 1)),
        ])
    }

    /// Whether each station has answered, or has been asked as often as it is.
    static func isComplete(_ list: NearbyList) -> Bool {
        !list.stations.contains { $0.takesCalls && $0.reachability == .unknown }
    }

    private static func line(_ name: String, _ host: String, _ address: String, _ answers: String) -> String {
        // An address that is cut cannot be called: a long one moves the last column.
        let address = address.fitted(toColumns: max(address.columnCount, 21))
        let line = [name.fitted(toColumns: 20), host.fitted(toColumns: 20), address, answers].joined(separator: "  ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
