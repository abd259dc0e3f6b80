public import TenfourAudioCore
public import TenfourPackets

/// The protection of our stream against loss: the recovery data that it carries, and the bit rate left for the encoder.
public struct LossProtection: Hashable, Sendable {
    /// The distances, in packets, at which each payload is sent again as a copy (RFC 2198), in rising order; empty for
    /// no copies.
    public var copies: [Int]
    /// Whether the encoder puts a coarser copy of each packet into the next (RFC 6716 section 2.1.7).
    public var inBandFEC: Bool
    /// Whether receivers are expected to request lost packets. Part of the bit rate is then kept for retransmissions.
    public var retransmits: Bool
    /// The encoder's bit rate, in bit/s.
    public var bitRate: Int
    /// The encoder's expected loss, in percent; zero without in-band FEC.
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

    /// Whether there is no protection.
    public var isNone: Bool { copies.isEmpty && !inBandFEC && !retransmits }

    /// Whether `other` uses the same copies, in-band FEC and retransmission; the bit rate and the expected loss may
    /// differ.
    func isSameScheme(as other: Self) -> Bool {
        copies == other.copies && inBandFEC == other.inBandFEC && retransmits == other.retransmits
    }
}

extension LossProtection: CustomStringConvertible {
    /// For example `none`, `in-band FEC` or `copies @1 @3, resends`.
    public var description: String {
        var parts: [String] = []
        if !copies.isEmpty { parts.append("copies " + copies.map { "@\($0)" }.joined(separator: " ")) }
        if inBandFEC { parts.append("in-band FEC") }
        if retransmits { parts.append("resends") }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

/// The settings of loss protection: choices of the user, and properties of the program's encoder and decoder.
public struct LossProtectionConfiguration: Hashable, Sendable {
    public enum Mode: String, CaseIterable, Sendable {
        /// The reports of receivers decide which protection is used.
        case auto
        /// No copies, no NACKs, no retransmissions; the encoder's settings are not changed.
        case off
        /// Copies are always sent to receivers that accept copies; the reports decide their distances. No NACKs, no
        /// retransmissions.
        case copy
        /// Lost packets are requested and retransmitted; there is no other protection.
        case nack
    }

    public var mode = Mode.auto
    /// The bit rate of the whole payload that we send, redundant copies included, in bit/s. Retransmissions are not
    /// included; they add at most 15 %.
    public var bitRate = 32_000
    /// The duration of one packet that we send.
    public var frameCount = FrameCount(960)
    /// Whether the encoder offers in-band FEC.
    public var hasInBandFEC = true
    /// The largest playout delay allowed for the recovery of lost packets, measured from the arrival of the fastest
    /// packet.
    public var maximumDelay = Duration.milliseconds(100)
    /// Our decoder's concealment of lost packets, which our reports state to the senders.
    public var concealment = PacketLossConcealment.plain
    /// Whether the playout delay for recovery is also limited to four round trips plus 40 ms, enough time for repeated
    /// requests.
    public var followsRoundTrip = false
    /// The dynamic payload type of redundant coding that we accept. We also send it, unless the receiver names another
    /// one.
    public var redPayloadType: UInt8 = 63
    /// The capabilities of the receivers at our remotes, from their session description. Nil if it states none; the
    /// capabilities in their reports are then used.
    public var remoteCapabilities: Capabilities?
    /// Whether the session description of the sources states that they answer NACKs. If false, the capabilities in
    /// their reports decide.
    public var sourcesSupportNACK = false

    public init() {}

    /// Returns the maximum playout delay allowed for recovery. Returns `maximumDelay` if `roundTrip` is nil, because
    /// the round trip is unknown.
    public func depth(roundTrip: Duration?) -> Duration {
        guard followsRoundTrip, let roundTrip else { return maximumDelay }
        return min(maximumDelay, roundTrip * 4 + .milliseconds(40))
    }

    /// Whether a new source is treated as lossy during its first seconds, because a longer delay is preferred to
    /// missing packets.
    public var expectsLoss: Bool { followsRoundTrip && asksForLostPackets }

    var asksForLostPackets: Bool { mode == .auto || mode == .nack }

    /// The capabilities that our reports state.
    var capabilities: Capabilities {
        switch mode {
        case .off: Capabilities()
        case .copy:
            Capabilities(redPayloadType: redPayloadType, depth: maximumDelay, concealment: concealment)
        case .nack:
            Capabilities(supportsNACK: true, depth: maximumDelay, concealment: concealment)
        case .auto:
            Capabilities(
                supportsNACK: true, redPayloadType: redPayloadType, depth: maximumDelay, concealment: concealment)
        }
    }
}
