extension IPAddress {
    /// Parses the text that `description` returns, and any other spelling of RFC 4291 section 2.2; a scope must be a
    /// number. Nil for anything else, including host names.
    public init?(_ text: some StringProtocol) {
        if let number = Self.v4(text) {
            self = .v4(number)
            return
        }
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let number = Self.v6(first) else { return nil }
        var scope: UInt32 = 0
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy(isDigit), let given = UInt32(parts[1]) else { return nil }
            scope = given
        }
        let (high, low) = (UInt64(truncatingIfNeeded: number >> 64), UInt64(truncatingIfNeeded: number))
        self =
            high == 0 && low >> 32 == 0xFFFF
            ? .v4(UInt32(truncatingIfNeeded: low)) : .v6(high: high, low: low, scope: scope)
    }

    private static func v4(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var number: UInt32 = 0
        for part in parts {
            guard part.utf8.count <= 3, part.utf8.allSatisfy(isDigit), let byte = UInt8(part) else { return nil }
            number = number << 8 | UInt32(byte)
        }
        return number
    }

    private static func v6(_ text: some StringProtocol) -> UInt128? {
        let bytes = Array(text.utf8)
        guard bytes.count <= 45 else { return nil }
        let gaps = bytes.indices.dropLast().filter { bytes[$0] == colon && bytes[$0 + 1] == colon }
        guard gaps.count <= 1 else { return nil }
        guard let gap = gaps.first else {
            guard let groups = groups(bytes[...]), groups.count == 8 else { return nil }
            return number(groups)
        }
        guard let front = groups(bytes[..<gap]), let back = groups(bytes[(gap + 2)...]), front.count + back.count < 8
        else { return nil }
        return number(front + Array(repeating: 0, count: 8 - front.count - back.count) + back)
    }

    /// Parses groups of hexadecimal digits, of which the last two may be written as an IPv4 address.
    private static func groups(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        if bytes.isEmpty { return [] }
        var groups: [UInt16] = []
        let parts = bytes.split(separator: colon, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, let address = v4(String(decoding: part, as: UTF8.self)) {
                groups += [UInt16(truncatingIfNeeded: address >> 16), UInt16(truncatingIfNeeded: address)]
                continue
            }
            guard (1...4).contains(part.count), part.first != UInt8(ascii: "+"), part.first != UInt8(ascii: "-"),
                let group = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups.count <= 8 ? groups : nil
    }

    private static func number(_ groups: [UInt16]) -> UInt128 { groups.reduce(0) { $0 << 16 | UInt128($1) } }
}

extension Endpoint {
    /// Parses the text that `description` returns: `192.0.2.1:5004`, `[2001:db8::1]:5004`. Nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard let end = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: end)...]
        guard digits.utf8.count <= 5, digits.utf8.allSatisfy(isDigit), let port = UInt16(digits) else { return nil }
        let host = text[..<end]
        if host.hasPrefix("[") {
            let inside = host.dropFirst().dropLast()
            guard host.hasSuffix("]"), inside.contains(":"), let address = IPAddress(inside) else { return nil }
            self.init(address, port: port)
        } else {
            guard !host.contains(":"), let address = IPAddress(host) else { return nil }
            self.init(address, port: port)
        }
    }
}

private let colon = UInt8(ascii: ":")

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
