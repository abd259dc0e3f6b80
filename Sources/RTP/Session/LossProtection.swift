public import TenfourAudioCore
public import TenfourPackets

/// What is done so that lost packets are not missed: how the bits of our stream are shared between the sound itself and
/// what brings it back.
public struct LossProtection: Hashable, Sendable {
    /// How many packets later each packet's payload goes out again (RFC 2198), in rising order; empty for no copies.
    public var copies: [Int]
    /// Whether the encoder puts a coarser copy of each packet into the next (RFC 6716 section 2.1.7).
    public var inBandFEC: Bool
    /// Whether lost packets are asked for, as far as one can tell, and a share of the bits is kept to send them again.
    public var retransmits: Bool
    /// For the encoder, in bit/s.
    public var bitRate: Int
    /// For the encoder, in percent: zero without in-band FEC.
    public var expectedLoss: Int

    public init(
        copies: [Int] = [], inBandFEC: Bool = false, retransmits: Bool = false, bitRate: Int, expectedLoss: Int = 0
    ) {
        self.copies = copies
        self.inBandFEC = inBandFEC
        self.retransmits = retransmits
        self.bitRate = bitRate
        self.expectedLoss = expectedLoss
    }

    /// Whether nothing at all is done.
    public var isNone: Bool { copies.isEmpty && !inBandFEC && !retransmits }

    /// Whether `other` does the same, though with other bit rates.
    func isSameScheme(as other: Self) -> Bool {
        copies == other.copies && inBandFEC == other.inBandFEC && retransmits == other.retransmits
    }
}

extension LossProtection: CustomStringConvertible {
    /// `none`, `in-band FEC`, `copies @1 @3, retransmits`.
    public var description: String {
        var parts: [String] = []
        if !copies.isEmpty { parts.append("copies " + copies.map { "@\($0)" }.joined(separator: " ")) }
        if inBandFEC { parts.append("in-band FEC") }
        if retransmits { parts.append("resends") }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

/// What a person, and the encoder, allow a defence to be.
public struct LossProtectionConfiguration: Hashable, Sendable {
    public enum Mode: String, CaseIterable, Sendable {
        /// What receivers report decides.
        case auto
        /// Nothing is sent twice, asked for or answered; the encoder is left as it is.
        case off
        /// Copies always, to receivers that take them; what they report decides which. Nothing is asked for.
        case copy
        /// Lost packets are asked for and sent again, and nothing else is done.
        case nack
    }

    public var mode = Mode.auto
    /// Of all payload that we send, in bit/s; what is sent again comes on top, 15 % at the most.
    public var bitRate = 32_000
    /// The sound in one packet of ours.
    public var frameCount = FrameCount(960)
    /// Whether the encoder has in-band FEC to offer.
    public var hasInBandFEC = true
    /// How far behind the fastest packet playout may lie so that lost packets can come back.
    public var maximumDepth = Duration.milliseconds(100)
    /// How our decoder makes up what stays lost; senders are told.
    public var concealment = PacketLossConcealment.plain
    /// Whether depth is spent on as many tries as four round trips have room for, and no more.
    public var followsRoundTrip = false
    /// The dynamic payload type of redundant coding, which we take and, where the receiver names no other, send.
    public var redPayloadType: UInt8 = 63
    /// What the receivers at our remotes can do, where their session description tells; otherwise their reports tell.
    public var remoteCapabilities: Capabilities?
    /// Whether those whom we hear answer NACKs, by their session description; otherwise their reports tell.
    public var sourcesSupportNACK = false

    public init() {}

    /// How deep playout may become at such a round trip.
    public func depth(roundTrip: Duration?) -> Duration {
        guard followsRoundTrip, let roundTrip else { return maximumDepth }
        return min(maximumDepth, roundTrip * 4 + .milliseconds(40))
    }

    /// Who wants quality would rather wait for what may be lost than miss it: a source is taken for one whose packets get lost
    /// until it has shown that they do not.
    public var expectsLoss: Bool { followsRoundTrip && asksForLostPackets }

    var asksForLostPackets: Bool { mode == .auto || mode == .nack }

    /// What we say in our reports that we can do.
    var capabilities: Capabilities {
        switch mode {
        case .off: Capabilities()
        case .copy:
            Capabilities(redPayloadType: redPayloadType, depth: maximumDepth, concealment: concealment)
        case .nack:
            Capabilities(supportsNACK: true, depth: maximumDepth, concealment: concealment)
        case .auto:
            Capabilities(
                supportsNACK: true, redPayloadType: redPayloadType, depth: maximumDepth, concealment: concealment)
        }
    }
}
