internal import TenfourAudioCore
package import TenfourMediaSource

/// The headers of a response: those that matter to a download (RFC 9110), those of radio stations, and the first of all
/// for display. Never fails: any bytes are parsed to some value.
package struct ResponseHead: Equatable {
    /// The length of the body; nil if the header is missing or not a number.
    package var bodyByteCount: Int?
    package var contentRange: ContentRange?
    package var acceptsRanges: Bool?
    package var entityTag: String?
    package var lastModified: String?
    package var contentType: String?
    /// The value of `icy-metaint`: the number of bytes of audio between two metadata blocks.
    package var metadataInterval: Int?
    package var stationName: String?
    /// Whether the response has a header that only radio stations send.
    package var isStation = false
    /// The address of a redirect, as sent by the server.
    package var location: String?
    /// The compression of the body, such as `gzip`; nil if it is not compressed.
    package var packing: String?

    /// The value of Content-Range: `bytes 0-499/1234`, or `bytes */1234` for an unsatisfiable range.
    package struct ContentRange: Equatable {
        package var first: Int?
        /// The resource's length; nil for `*`.
        package var total: Int?
    }

    /// The first `maximumHeaderCount` headers.
    package private(set) var headers: [ResponseHeader] = []

    private static let maximumLineByteCount = 4_096
    package static let maximumHeaderCount = 64

    package init() {}

    /// Parses one header line, with or without its line end. The status line of a response resets all values.
    package mutating func parse(_ line: Span<UInt8>) {
        let bytes = line.extracting(first: Self.maximumLineByteCount)
        let text = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        if text.hasPrefix("HTTP/") || text.hasPrefix("ICY ") {
            self = ResponseHead()
            isStation = text.hasPrefix("ICY ")
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return }
        let (name, value) = (text[..<colon], Self.trimmed(text[text.index(after: colon)...]))
        if headers.count < Self.maximumHeaderCount {
            headers.append(
                ResponseHeader(
                    name: String(fromPeer: String(name), limit: 64), value: String(fromPeer: value, limit: 1_024)))
        }
        parse(name.lowercased(), value)
    }

    private mutating func parse(_ name: String, _ value: String) {
        switch name {
        case "content-length": bodyByteCount = Self.count(value)
        case "content-range": contentRange = Self.range(value)
        case "accept-ranges": acceptsRanges = value.lowercased() == "bytes"
        case "etag": entityTag = value
        case "last-modified": lastModified = value
        case "content-type": contentType = String(fromPeer: value)
        case "location": location = value
        case "content-encoding": packing = Self.packing(value)
        case "icy-metaint": metadataInterval = Self.count(value)
        case "icy-name":
            isStation = true
            stationName = value.isEmpty ? nil : String(fromPeer: value)
        default: if name.hasPrefix("icy-") { isStation = true }
        }
    }

    /// Returns the compression in a Content-Encoding value. Other values, such as `none`, a character set or a media
    /// type, mean no compression: nil.
    private static func packing(_ value: String) -> String? {
        value.lowercased().split(separator: ",").map { trimmed($0) }.first {
            ["gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress"].contains($0)
        }
    }

    private static func range(_ value: String) -> ContentRange? {
        let value = value.lowercased()
        guard value.hasPrefix("bytes") else { return nil }
        let parts = value.dropFirst("bytes".count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        return ContentRange(first: ends.count == 2 ? count(trimmed(ends[0])) : nil, total: count(trimmed(parts[1])))
    }

    private static func count(_ text: some StringProtocol) -> Int? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let count = Int(text), count <= 1 << 60 else {
            return nil
        }
        return count
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
