public import TenfourMediaSource

/// How requests are made.
public struct HTTPOptions: Sendable {
    /// `http://`, `https://`, `socks4a://`, `socks5://` or `socks5h://` and a host with its port. nil: as the environment has
    /// it (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
    public var proxy: String?
    /// Lines like `X-Key: …` that go with every request to the origin of `trusted`, and with none to another.
    public var headers: [String]
    /// The address that a person typed: `headers` and its user and password go to its origin (scheme, host and port) only.
    /// nil: the address that is asked for. Of a file there is no origin, and nothing is sent.
    public var trusted: Resource?
    /// Follows a server from https to http. Neither `headers` nor a user and password go there.
    public var allowsDowngrade: Bool
    public var userAgent: String
    /// The longest time until a connection is made, and then until the next byte that is waited for.
    public var timeout: Duration
    /// How long a connection that broke is tried again, once bytes have come: for ever where nil. Time in a pause does not count.
    public var giveUpAfter: Duration? = .seconds(60)
    /// The same for a live stream: what it sends meanwhile cannot be fetched later.
    public var giveUpLiveAfter: Duration?
    /// A file of certificates (PEM) to trust in place of the system's.
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
        // 1 at least: 0 would mean five minutes to libcurl.
        return max(Int(clamping: min(seconds, 1_000_000)) * 1_000 + Int(attoseconds / 1_000_000_000_000_000), 1)
    }
}

/// One request.
struct HTTPRequest {
    var address: String
    /// The headers that a person typed for this origin; none for another.
    var typedHeaders: [String]
    var options: HTTPOptions
    /// As libcurl wants it: `1000-`.
    var range: String?
    /// The server is to send the part only if the whole is still this.
    var ifRange: String?

    static let maximumRedirectCount = 10

    var headers: [String] {
        // Control characters would end a header and begin another.
        var lines = typedHeaders.filter { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        // Offsets count unpacked bytes, so a packed download could not be resumed.
        if !lines.contains(where: { $0.lowercased().hasPrefix("accept-encoding:") }) {
            lines.append("Accept-Encoding: identity")
        }
        lines.append("Icy-MetaData: 1")
        if let ifRange { lines.append("If-Range: \(ifRange)") }
        return lines
    }
}

extension HTTPOptions {
    /// The request for `target`, which is `asked` or where that led: with credentials only where they were typed for it.
    func request(for target: Resource, askedFor asked: Resource, range: String?, ifRange: String?) -> HTTPRequest? {
        let trusted = trusted ?? asked
        let isTrusted = target.origin != nil && target.origin == trusted.origin
        // An address in a playlist may have a user of its own.
        let owner = [asked, trusted].first { $0.userInfo != nil && $0.origin == target.origin }
        let resource = owner?.userInfo.map(target.adding) ?? target
        guard case .http(let address) = resource else { return nil }
        return HTTPRequest(
            address: address, typedHeaders: isTrusted ? headers : [], options: self, range: range, ifRange: ifRange)
    }
}
