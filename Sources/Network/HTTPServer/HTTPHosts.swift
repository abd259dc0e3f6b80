internal import TenfourSession

/// The hosts for which an HTTP server answers: every IP address, localhost, and the names that its operator has written.
///
/// A page of another site cannot read an answer, even if the name of that site leads to the server's address by now (DNS
/// rebinding): the browser still sends the name, which is not among these.
public struct HTTPHosts: Sendable, Equatable {
    private let names: Set<String>

    /// `names` are host names without a port. Capitals and a dot at the end make no difference.
    public init(_ names: Set<String> = []) {
        self.names = Set(names.map { Self.plain($0[...]) })
    }

    /// Returns whether the server answers for `host`, the value of a Host field. Its port makes no difference, because a
    /// proxy may have another.
    func contain(_ host: String) -> Bool {
        guard let name = hostName(of: host) else { return false }
        if name.hasPrefix("[") {
            let inside = name.dropFirst().dropLast()
            return inside.contains(":") && IPAddress(inside) != nil
        }
        let plain = Self.plain(name)
        return IPAddress(name) != nil || plain == "localhost" || names.contains(plain)
    }

    /// Returns whether the server answers a page of `origin`, the value of an Origin field (RFC 6454 section 7): `http` or
    /// `https` at one of the hosts.
    func contain(origin: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: origin.lowercased().hasPrefix) else { return false }
        return contain(String(origin.dropFirst(scheme.count)))
    }

    /// In small letters, and without the dot that ends a full name.
    private static func plain(_ name: Substring) -> String {
        (name.hasSuffix(".") ? name.dropLast() : name).lowercased()
    }
}

extension HTTPRequest {
    /// Checks that Host and, where a page sends it, Origin are among `hosts`.
    func check(_ hosts: HTTPHosts) throws(HTTPRefusal) {
        let (host, origin) = (values(of: "Host"), values(of: "Origin"))
        guard host.count <= 1, host.allSatisfy(isHost) else { throw .malformedHost }
        guard host.allSatisfy({ hosts.contain($0) }) else { throw .hostNotAccepted }
        guard origin.count <= 1, origin.allSatisfy({ hosts.contain(origin: $0) }) else { throw .originNotAccepted }
    }
}

/// Returns the name, the IPv4 address or the IPv6 address in brackets of `host`, which may have a port; nil if `host` is no
/// host (RFC 9110 section 7.2).
func hostName(of host: String) -> Substring? {
    let bytes = host.utf8
    guard 1...261 ~= bytes.count else { return nil }
    let end: String.Index
    if host.hasPrefix("[") {
        guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let inside = bytes[bytes.index(after: bytes.startIndex)..<bracket]
        guard inside.count > 1, inside.allSatisfy({ isHexadecimal($0) || $0 == UInt8(ascii: ":") || isDot($0) }) else {
            return nil
        }
        end = bytes.index(after: bracket)
    } else {
        end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        guard end > bytes.startIndex, bytes[..<end].allSatisfy(isNameByte) else { return nil }
    }
    let (name, rest) = (bytes[..<end], bytes[end...])
    guard name.count <= 255 else { return nil }
    guard let colon = rest.first else { return Substring(name) }
    guard colon == UInt8(ascii: ":"), rest.count <= 6, rest.dropFirst().allSatisfy(isDigit) else { return nil }
    return Substring(name)
}

private func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
private func isDot(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") }
private func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || 0x61...0x66 ~= byte | 0x20 }

private func isNameByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || 0x61...0x7A ~= byte | 0x20 || isDot(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
}
