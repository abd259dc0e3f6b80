/// The scheme, host and port of an address (RFC 6454). Credentials for one origin are never sent to another origin.
public struct Origin: Hashable, Sendable {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case, without a trailing dot.
    public let host: String
    public let port: Int

    /// Parses an address. Returns nil if it has no host, or a port outside 0…65535.
    init?(_ address: String) {
        guard let colons = address.firstRange(of: "://") else { return nil }
        scheme = address[..<colons.lowerBound].lowercased()
        let authority = address[colons.upperBound...].prefix { !"/?#\\".contains($0) }
        let place = authority[
            (authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex)...]
        // Looks for the port's colon after the brackets, since the colons of an IPv6 address stand between brackets.
        let nameEnd = place.lastIndex(of: "]") ?? place.startIndex
        let colon = place[nameEnd...].lastIndex(of: ":")
        var name = place[..<(colon ?? place.endIndex)].lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        host = name
        let digits = colon.map { place[place.index(after: $0)...] } ?? ""
        guard !host.isEmpty, let port = digits.isEmpty ? (scheme == "https" ? 443 : 80) : Int(digits) else {
            return nil
        }
        guard 0...65_535 ~= port else { return nil }
        self.port = port
    }
}

extension Resource {
    /// The origin of an address; nil for files.
    public var origin: Origin? {
        guard case .http(let address) = self else { return nil }
        return Origin(address)
    }

    /// `user:password` before the host of an address, still percent-encoded; nil if there is none.
    public var userInfo: String? {
        guard case .http(let address) = self, let start = address.firstRange(of: "://")?.upperBound else { return nil }
        let authority = address[start...].prefix { !"/?#\\".contains($0) }
        return authority.lastIndex(of: "@").map { String(authority[..<$0]) }
    }

    /// Returns the address with `userInfo` before its host, unless the address already has a user.
    public func adding(userInfo: String) -> Resource {
        guard case .http(let address) = self, self.userInfo == nil,
            let start = address.firstRange(of: "://")?.upperBound
        else { return self }
        return .http(address: "\(address[..<start])\(userInfo)@\(address[start...])")
    }
}
