internal import TenfourAudioCore

/// The entries of a playlist in XML: the tracks of XSPF (xspf.org), or the enclosures of RSS 2.0 and Atom (RFC 4287), as
/// podcasts have them.
struct PlaylistFeed {
    private(set) var references: [Playlist.Reference] = []

    /// The entry that is being read; nil outside of one.
    private var entry: (address: String?, title: String?)?
    /// The element whose text is being read; empty if its text is not needed.
    private var element = ""
    private var text = ""

    /// The number of bytes that tell such a file from others. Comments may come before its first element.
    static let sniffedByteCount = 4_096

    /// Returns whether `bytes` may begin XML.
    static func mayBeFeed(_ bytes: Span<UInt8>) -> Bool {
        var index = bytes.holds("\u{FEFF}", at: 0) ? 3 : 0
        while index < bytes.count, [0x09, 0x0A, 0x0D, 0x20].contains(bytes[index]) { index += 1 }
        return index < bytes.count && bytes[index] == UInt8(ascii: "<")
    }

    /// Returns whether `bytes` begin XSPF, RSS or Atom, by the first element.
    static func isFeed(_ bytes: Span<UInt8>) -> Bool {
        guard mayBeFeed(bytes) else { return false }
        let beginning = bytes.extracting(first: sniffedByteCount)
        var tokens = XMLTokens(String(utf8OrWindows1252: beginning))
        while let token = tokens.next() {
            if case .begin(let name, _) = token { return ["playlist", "rss", "feed", "rdf:RDF"].contains(name) }
        }
        return false
    }

    init(_ bytes: Span<UInt8>) {
        var tokens = XMLTokens(String(utf8OrWindows1252: bytes))
        while let token = tokens.next(), references.count < Playlist.maximumEntryCount {
            switch token {
            case .begin(let name, let attributes): begin(name, attributes)
            case .end(let name): end(name)
            case .text(let more): if !element.isEmpty { text += more }
            }
        }
    }

    private mutating func begin(_ name: String, _ attributes: [String: String]) {
        switch name {
        case "track", "item", "entry": entry = (nil, nil)
        case "location", "title":
            if entry != nil { (element, text) = (name, "") }
        case "enclosure": adopt(attributes["url"], type: attributes["type"])
        case "link" where attributes["rel"] == "enclosure": adopt(attributes["href"], type: attributes["type"])
        default: break
        }
    }

    /// Takes the first enclosure of an entry that may be sound.
    private mutating func adopt(_ address: String?, type: String?) {
        let kind = type?.lowercased().prefix { $0 != "/" } ?? "audio"
        guard entry != nil, entry?.address == nil, ["audio", "video", "application", ""].contains(kind) else { return }
        entry?.address = address
    }

    private mutating func end(_ name: String) {
        if name == element {
            var text = text[...].drop(while: \.isWhitespace)
            while text.last?.isWhitespace == true { text.removeLast() }
            if name == "location", entry?.address == nil { entry?.address = String(text) }
            if name == "title", entry?.title == nil, !text.isEmpty { entry?.title = String(text) }
            element = ""
        }
        guard ["track", "item", "entry"].contains(name), let entry else { return }
        if let address = entry.address, !address.isEmpty {
            references.append(Playlist.Reference(text: address, title: entry.title))
        }
        self.entry = nil
    }
}

/// Splits XML into tags and text. What is not well-formed is read as far as it can be. Entities that a document declares
/// are not expanded, so that the text cannot grow without bound.
struct XMLTokens {
    enum Token: Equatable {
        case begin(String, [String: String])
        case end(String)
        case text(String)
    }

    private let bytes: [UInt8]
    private var place = 0
    /// The end of an element that has no contents, such as `<enclosure/>`.
    private var pendingEnd: String?

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func next() -> Token? {
        if let name = pendingEnd {
            pendingEnd = nil
            return .end(name)
        }
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "<") else {
                let start = place
                while place < bytes.count, bytes[place] != UInt8(ascii: "<") { place += 1 }
                return .text(Self.unescaped(bytes[start..<place]))
            }
            if holds("<!--") {
                skip(past: "-->")
            } else if holds("<![CDATA[") {
                let start = place + 9
                skip(past: "]]>")
                let end = max(place - 3, start)
                return .text(String(decoding: bytes[min(start, bytes.count)..<min(end, bytes.count)], as: UTF8.self))
            } else if holds("<?") {
                skip(past: "?>")
            } else if holds("<!") {
                skip(past: ">")
            } else if let tag = tag() {
                return tag
            }
        }
        return nil
    }

    private func holds(_ text: StaticString) -> Bool { bytes.span.holds(text, at: place) }

    private mutating func skip(past text: StaticString) {
        while place < bytes.count, !holds(text) { place += 1 }
        place = min(place + text.utf8CodeUnitCount, bytes.count)
    }

    /// Reads the tag at `place`; nil if it is none.
    private mutating func tag() -> Token? {
        place += 1
        let isEnd = place < bytes.count && bytes[place] == UInt8(ascii: "/")
        if isEnd { place += 1 }
        let name = word()
        var attributes: [String: String] = [:]
        var isEmpty = false
        while place < bytes.count, bytes[place] != UInt8(ascii: ">") {
            if bytes[place] == UInt8(ascii: "/") { isEmpty = true }
            let key = word()
            if key.isEmpty {
                place += 1
                continue
            }
            while place < bytes.count, Self.isSpace(bytes[place]) || bytes[place] == UInt8(ascii: "=") { place += 1 }
            guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "'") else {
                continue
            }
            let quote = bytes[place]
            let start = place + 1
            place = start
            while place < bytes.count, bytes[place] != quote { place += 1 }
            if attributes.count < 64 { attributes[key] = Self.unescaped(bytes[start..<place]) }
            isEmpty = false
            place += 1
        }
        place = min(place + 1, bytes.count)
        if name.isEmpty { return nil }
        if isEnd { return .end(name) }
        if isEmpty { pendingEnd = name }
        return .begin(name, attributes)
    }

    /// Reads a name; empty if there is none at `place`.
    private mutating func word() -> String {
        let start = place
        while place < bytes.count, !Self.isSpace(bytes[place]), !"<>/='\"".utf8.contains(bytes[place]) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0D, 0x20].contains(byte) }

    /// Replaces references such as `&amp;` and `&#233;`.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            guard let end = rest.prefix(12).firstIndex(of: ";"),
                let scalar = scalar(named: rest[rest.index(after: start)..<end])
            else {
                result += "&"
                rest = rest.dropFirst()
                continue
            }
            result.unicodeScalars.append(scalar)
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func scalar(named name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.first == "#" else { return nil }
            let digits = name.dropFirst()
            let isHexadecimal = digits.first == "x" || digits.first == "X"
            let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap { $0 > 0 ? Unicode.Scalar($0) : nil }
        }
    }
}
