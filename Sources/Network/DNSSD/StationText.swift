internal import TenfourAudioCore

/// The TXT record of a station (RFC 6763 section 6): its version, and what it accepts besides RTP.
public struct StationText: Hashable, Sendable {
    /// The version of the program, such as `0.5`, safe to display; empty if it is not told.
    public var version = ""
    public var accepts: Accepted = []

    /// What a station accepts.
    public struct Accepted: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Invitations to a call (Protocol/12-call.md).
        public static let calls = Accepted(rawValue: 1)
        /// Pairing by three words (Protocol/11-pairing.md).
        public static let pairing = Accepted(rawValue: 2)
    }

    private static let names: [(Accepted, String)] = [(.calls, "call"), (.pairing, "pair")]
    private static let maximumVersionLength = 20

    public init(version: String, accepts: Accepted) {
        self.version = version
        self.accepts = accepts
    }

    /// Reads the strings of a TXT record. Unknown keys and values are skipped, as are strings that are no UTF-8.
    init(parsing strings: [[UInt8]]) {
        for string in strings.prefix(16) {
            guard let text = String(validating: string.prefix(255), as: UTF8.self),
                let equals = text.firstIndex(of: "=")
            else { continue }
            let value = String(text[text.index(after: equals)...])
            switch text[..<equals].lowercased() {
            case "version": version = String(fromPeer: value, limit: Self.maximumVersionLength)
            case "accepts":
                let words = value.split(separator: ",")
                for (kind, name) in Self.names where words.contains(Substring(name)) { accepts.insert(kind) }
            default: break
            }
        }
    }

    /// The strings of the TXT record, each at most 255 bytes.
    var strings: [[UInt8]] {
        let accepted = Self.names.filter { accepts.contains($0.0) }.map(\.1).joined(separator: ",")
        return ["txtvers=1", "version=\(version)", "accepts=\(accepted)"].map { Array($0.utf8.prefix(255)) }
    }
}
