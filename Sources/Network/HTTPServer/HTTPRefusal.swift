/// The reason why a request is answered without asking the server's owner.
enum HTTPRefusal: Error, Equatable {
    case malformedTarget, targetTooLong, malformedHost, bodyNotAccepted, methodNotAllowed, tooManyConnections

    var answer: HTTPAnswer {
        switch self {
        case .malformedTarget: .text("This address is malformed.", status: 400)
        case .targetTooLong: .text("This address is too long.", status: 414)
        case .malformedHost: .text("The request needs exactly one Host field, with a valid host.", status: 400)
        case .tooManyConnections: .text("Your IP address has too many connections. Close some.", status: 429)
        case .bodyNotAccepted: .text("A request with a body is not accepted.", status: 400)
        case .methodNotAllowed:
            .whole(
                [UInt8]("Only GET and HEAD are allowed.\n".utf8), contentType: "text/plain; charset=utf-8",
                status: 405, fields: [("Allow", "GET, HEAD")])
        }
    }
}

/// Returns whether `host` is a name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 9110
/// section 7.2).
func isHost(_ host: String) -> Bool {
    let bytes = [UInt8](host.utf8)
    guard 1...261 ~= bytes.count else { return false }
    let name: ArraySlice<UInt8>
    let rest: ArraySlice<UInt8>
    if bytes[0] == UInt8(ascii: "[") {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), end > 2,
            bytes[1..<end].map({ Character(Unicode.Scalar($0)) }).allSatisfy({ $0.isHexDigit || ":.".contains($0) })
        else { return false }
        name = bytes[...end]
        rest = bytes[(end + 1)...]
    } else {
        let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
        name = bytes[..<end]
        rest = bytes[end...]
        guard !name.isEmpty, name.allSatisfy(isNameByte) else { return false }
    }
    guard name.count <= 255 else { return false }
    guard let colon = rest.first else { return true }
    return colon == UInt8(ascii: ":") && rest.count <= 6
        && rest.dropFirst().allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
}

private func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
    default: false
    }
}
