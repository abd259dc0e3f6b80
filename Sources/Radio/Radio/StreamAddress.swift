internal import TenfourPackets

/// The source or destination of a stream, as a person types it.
///
///     rtp://10.0.0.7:5004    rtp://[2001:db8::7]    rtp://@239.0.1.10:5004    rtp://:5004    bob.local    bob.local:6000
///
/// The scheme and the port may be left out. An `@` before a multicast address, as some media players write it, is
/// accepted and ignored: multicast is recognized by the address.
public struct StreamAddress: Hashable, Sendable {
    /// A name or an address; empty for any address of this machine.
    public var host: String
    /// The port that was typed; nil if none was typed.
    public var typedPort: UInt16?
    /// The port that was typed, or RTP's default port 5004.
    public var port: UInt16 { typedPort ?? RTPDefaults.port }

    public init(host: String, port: UInt16? = nil) {
        self.host = host
        typedPort = port
    }

    /// Parses the text that a user typed. Throws `.usage` with a remedy.
    public init(parsing text: String) throws(RadioError) { try self.init(parsing: text, scheme: "rtp") }

    init(parsing text: String, scheme spoken: String) throws(RadioError) {
        var rest = Substring(text)
        let text = Self.shown(text)
        if let separator = rest.range(of: "://") {
            let scheme = rest[..<separator.lowerBound].lowercased()
            guard scheme == spoken else {
                throw RadioError(
                    .usage,
                    "'\(text)' begins with '\(scheme)://', which is not supported: write \(spoken)://HOST:PORT, or a channel's link, tenfour://HOST/NAME#…"
                )
            }
            rest = rest[separator.upperBound...]
        }
        if rest.first == "@" { rest.removeFirst() }
        if rest.last == "/" { rest.removeLast() }
        guard !rest.contains(where: { $0 == "/" || $0 == "?" || $0 == "#" || $0.isWhitespace }) else {
            throw RadioError(.usage, "'\(text)' is not an address: write rtp://HOST:PORT, such as rtp://10.0.0.7:5004")
        }
        guard !rest.contains("@") else {
            throw RadioError(
                .usage, "'\(text)' has a user or a password, which RTP does not know: write \(spoken)://HOST:PORT")
        }
        (host, typedPort) = try Self.split(rest, of: text)
    }

    /// Returns `text` for error messages. Leaves out the text after a #, because it may be a channel's secret, and a user
    /// and a password.
    private static func shown(_ text: String) -> String {
        var shown = text
        let start = Substring(text).range(of: "://")?.upperBound ?? text.startIndex
        // An address has no path: what stands before the last @ belongs to the password, also a /, ? or #.
        if let at = text[start...].lastIndex(of: "@"), at > start { shown.replaceSubrange(start..<at, with: "…") }
        return shown.contains("#") ? "\(shown.prefix { $0 != "#" })#…" : shown
    }

    private static func split(_ rest: Substring, of text: String) throws(RadioError) -> (String, UInt16?) {
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else {
                throw RadioError(
                    .usage, "'\(text)' has no closing bracket: write rtp://[2001:db8::7]:5004")
            }
            let after = rest[rest.index(after: end)...]
            let host = String(rest[rest.index(after: rest.startIndex)..<end])
            guard !host.isEmpty else {
                throw RadioError(.usage, "'\(text)' has nothing between the brackets: write rtp://[2001:db8::7]:5004")
            }
            guard let first = after.first else { return (host, nil) }
            guard first == ":" else {
                throw RadioError(.usage, "'\(text)' has extra text after the bracket: write rtp://[2001:db8::7]:5004")
            }
            return (host, try port(after.dropFirst(), of: text))
        }
        let colons = rest.indices.filter { rest[$0] == ":" }
        guard let colon = colons.first else { return (String(rest), nil) }
        // Returns an IPv6 address that is written without brackets. Such a text contains no port.
        guard colons.count == 1 else { return (String(rest), nil) }
        return (String(rest[..<colon]), try port(rest[rest.index(after: colon)...], of: text))
    }

    private static func port(_ digits: Substring, of text: String) throws(RadioError) -> UInt16 {
        guard let port = UInt16(digits), port > 0, digits.allSatisfy(\.isNumber) else {
            throw RadioError(.usage, "'\(digits)' in '\(text)' is not a port: write a number from 1 to 65535")
        }
        return port
    }
}

extension Substring {
    /// The range of the first occurrence of `text`; nil if there is none.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            formIndex(after: &start)
        }
        return nil
    }
}
