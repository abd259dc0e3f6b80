/// The NATS servers, and the certificate and credentials with which we log in.
public struct NATSConfiguration: Sendable, Equatable {
    /// The URLs of the servers, such as `nats://10.0.0.7:4222` or `tls://nats.example.org`. They form one NATS cluster.
    public var servers: [String]
    /// A PEM file with the certificates of the authorities that must have signed the servers' certificates; nil for
    /// those of the system.
    public var authorities: String?
    /// PEM files with our certificate and its key; nil if servers ask for none.
    public var certificate: (file: String, key: String)? {
        get { certificateFiles.map { ($0.file, $0.key) } }
        set { certificateFiles = newValue.map { Files(file: $0.file, key: $0.key) } }
    }
    public var credentials: Credentials?
    private var certificateFiles: Files?

    private struct Files: Sendable, Equatable {
        var file: String
        var key: String
    }

    public enum Credentials: Sendable, Equatable {
        case user(String, password: String)
        /// The path of a file that NATS's tools make, with a user's JWT and seed.
        case file(String)
    }

    public init(servers: [String]) { self.servers = servers }

    /// Returns whether a text is a server's URL. A URL with a user name is refused, because other users of this machine
    /// could see the password in it.
    public static func isServer(_ text: String) -> Bool {
        for scheme in ["nats://", "tls://"] where text.hasPrefix(scheme) {
            let rest = text.dropFirst(scheme.count)
            let isHost = !rest.isEmpty && rest.utf8.allSatisfy { $0 > 32 && $0 < 127 }
            if let port = hostAndPort(in: rest).port, (UInt16(port) ?? 0) == 0 { return false }
            return isHost && !rest.contains { "@/,\"'".contains($0) }
        }
        return false
    }

    /// Returns the host in a server's URL, an IPv6 address without its brackets.
    static func host(of server: String) -> String {
        let host = hostAndPort(in: server.drop { $0 != "/" }.drop { $0 == "/" }).host
        return String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host)
    }

    /// Splits what follows `//` in a URL; the port is nil if there is no colon before one.
    private static func hostAndPort(in text: Substring) -> (host: Substring, port: Substring?) {
        let afterAddress = text.lastIndex(of: "]").map(text.index(after:)) ?? text.startIndex
        guard let colon = text[afterAddress...].lastIndex(of: ":") else { return (text, nil) }
        return (text[..<colon], text[text.index(after: colon)...])
    }

    /// Throws if libnats is missing, or refuses a certificate or credentials.
    public func check() throws(NATSError) {
        try loadNATS()
        for server in servers { _ = try NATSOptions(self, for: server) }
    }

    var usesTLS: Bool { authorities != nil || certificateFiles != nil || servers.contains { $0.hasPrefix("tls://") } }
}
