public import TenfourMediaSource

/// The settings of HTTP requests.
public struct HTTPOptions: Sendable {
    /// The proxy: `http://`, `https://`, `socks4a://`, `socks5://` or `socks5h://` and a host with its port. nil: the
    /// proxy from the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
    public var proxy: String?
    /// Header lines such as `X-Key: …`, sent with every request to the origin of `trusted` and to no other origin.
    public var headers: [String]
    /// The address that the user typed. `headers`, user and password go only to its origin (scheme, host and port).
    /// nil: the requested address. A file has no origin, so nothing is sent.
    public var trusted: Resource?
    /// Whether to follow redirects from https to http. `headers`, user and password are not sent to the new address.
    public var allowsDowngrade: Bool
    /// The name by which the program introduces itself to the server.
    public var userAgent: String
    /// The time limit for connecting, and afterwards for the arrival of each next byte.
    public var timeout: Duration
    /// The time limit for restoring a broken connection that has delivered bytes before; nil: no limit. Pauses of
    /// playback are not included.
    public var giveUpAfter: Duration? = .seconds(60)
    /// The limit `giveUpAfter` for a live stream, whose missed audio cannot be fetched later; nil: no limit.
    public var giveUpLiveAfter: Duration?
    /// A PEM file of certificates to trust instead of the system's; nil: the file and the folder that SSL_CERT_FILE and
    /// SSL_CERT_DIR name in the environment, or the system's.
    public var certificates: String?

    public init(
        proxy: String? = nil, headers: [String] = [], trusted: Resource? = nil, allowsDowngrade: Bool = false,
        userAgent: String = "tenfour", timeout: Duration = .seconds(10), certificates: String? = nil
    ) {
        self.proxy = proxy
        self.headers = headers
        self.trusted = trusted
        self.allowsDowngrade = allowsDowngrade
        self.userAgent = userAgent
        self.timeout = timeout
        self.certificates = certificates
    }

    var timeoutMilliseconds: Int {
        let (seconds, attoseconds) = timeout.components
        // At least 1 ms, since libcurl takes 0 for its default of five minutes.
        return max(Int(clamping: min(seconds, 1_000_000)) * 1_000 + Int(attoseconds / 1_000_000_000_000_000), 1)
    }
}

/// An HTTP request.
struct FetchRequest {
    var address: String
    /// The header lines to send; empty if the address's origin is not trusted.
    var typedHeaders: [String]
    var options: HTTPOptions
    /// The byte range, such as `1000-`.
    var range: String?
    /// The validator of `If-Range`: the server sends the range only if the resource still matches it.
    var ifRange: String?
    /// Whether a compressed body is decompressed.
    var decompresses = true

    static let maximumRedirectCount = 10

    var headers: [String] {
        // Drops lines with control characters, which would end the header line and begin another.
        var lines = typedHeaders.filter { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        if !decompresses { lines.append("Accept-Encoding: identity") }
        lines.append("Icy-MetaData: 1")
        if let ifRange { lines.append("If-Range: \(ifRange)") }
        return lines
    }
}

extension HTTPOptions {
    /// Returns the request for `target`, which is `asked` or the address to which `asked` redirects. Credentials are
    /// added only for the origin for which they were typed.
    func request(for target: Resource, askedFor asked: Resource, range: String?, ifRange: String?) -> FetchRequest? {
        let trusted = trusted ?? asked
        let isTrusted = target.origin != nil && target.origin == trusted.origin
        // The address whose credentials are sent: `asked`, which may be a playlist's entry with its own credentials, or
        // `trusted`.
        let owner = [asked, trusted].first { $0.userInfo != nil && $0.origin == target.origin }
        let resource = owner?.userInfo.map(target.adding) ?? target
        guard case .http(let address) = resource else { return nil }
        return FetchRequest(
            address: address, typedHeaders: isTrusted ? headers : [], options: self, range: range, ifRange: ifRange)
    }
}
