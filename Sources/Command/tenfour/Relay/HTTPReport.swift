import TenfourHTTPServer
import TenfourJSON

extension HTTPServerStatus {
    /// Returns the line of `tenfour relay status` about the HTTP server.
    var line: String {
        let refused = counts.filter { $0.count > 0 }.map { "\($0.count) \($0.reason.replacing("_", with: " "))" }
        return
            "HTTP: \(connectionCount) \(connectionCount == 1 ? "connection" : "connections"), \(requestCount) requests answered"
            + (refused.isEmpty ? "" : "; refused: \(refused.joined(separator: ", "))")
    }

    var json: JSON {
        .object([
            ("connections", .integer(connectionCount)), ("requests", .integer(requestCount)),
            ("refused", .object(counts.map { ($0.reason, .integer($0.count)) })),
        ])
    }
}
