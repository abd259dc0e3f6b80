/// The attribute list of a tag, such as `METHOD=AES-128,URI="key"` (RFC 8216, section 4.2). Never fails: parts that are
/// not attributes are left out.
struct HLSAttributes: Equatable {
    private var values: [String: String] = [:]

    /// The largest number of attributes of a tag that are read.
    private static let limit = 64

    init(parsing text: some StringProtocol) {
        var rest = Substring(text)
        while !rest.isEmpty, values.count < Self.limit {
            guard let equals = rest.firstIndex(of: "=") else { return }
            let name = rest[..<equals].drop(while: \.isWhitespace)
            rest = rest[rest.index(after: equals)...]
            let value: Substring
            if rest.first == "\"" {
                rest.removeFirst()
                // A string without its closing quotation mark ends with the line.
                value = rest.prefix { $0 != "\"" }
                rest = rest.dropFirst(value.count).drop { $0 != "," }
            } else {
                value = rest.prefix { $0 != "," }
                rest = rest.dropFirst(value.count)
            }
            if values[String(name)] == nil { values[String(name)] = String(value) }
            if rest.first == "," { rest.removeFirst() }
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// The decimal integer of an attribute; nil if it is missing, no number, or above 2⁵³.
    func integer(_ name: String) -> Int? { self[name].flatMap { HLSNumber.integer($0) } }

    /// The 16 bytes of a hexadecimal number such as `0x1F`, which may have fewer digits; nil if it is no such number.
    func bytes16(_ name: String) -> [UInt8]? {
        guard let text = self[name], text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
        let digits = text.dropFirst(2)
        guard (1...32).contains(digits.utf8.count) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        for (index, digit) in digits.reversed().enumerated() {
            guard digit.isASCII, let value = digit.hexDigitValue else { return nil }
            bytes[15 - index / 2] |= UInt8(value) << (index % 2 == 0 ? 0 : 4)
        }
        return bytes
    }
}

/// The numbers of a playlist. Bounded, so that sums of them do not overflow.
enum HLSNumber {
    static let largest = 1 << 53
    /// The longest duration of a segment. A longer one is shortened to this.
    static let longest = Duration.seconds(3_600)

    /// Parses a decimal integer of 0 to 2⁵³.
    static func integer(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 16, text.utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int(text), number <= largest
        else { return nil }
        return number
    }

    /// Parses a number of seconds, such as `9.009`; at most `longest`.
    static func duration(_ text: some StringProtocol) -> Duration? { seconds(text).map { min($0, longest) } }

    /// Parses a number of seconds, such as `9.009`; at most 10⁶.
    static func seconds(_ text: some StringProtocol) -> Duration? {
        guard text.utf8.contains(where: { (48...57).contains($0) }), text.utf8.count <= 40,
            text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }), let seconds = Double(text)
        else { return nil }
        return .nanoseconds(Int64((min(seconds, 1e6) * 1e9).rounded()))
    }

    /// Parses a byte range `COUNT` or `COUNT@OFFSET`.
    static func byteRange(_ text: some StringProtocol) -> (count: Int, offset: Int?)? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let count = integer(parts[0]), count > 0 else { return nil }
        if parts.count == 1 { return (count, nil) }
        guard let offset = integer(parts[1]) else { return nil }
        return (count, offset)
    }

    /// Parses a date such as `2010-02-19T14:54:23.031+08:00` (ISO 8601) to the time since 1970-01-01 UTC. Without a
    /// time zone it is taken as UTC.
    static func date(_ text: some StringProtocol) -> Duration? {
        let bytes = Array(text.utf8.prefix(64))
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= bytes.count, bytes[range].allSatisfy({ (48...57).contains($0) }) else {
                return nil
            }
            return bytes[range].reduce(0) { $0 * 10 + Int($1 - 48) }
        }
        func has(_ byte: Character, at index: Int) -> Bool { index < bytes.count && bytes[index] == byte.asciiValue }
        guard let year = number(0..<4), has("-", at: 4), let month = number(5..<7), has("-", at: 7),
            let day = number(8..<10), has("T", at: 10) || has("t", at: 10), let hour = number(11..<13),
            has(":", at: 13),
            let minute = number(14..<16), has(":", at: 16), let second = number(17..<19), (1...12).contains(month),
            (1...31).contains(day), hour < 25, minute < 60, second < 61
        else { return nil }
        var nanoseconds = 0
        var index = 19
        if has(".", at: index) {
            index += 1
            var unit = 100_000_000
            while index < bytes.count, (48...57).contains(bytes[index]) {
                nanoseconds += Int(bytes[index] - 48) * unit
                unit /= 10
                index += 1
            }
        }
        var zone = 0
        if has("+", at: index) || has("-", at: index), let hours = number(index + 1..<index + 3) {
            let minutes = number(index + 3..<index + 5) ?? number(index + 4..<index + 6) ?? 0
            zone = (hours * 60 + minutes) * (bytes[index] == 45 ? -60 : 60)
        }
        // The number of days since 1970-01-01 in the Gregorian calendar, with years that begin in March.
        let shifted = year - (month < 3 ? 1 : 0)
        let days =
            365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * ((month + 9) % 12) + 2) / 5 + day - 1
            - 719_468
        return .seconds(days * 86_400 + hour * 3_600 + minute * 60 + second - zone) + .nanoseconds(nanoseconds)
    }
}
