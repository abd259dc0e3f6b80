import TenfourCommandSupport
import TenfourJSON
import TenfourLobby
import TenfourSession

/// A station as a line of `tenfour near`, or as JSON.
enum NearLine {
    static let heading = line("name", "host", "address", "answers")

    static func text(_ station: NearbyStation) -> String {
        let answers =
            if case .answers(let time) = station.reachability {
                "\(decimal(time / .milliseconds(1), places: 0)) ms"
            } else { station.takesCalls ? "no" : "plain RTP" }
        return line(station.name, station.host, "\(station.endpoint)", answers)
    }

    static func json(_ station: NearbyStation) -> JSON {
        let time: Duration? = if case .answers(let time) = station.reachability { time } else { nil }
        return .object([
            ("name", .text(station.name)), ("host", .text(station.host)),
            ("address", .text("\(station.endpoint.address)")), ("port", .integer(Int(station.endpoint.port))),
            ("takes_calls", .boolean(station.takesCalls)),
            // A station that takes plain RTP only is not asked.
            ("answers", station.takesCalls ? .boolean(time != nil) : .null),
            ("round_trip_ms", .decimal(time.map { $0 / .milliseconds(1) }, places: 1)),
        ])
    }

    private static func line(_ name: String, _ host: String, _ address: String, _ answers: String) -> String {
        let line = [name.fitted(toColumns: 20), host.fitted(toColumns: 20), address.fitted(toColumns: 21), answers]
            .joined(separator: "  ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
