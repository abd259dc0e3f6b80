public import TenfourPackets

/// What a station can do against loss. Each of our reports says it in a PRIV item of its source description
/// (Protocol/03-loss-protection.md); a session description may say it, too.
public struct Capabilities: Hashable, Sendable {
    /// Asks for what it misses by generic NACKs, and answers those for what it sends (RFC 4585 section 6.2.1).
    public var supportsNACK: Bool
    /// Takes redundant coding (RFC 2198) under this payload type; nil where it does not.
    public var redPayloadType: UInt8?
    /// How far behind the fastest packet it may play, so that lost ones can come back; nil where it does not say.
    public var depth: Duration?
    /// How it makes up what stays lost; plain where it does not say.
    public var concealment: PacketLossConcealment

    public init(
        supportsNACK: Bool = false, redPayloadType: UInt8? = nil, depth: Duration? = nil,
        concealment: PacketLossConcealment = .plain
    ) {
        self.supportsNACK = supportsNACK
        self.redPayloadType = redPayloadType
        self.depth = depth
        self.concealment = concealment
    }

    /// Of one who receives the stream that `description` describes, or sends it.
    public init(of description: SessionDescription) {
        self.init(supportsNACK: description.supportsNACK, redPayloadType: description.redundantOpus?.payloadType)
    }

    private static let prefix = "tenfour"
    /// Deeper, and nobody would wait for it.
    private static let deepest = 10_000
}

extension Capabilities {
    /// `nack red=63 depth=100 deep-plc`. Nil when there is nothing to say.
    package var item: SourceDescription.Item? {
        var words: [String] = []
        if supportsNACK { words.append("nack") }
        if let redPayloadType { words.append("red=\(redPayloadType)") }
        guard !words.isEmpty else { return nil }
        if let depth { words.append("depth=\(Int(depth / .milliseconds(1)))") }
        if concealment == .deep { words.append("deep-plc") }
        return SourceDescription.Item(privatePrefix: Self.prefix, words.joined(separator: " "))
    }

    /// What a peer says of itself; nil where it says nothing. Words that are not known are passed over.
    package init?(_ chunk: SourceDescription.Chunk) {
        guard let text = chunk.items.lazy.compactMap({ $0.text(behindPrivatePrefix: Self.prefix) }).first else {
            return nil
        }
        self.init()
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1)
            let number = parts.count == 2 ? UInt16(parts[1]) : nil
            switch (parts.first, number) {
            case ("nack", nil): supportsNACK = true
            case ("deep-plc", nil): concealment = .deep
            case ("red", let number?) where number < 128: redPayloadType = UInt8(number)
            case ("depth", let number?) where number <= Self.deepest: depth = .milliseconds(Int(number))
            default: continue
            }
        }
    }
}
