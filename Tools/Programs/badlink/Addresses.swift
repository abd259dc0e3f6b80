import TenfourRadio
import TenfourSession
import TenfourUV

/// Parses `:6000`, `192.0.2.1:6000` or `[::1]:6000`. With port 0 the system chooses the port.
func listenEndpoint(_ text: String) throws -> Endpoint {
    let (host, port) = try split(text, example: ":6000")
    return host.isEmpty ? Endpoint(.anyV6, port: port) : try Resolver.resolve(host, port: port)[0]
}

/// Parses `host:5004` with a name or an address. Blocks while the name is resolved.
func targetEndpoint(_ text: String) throws -> Endpoint {
    let (host, port) = try split(text, example: "10.0.0.7:5004")
    guard !host.isEmpty, port > 0 else {
        throw RadioError(.usage, "'\(text)' has no host: write host:port, for example 10.0.0.7:5004")
    }
    return try Resolver.resolve(host, port: port)[0]
}

private func split(_ text: String, example: String) throws -> (host: String, port: UInt16) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
        throw RadioError(.usage, "'\(text)' has no port from 0 to 65535: write it as \(example)")
    }
    var host = text[..<colon]
    if host.hasPrefix("[") && host.hasSuffix("]") {
        host = host.dropFirst().dropLast()
    } else if host.contains(":") {
        throw RadioError(.usage, "'\(text)' is an IPv6 address without brackets: write it as [2001:db8::7]:5004")
    }
    return (String(host), port)
}
