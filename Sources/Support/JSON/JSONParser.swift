extension JSON {
    /// Parses one JSON value (RFC 8259). Accepts any bytes; throws for what is not JSON, for text after the value, for
    /// invalid UTF-8 and for more than 16 values within each other.
    ///
    /// A whole number that fits becomes `.integer`, every other number `.decimal` with six places.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes)
        self = try parser.document()
    }

    /// Returns the member `name` of an object, the last one if there are several; nil if there is none.
    public func member(_ name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.0 == name }?.1
    }
}

/// Why bytes are not JSON; `at` is the number of bytes before the fault.
public enum JSONError: Error, Hashable, Sendable {
    case malformed(at: Int)
    case tooDeep(at: Int)
}

/// A recursive parser. Its depth is limited, so that input cannot exhaust the stack.
private struct JSONParser {
    private let bytes: [UInt8]
    private var index = 0

    private static let maximumDepth = 16

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value(depth: 0)
        skipSpace()
        guard index == bytes.count else { throw fault }
        return value
    }

    private var fault: JSONError { .malformed(at: index) }
    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D { index += 1 }
    }

    /// Skips `byte` if it is the next one, after white space.
    private mutating func skip(_ byte: Character) -> Bool {
        skipSpace()
        guard next == byte.asciiValue else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        guard depth <= Self.maximumDepth else { throw .tooDeep(at: index) }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
        guard bytes[index...].starts(with: word.utf8) else { throw fault }
        index += word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        index += 1
        var members: [(String, JSON)] = []
        if skip("}") { return .object(members) }
        repeat {
            skipSpace()
            let name = try string()
            guard skip(":") else { throw fault }
            members.append((name, try value(depth: depth + 1)))
        } while skip(",")
        guard skip("}") else { throw fault }
        return .object(members)
    }

    private mutating func list(depth: Int) throws(JSONError) -> JSON {
        index += 1
        var values: [JSON] = []
        if skip("]") { return .list(values) }
        repeat { values.append(try value(depth: depth + 1)) } while skip(",")
        guard skip("]") else { throw fault }
        return .list(values)
    }

    // MARK: Numbers

    private mutating func number() throws(JSONError) -> JSON {
        let start = index
        if next == UInt8(ascii: "-") { index += 1 }
        let first = index
        try digits()
        guard index == first + 1 || bytes[first] != UInt8(ascii: "0") else { throw .malformed(at: first) }
        var isWhole = true
        if next == UInt8(ascii: ".") {
            isWhole = false
            index += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isWhole = false
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let number = Int(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { throw .malformed(at: start) }
        return .decimal(number, places: 6)
    }

    private mutating func digits() throws(JSONError) {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw fault }
    }

    // MARK: Strings

    private mutating func string() throws(JSONError) -> String {
        guard next == UInt8(ascii: "\"") else { throw fault }
        index += 1
        var text: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw fault }
            index += 1
            if byte == UInt8(ascii: "\\") { text += Array(String(try escape()).utf8) } else { text.append(byte) }
        }
        guard next != nil, let string = String(validating: text, as: UTF8.self) else { throw fault }
        index += 1
        return string
    }

    /// Parses what follows a backslash.
    private mutating func escape() throws(JSONError) -> Character {
        guard let byte = next else { throw fault }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(UnicodeScalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return Character(try scalar())
        default: throw .malformed(at: index - 1)
        }
    }

    /// Parses four hexadecimal digits, or eight in two escapes for a scalar above U+FFFF.
    private mutating func scalar() throws(JSONError) -> Unicode.Scalar {
        let high = try codeUnit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard (0xD800...0xDBFF).contains(high), bytes[index...].starts(with: "\\u".utf8) else { throw fault }
        index += 2
        let low = try codeUnit()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw fault }
        return scalar
    }

    private mutating func codeUnit() throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(UnicodeScalar(byte)).hexDigitValue else { throw fault }
            index += 1
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
