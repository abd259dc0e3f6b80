public import TenfourChannelKeys

/// The messages to the user about a relay's refusal or GOODBYE.
extension Refusal.Reason {
    /// The refusal as a sentence with the remedy.
    public var sentence: String { "\(self)\(remedy)" }

    /// A sentence for a member whom the relay has removed.
    public var farewell: String {
        switch self {
        case .stopping, .left: "\(self); trying again until it is back"
        case .refused: "the relay no longer has this channel: ask its operator"
        case .rekeyed, .full, .displaced, .limited, .unproved, .notAdmitted: sentence
        }
    }

    private var remedy: String {
        switch self {
        case .unproved:
            """
            : compare your link with the other members' links, and the relay's configuration with `tenfour channel keys`; if \
            you have made the channel with `tenfour pair --relay`, pair again, because the relay's key is another one
            """
        case .full, .displaced: "; trying again (the relay's operator can raise the limit)"
        case .limited, .stopping, .left: "; trying again"
        case .refused:
            ": ask for a link with a name that the relay accepts, or ask its operator to add this one (setting name in relay.conf)"
        case .rekeyed: ": ask the person who made the channel for the new link"
        case .notAdmitted: ": send the owner the line that `tenfour id` prints, and ask to be added"
        }
    }

    /// Whether a new attempt to join may succeed. For example, the slot of a listener whose process was killed is free
    /// after half a minute.
    var mayPass: Bool {
        switch self {
        case .full, .displaced, .limited, .stopping, .left: true
        case .unproved, .refused, .rekeyed, .notAdmitted: false
        }
    }

    /// Whether the relay will refuse the session's link every time.
    var isFinal: Bool { self == .refused || self == .rekeyed || self == .notAdmitted }
}

extension RadioError {
    /// The error for a JOIN that the relay has refused for `reason`.
    public init(refusedFor reason: Refusal.Reason) {
        self.init(.unavailable, reason.mayPass ? "\(reason): try again" : reason.sentence)
    }

    /// The error for a member that the relay has removed for `reason`.
    public init(closedFor reason: Refusal.Reason) {
        self.init(.unavailable, reason.mayPass ? "\(reason): try again" : reason.farewell)
    }

    /// The error for a relay that has not shown that it is the one in the link.
    public init(_ doubt: RelayDoubt) { self.init(.unavailable, doubt.description) }

    /// The error if neither the relay nor a tenfour that serves the channel can be reached.
    public static let nobodyAnswers = RadioError(
        .unavailable,
        "nobody answers at the link's address: check that the relay runs, or the station that forwards the channel")
}

extension MediaRefusal {
    /// Returns the sentence, with the remedy, about `count` packets that the relay has refused. `talker` is the name of the one
    /// who has the floor; nil if that is unknown.
    public func sentence(_ count: Int, talker: String? = nil) -> String {
        "the relay refused \(count) of your packets: \(cause(talker))"
    }

    private func cause(_ talker: String?) -> String {
        switch self {
        case .talkerRate:
            "they are more than it accepts from a talker; use a longer --frame or a lower --bitrate, or ask its operator for a higher limit"
        case .channelRate:
            "all talkers of the channel together send more than it accepts; use a lower --bitrate, let fewer talk at a time, or ask its operator for a higher limit"
        case .floor:
            "one talks at a time in this channel, and \(talker.map { "\($0) has the floor" } ?? "another did"); begin to talk when the floor is free (--floor asks for it)"
        case .takenSSRC:
            "another member uses this station's SSRC; it takes another one at most once a minute: if it lasts, start it anew"
        case .unannounced:
            "their announcement has not arrived there; the network loses packets: `tenfour doctor` examines it"
        case .tooManyTalkers:
            "more members talk than the channel allows; wait until another is silent, or ask the relay's operator for a higher limit"
        case .tooManySSRCs:
            "this station has changed its SSRC too often; wait some seconds, and start it anew if it lasts"
        }
    }
}
