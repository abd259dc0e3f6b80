public import TenfourPackets

/// The methods of loss recovery that a participant supports. Each of our reports states ours in a PRIV item of its
/// source description (Protocol/03-loss-protection.md); a session description may state them, too.
public struct Capabilities: Hashable, Sendable {
    /// Whether the participant requests lost packets by generic NACKs, and retransmits its packets on request (RFC 4585
    /// section 6.2.1).
    public var supportsNACK: Bool
    /// The payload type under which the participant accepts redundant coding (RFC 2198); nil if the participant accepts
    /// none.
    public var redPayloadType: UInt8?
    /// The longest playout delay that the participant allows for the recovery of lost packets, measured from the
    /// arrival of the fastest packet; nil if not stated.
    public var depth: Duration?
    /// The participant's concealment of packets that stay lost; `.plain` if not stated.
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

    /// The capabilities of a participant that receives or sends the stream which `description` describes.
    public init(of description: SessionDescription) {
        self.init(supportsNACK: description.supportsNACK, redPayloadType: description.redundantOpus?.payloadType)
    }

    private static let prefix = "tenfour"
    /// The maximum `depth` that a peer may state, in milliseconds. A larger `depth` is ignored.
    private static let deepest = 10_000
}

extension Capabilities {
    /// The PRIV item, for example `nack red=63 depth=100 deep-plc`; nil if there is nothing to state.
    package var item: SourceDescription.Item? {
        var words: [String] = []
        if supportsNACK { words.append("nack") }
        if let redPayloadType { words.append("red=\(redPayloadType)") }
        guard !words.isEmpty else { return nil }
        if let depth { words.append("depth=\(Int(depth / .milliseconds(1)))") }
        if concealment == .deep { words.append("deep-plc") }
        return SourceDescription.Item(privatePrefix: Self.prefix, words.joined(separator: " "))
    }

    /// Reads the capabilities that a peer states in its source description; nil if it states none. Unknown words are
    /// ignored.
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
