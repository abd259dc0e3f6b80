internal import TenfourAudioCore

/// Returns text from outside for display, as `String(fromPeer:)` does, with runs of white space reduced to one space.
/// Text beyond `limit` Unicode scalars is cut and ends in "…". Returns nil if nothing is left.
public func shown(_ text: String, limit: Int = 300) -> String? {
    // Bounds the work for long texts.
    let scalars = text.unicodeScalars.prefix(limit * 8)
    let words = scalars.split(whereSeparator: \.properties.isWhitespace).map { String(String.UnicodeScalarView($0)) }
    return words.isEmpty ? nil : String(fromPeer: words.joined(separator: " "), limit: limit)
}
