/// The target of a request, for example `/family.ogg?token=a%20b`, decoded (RFC 3986).
struct HTTPTarget {
    var path: String
    var query: [(name: String, value: String)]

    static let maximumParameterCount = 32

    /// Decodes `target`. Throws if it is not a path of valid escapes and UTF-8, without control characters and without
    /// components that leave their folder.
    init(parsing target: Span<UInt8>) throws(HTTPRefusal) {
        guard target.count > 0, target[0] == UInt8(ascii: "/") else { throw .malformedTarget }
        var end = target.count
        for index in target.indices {
            // RFC 3986 section 2: anything else must be escaped. A fragment is never sent.
            guard 0x21...0x7E ~= target[index], target[index] != UInt8(ascii: "#") else { throw .malformedTarget }
            if end == target.count, target[index] == UInt8(ascii: "?") { end = index }
        }
        path = try Self.decoded(target, 0..<end, plusIsSpace: false)
        // Splits bytes, because a slash with a combining character after it is another Character.
        for component in path.utf8.split(separator: UInt8(ascii: "/"))
        where component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8) {
            throw .malformedTarget
        }
        query = []
        var start = end + 1
        while start < target.count {
            var next = start
            var equals: Int?
            while next < target.count, target[next] != UInt8(ascii: "&") {
                if equals == nil, target[next] == UInt8(ascii: "=") { equals = next }
                next += 1
            }
            guard query.count < Self.maximumParameterCount else { throw .malformedTarget }
            let name = try Self.decoded(target, start..<(equals ?? next), plusIsSpace: true)
            let value = try equals.map { (equals) throws(HTTPRefusal) in
                try Self.decoded(target, equals + 1..<next, plusIsSpace: true)
            }
            query.append((name, value ?? ""))
            start = next + 1
        }
    }

    private static func decoded(
        _ target: Span<UInt8>, _ range: Range<Int>, plusIsSpace: Bool
    ) throws(HTTPRefusal) -> String {
        var bytes: [UInt8] = []
        var index = range.lowerBound
        while index < range.upperBound {
            switch target[index] {
            case UInt8(ascii: "%"):
                guard index + 2 < range.upperBound,
                    let high = Character(Unicode.Scalar(target[index + 1])).hexDigitValue,
                    let low = Character(Unicode.Scalar(target[index + 2])).hexDigitValue
                else { throw .malformedTarget }
                bytes.append(UInt8(high << 4 | low))
                index += 3
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(UInt8(ascii: " "))
                index += 1
            case let byte:
                bytes.append(byte)
                index += 1
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || 0x7F...0x9F ~= $0.value })
        else { throw .malformedTarget }
        return text
    }
}
