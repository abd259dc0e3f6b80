internal import CCurl
internal import Glibc
internal import TenfourAudioCore
internal import TenfourMediaSource

/// The errors of failed requests: their kinds, and sentences with the remedy and the original message in parentheses.
struct FetchRefusal {
    var resource: Resource
    var options: HTTPOptions

    private var host: String { String(fromPeer: resource.host ?? "", limit: 100) }

    /// The proxy's address without its password.
    private var proxy: String {
        guard let proxy = options.proxy else {
            return "the proxy of the environment (http_proxy, https_proxy or all_proxy)"
        }
        let end = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
        let place = proxy[end...].split(separator: "@").last ?? ""
        return "the proxy " + String(fromPeer: String(proxy[..<end]) + place, limit: 100)
    }

    func error(_ end: CurlTransfer.End) -> ByteSourceError {
        let reason = String(fromPeer: end.text, limit: 200)
        return .failed("\(sentence(end)) (\(reason))", kind: MediaErrorKind(end))
    }

    private func sentence(_ end: CurlTransfer.End) -> String {
        switch end.code {
        case CURLE_URL_MALFORMAT:
            "the address is not valid; check its host and port, and write it as https://host/path"
        case CURLE_COULDNT_RESOLVE_PROXY:
            "\(proxy) could not be found; check its name and the network"
        case CURLE_COULDNT_RESOLVE_HOST:
            "no host is called \(host), or no name server answers; check the spelling and the network"
        case CURLE_COULDNT_CONNECT:
            refusedConnection(end)
        case CURLE_PROXY:
            "\(proxy) did not connect to \(host); check which hosts it allows, and its user and password"
        case CURLE_OPERATION_TIMEDOUT:
            "\(host) did not answer within \(options.timeout); check the network, or allow more time with --timeout"
        case CURLE_PEER_FAILED_VERIFICATION:
            "the certificate of \(host) is not trusted, so another server may pretend to be \(host); check the address and this machine's clock, or name the file of a certificate that you trust with --ca-file"
        case CURLE_SSL_CACERT_BADFILE:
            "the trusted root certificates cannot be read; install them with `apt-get install ca-certificates`, or correct --ca-file or SSL_CERT_FILE"
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER:
            "the TLS connection to \(host) failed; check that the port of the address is for https, or use http://"
        case CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2:
            "\(host) does not answer like a web server; check the port in the address"
        case CURLE_RECV_ERROR where end.proxyStatus != 0 && end.proxyStatus / 100 != 2:
            refusedByProxy(end.proxyStatus)
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE:
            "the connection to \(host) broke; try again"
        case CURLE_OUT_OF_MEMORY:
            "there is not enough memory; end other programs"
        default:
            "reading from \(host) failed; check the address"
        }
    }

    private func refusedConnection(_ end: CurlTransfer.End) -> String {
        // Names the proxy of the environment in addition to the host: only libcurl's message tells which of them
        // refused.
        let who = options.proxy != nil ? proxy : Self.environmentNamesProxy ? "\(host), or at \(proxy)" : host
        return switch end.systemCode {
        case ECONNREFUSED: "nobody answers at \(who); check the port, and that the server runs"
        case ENETUNREACH, EHOSTUNREACH: "there is no route to \(who); check the network"
        default: "the connection to \(who) failed; check the address and the network"
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
            ? "\(proxy) needs a user and a password; write them into its address as http://user:password@host:port"
            : "\(proxy) refuses to connect to \(host) (status \(status)); use another proxy, or none"
    }

    func error(status: Int) -> ByteSourceError {
        .failed(sentence(status: status), kind: MediaErrorKind(status: status))
    }

    private func sentence(status: Int) -> String {
        switch status {
        case 401: "\(host) needs a user and a password; write them into the address as https://user:password@host/"
        case 403, 451:
            "\(host) denies access to this address (status \(status)); check the address, or whether it needs a --header"
        case 404, 410: "\(host) has nothing at this address (status \(status)); check its spelling"
        case 407: refusedByProxy(status)
        case 408, 425, 429: "\(host) cannot answer now (status \(status)); try again later"
        case 500...599: "\(host) has an internal error (status \(status)); try again later"
        case 200...299:
            "\(host) sent something other than the requested bytes (status \(status)); ask its operator"
        case 300...399:
            "\(host) redirects without saying where to (status \(status)); ask its operator for another address"
        default: "\(host) rejects the request (status \(status)); check the address"
        }
    }

    func error(_ refused: Redirect.Refusal) -> ByteSourceError {
        switch refused {
        case .tooMany:
            .failed(
                "\(host) redirects more than \(FetchRequest.maximumRedirectCount) times; ask its operator for another address",
                kind: .tooManyRedirects)
        case .noAddress:
            .failed(
                "\(host) redirects to an address that is neither http nor https, and such redirects are not followed; use that address directly",
                kind: .unsupportedScheme)
        case .downgrade(let other):
            .failed(
                "\(host) redirects from https to http at \(String(fromPeer: other, limit: 100)), where anybody on the path can read and change the data; allow it with --allow-http, or use that address directly",
                kind: .insecure)
        }
    }

    /// Returns the error of a body whose compression libcurl does not know, or whose compressed bytes are damaged.
    func packed(_ coding: String) -> ByteSourceError {
        .failed(
            "\(host) sends compressed data (\(coding)) although it was asked not to, and they cannot be decompressed; ask its operator to send the file uncompressed",
            kind: .invalidResponse)
    }

    var expandsTooMuch: ByteSourceError {
        .failed(
            "\(host) sends compressed data that become more than a hundred times larger, which is refused; ask its operator to send the file uncompressed",
            kind: .invalidResponse)
    }

    var changed: ByteSourceError {
        .failed("the file at \(host) has changed since playback began; start again", kind: .changed)
    }

    func givenUp(after time: Duration) -> ByteSourceError {
        .failed(
            "\(host) closed the connection, and did not answer again within \(time); check the network, or allow more time with --give-up-after",
            kind: .connectionFailed)
    }

    var incomplete: ByteSourceError {
        .failed(
            "\(host) closes the connection each time at the same place, before the end; try again later, or ask its operator",
            kind: .connectionFailed)
    }

    var stalled: ByteSourceError {
        .failed(
            "\(host) did not answer within \(options.timeout); check the network, or allow more time with --timeout",
            kind: .timedOut)
    }
}

extension MediaErrorKind {
    /// The kind of a transfer that ended without a usable answer, by libcurl's code.
    fileprivate init(_ end: CurlTransfer.End) {
        self =
            switch end.code {
            case CURLE_URL_MALFORMAT: .invalidAddress
            case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST: .nameUnknown
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_PEER_FAILED_VERIFICATION: .insecure
            case CURLE_SSL_CACERT_BADFILE: .libraryMissing
            case CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2: .invalidResponse
            case CURLE_RECV_ERROR where end.proxyStatus != 0 && end.proxyStatus / 100 != 2:
                .refused(status: end.proxyStatus)
            case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SEND_ERROR,
                CURLE_RECV_ERROR, CURLE_PARTIAL_FILE:
                .connectionFailed
            case CURLE_OUT_OF_MEMORY: .resourcesExhausted
            default: .other
            }
    }

    /// The kind of an answer that is not used, by its status.
    fileprivate init(status: Int) {
        self =
            switch status {
            case 404, 410: .notFound
            case 200...399: .invalidResponse
            default: .refused(status: status)
            }
    }
}
