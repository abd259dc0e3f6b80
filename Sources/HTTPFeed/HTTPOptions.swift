/// How requests are made.
public struct HTTPOptions: Sendable {
    /// `http://`, `https://`, `socks4a://`, `socks5://` or `socks5h://` and a host with its port. nil: as the environment has
    /// it (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
    public var proxy: String?
    /// Lines like `X-Key: …` that go with every request, also to where a server leads on; `Authorization` and `Cookie` go to
    /// the first host only.
    public var headers: [String]
    public var userAgent: String
    /// So long a connection may take to come about, and then to bring the next byte that somebody waits for.
    public var timeout: Duration
    /// A file of certificates (PEM) to trust in place of the system's.
    public var certificates: String?

    public init(
        proxy: String? = nil, headers: [String] = [], userAgent: String = "tenfour", timeout: Duration = .seconds(10),
        certificates: String? = nil
    ) {
        self.proxy = proxy
        self.headers = headers
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
    var options: HTTPOptions
    /// As libcurl wants it: `1000-`.
    var range: String?
    /// The server is to send the part only if the whole is still this.
    var ifRange: String?

    static let maximumRedirectCount = 10

    var headers: [String] {
        // Control characters would end a header and begin another.
        var lines = options.headers.filter { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        lines.append("Icy-MetaData: 1")
        if let ifRange { lines.append("If-Range: \(ifRange)") }
        return lines
    }
}
