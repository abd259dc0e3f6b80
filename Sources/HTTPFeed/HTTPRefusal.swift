internal import CCurl
internal import Feed
internal import Glibc
internal import Sound

/// Sentences for what kept bytes from coming, each with its remedy and in brackets who said so.
struct HTTPRefusal {
    var resource: Resource
    var options: HTTPOptions

    private var host: String { String(fromPeer: resource.host ?? "", limit: 100) }

    /// Without the password of its user.
    private var proxy: String {
        guard let proxy = options.proxy else {
            return "the proxy of the environment (http_proxy, https_proxy or all_proxy)"
        }
        let end = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
        let place = proxy[end...].split(separator: "@").last ?? ""
        return "the proxy " + String(fromPeer: String(proxy[..<end]) + place, limit: 100)
    }

    func sentence(_ end: CurlTransfer.End) -> String {
        let reason = String(fromPeer: end.text, limit: 200)
        return "\(plain(end)) (\(reason))"
    }

    private func plain(_ end: CurlTransfer.End) -> String {
        switch end.code {
        case CURLE_URL_MALFORMAT:
            "the address cannot be understood; write it as https://host/path, with %20 for a space"
        case CURLE_COULDNT_RESOLVE_PROXY:
            "\(proxy) could not be found; check its name, and that the network is up"
        case CURLE_COULDNT_RESOLVE_HOST:
            "no host is called \(host), or no name server answers; check the spelling and the network"
        case CURLE_COULDNT_CONNECT:
            refusedConnection(end)
        case CURLE_PROXY:
            "\(proxy) cannot or will not reach \(host); check what it allows, its user and password"
        case CURLE_OPERATION_TIMEDOUT:
            "\(host) did not answer within \(options.timeout); check the network, or allow more with --timeout"
        case CURLE_PEER_FAILED_VERIFICATION:
            "the certificate of \(host) is not to be trusted, so who answers may be anybody; check the address and this machine's clock, or have its owner renew it"
        case CURLE_SSL_CACERT_BADFILE:
            "the certificates of those who are trusted cannot be read; `apt-get install ca-certificates` brings them"
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER:
            "no TLS connection to \(host) came about; check that it speaks https on that port, or use http://"
        case CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2:
            "\(host) does not answer as a web server does; check the port in the address"
        case CURLE_RECV_ERROR where end.proxyStatus != 0 && end.proxyStatus / 100 != 2:
            refusedByProxy(end.proxyStatus)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE:
            "the connection to \(host) broke; try again"
        case CURLE_OUT_OF_MEMORY:
            "there is no memory left; end other programs"
        default:
            "\(host) could not be read from; check the address"
        }
    }

    private func refusedConnection(_ end: CurlTransfer.End) -> String {
        // libcurl tries the proxy's address like any other, and only its text says which it was.
        let who = options.proxy != nil ? proxy : Self.environmentNamesProxy ? "\(host), or at \(proxy)" : host
        return switch end.systemCode {
        case ECONNREFUSED: "nobody answers at \(who); check the port, and that the server runs"
        case ENETUNREACH, EHOSTUNREACH: "no way leads to \(who); check the network"
        default: "no connection to \(who) came about; check the address and the network"
        }
    }

    private static var environmentNamesProxy: Bool {
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        where unsafe getenv(name) != nil {
            return true
        }
        return false
    }

    private func refusedByProxy(_ status: Int) -> String {
        status == 407
            ? "\(proxy) wants a user and a password; write them into its address as http://user:password@host:port"
            : "\(proxy) refuses to connect to \(host) (status \(status)); use another, or none"
    }

    func sentence(status: Int) -> String {
        switch status {
        case 401: "\(host) wants a user and a password; write them into the address as https://user:password@host/"
        case 403, 451:
            "\(host) does not let us have this (status \(status)); check the address, or whether it wants a --header"
        case 404, 410: "\(host) has nothing at this address (status \(status)); check its spelling"
        case 407: refusedByProxy(status)
        case 408, 425, 429: "\(host) wants to be left alone for now (status \(status)); try again later"
        case 500...599: "\(host) has a fault of its own (status \(status)); try again later"
        case 200...299:
            "\(host) answers with something other than it was asked for (status \(status)); ask whoever runs it"
        case 300...399:
            "\(host) leads on without saying where to (status \(status)); ask whoever runs it for another address"
        default: "\(host) refuses (status \(status)); check the address"
        }
    }

    func sentence(_ refused: Redirect.Refusal) -> String {
        switch refused {
        case .tooMany:
            "\(host) leads on and on, more than \(HTTPRequest.maximumRedirectCount) times; ask whoever runs it for another address"
        case .noAddress:
            "\(host) leads on to something that is neither http nor https, which is not followed; use the address that it leads to"
        case .downgrade(let other):
            "\(host) leads on from https to http at \(String(fromPeer: other, limit: 100)), where anybody on the way can read and change what comes; allow it with --allow-http, or use the address that it leads to"
        }
    }

    /// The sentence for a body that is packed, although the request asks for one that is not.
    func packed(_ coding: String) -> String {
        "\(host) sends it packed (\(coding)) though it was asked not to; fetch it first, with `curl --compressed -o FILE ADDRESS`"
    }

    var changed: String { "\(host) has put something else at this address since it began to play; start anew" }

    func givenUp(after time: Duration) -> String {
        "\(host) broke off, and did not answer again within \(time); check the network, or allow more with --give-up-after"
    }

    var stalled: String {
        "\(host) did not answer within \(options.timeout); check the network, or allow more with --timeout"
    }
}
