/// The reason why a request is answered without asking the server's owner.
public enum HTTPRefusal: String, Error, Hashable, Sendable, CaseIterable {
    case malformedTarget = "malformed_target"
    case targetTooLong = "target_too_long"
    case malformedField = "malformed_field"
    /// There is no Host, more than one, or one that is no host.
    case malformedHost = "malformed_host"
    /// Host is not among `HTTPLimits.hosts`.
    case hostNotAccepted = "host_not_accepted"
    /// The request comes from a page of a site that is not among `HTTPLimits.hosts`.
    case originNotAccepted = "origin_not_accepted"
    case bodyNotAccepted = "body_not_accepted"
    case methodNotAllowed = "method_not_allowed"
    /// The client that a proxy names has its share of connections.
    case tooManyConnections = "too_many_connections"
    /// No connection may give way to that of the client that a proxy names.
    case serverFull = "server_full"

    /// The answer. `host` is the request's Host, which the sentence about a host that is not accepted names.
    func answer(to host: String?) -> HTTPAnswer {
        switch self {
        case .malformedTarget: .text("This address is malformed.", status: 400)
        case .targetTooLong: .text("This address is too long.", status: 414)
        case .malformedField: .text("A header field of the request is malformed.", status: 400)
        case .malformedHost: .text("The request needs exactly one Host field, with a valid host.", status: 400)
        case .hostNotAccepted: .text(Self.sentence(about: host ?? ""), status: 421)
        case .originNotAccepted:
            .text(
                "Pages of other sites get no answer: open the address itself, or let its operator add its name with "
                    + "--http-host.", status: 403)
        case .tooManyConnections: .text("Your IP address has too many connections. Close some.", status: 429)
        case .serverFull: .text("The server has too many connections. Try again later.", status: 503)
        case .bodyNotAccepted: .text("A request with a body is not accepted.", status: 400)
        case .methodNotAllowed:
            .whole(
                [UInt8]("Only GET and HEAD are allowed.\n".utf8), contentType: "text/plain; charset=utf-8",
                status: 405, fields: [("Allow", "GET, HEAD")])
        }
    }

    private static func sentence(about host: String) -> String {
        let name = hostName(of: host) ?? "…"
        return "This server does not answer for the name \(name). Its operator can add the name: start tenfour with "
            + "--http-host \(name), or write http-host \(name) into relay.conf."
    }
}

/// Returns whether `host` is a name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 9110
/// section 7.2).
func isHost(_ host: String) -> Bool { hostName(of: host) != nil }
