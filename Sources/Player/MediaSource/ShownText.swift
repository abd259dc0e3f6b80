internal import TenfourAudioCore

/// `text` from outside as people may see it, as `String(fromPeer:)` has it, in which runs of white space are one space each. What
/// passes `limit` Unicode scalars is cut off and ends in "…". nil when nothing is left.
public func shown(_ text: String, limit: Int = 300) -> String? {
    // What would be cut off anyway need not be looked at.
    let scalars = text.unicodeScalars.prefix(limit * 8)
    let words = scalars.split(whereSeparator: \.properties.isWhitespace).map { String(String.UnicodeScalarView($0)) }
    return words.isEmpty ? nil : String(fromPeer: words.joined(separator: " "), limit: limit)
}
