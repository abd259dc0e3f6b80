public import TenfourPackets

/// Whether a partner hears us, according to its reports. It is known only while we transmit.
public enum HearingState: Hashable, Sendable {
    /// No report has covered this transmission yet.
    case notYetKnown
    /// A recent report covers the audio of the last seconds, and the partner plays it.
    case hears
    /// The partner plays our audio, but `missingShare` of it (0…1) is lost or late.
    case hearsBadly(missingShare: Double)
    /// Reports arrive, and none of our packets has arrived for a second or more.
    case hearsNothing
    /// Our packets arrive and are not heard, because the partner has muted its output.
    case muted
    /// Our packets arrive and are not heard, because the partner plays nothing, or its card is gone.
    case noOutput
    /// Our packets arrive, and nearly nothing of them is played: they are late, or cannot be decoded.
    case playsNothing
    /// Reports arrived regularly and arrive no more: whether the partner hears us is not known.
    case noAnswer
    /// The machine there says that no program receives our packets (ICMP).
    case refused
    /// The partner has never sent a report, or never answered the relay.
    case cannotKnow
}

/// A partner and whether it hears us.
public struct Hearing: Hashable, Sendable {
    /// The partner's SSRC; nil if it has never sent a report, or is a member of a channel about which the roster says
    /// nothing.
    public var ssrc: SSRC?
    /// The relay's number of the member, if the partner is one of our channel.
    public var member: UInt32?
    /// The partner's configured address, or the one that its reports come from; the one that refuses our packets.
    public var endpoint: Endpoint
    public var state: HearingState
    /// The time for which the partner has heard nothing, or for which nothing has come from it, or our packets
    /// were refused; nil in the other states.
    public var duration: Duration?

    public init(ssrc: SSRC?, endpoint: Endpoint, state: HearingState, duration: Duration? = nil) {
        self.ssrc = ssrc
        self.endpoint = endpoint
        self.state = state
        self.duration = duration
    }
}

extension HearingState {
    /// Whether the partner hears us, well or badly.
    public var isHearing: Bool { if case .hearsBadly = self { true } else { self == .hears } }

    /// Whether the partner does not hear us, as far as is known.
    public var isUnheard: Bool { !isHearing && self != .notYetKnown && self != .cannotKnow }

    /// Whether the two are the same state, if perhaps with another missing share.
    public func isSameKind(as other: Self) -> Bool {
        if case .hearsBadly = self, case .hearsBadly = other { return true }
        return self == other
    }

    func differs(from before: Self?) -> Bool { before.map { !isSameKind(as: $0) } ?? true }
}
