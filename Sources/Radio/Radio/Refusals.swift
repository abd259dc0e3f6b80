public import TenfourChannelKeys

/// What a relay's refusals mean to people.
extension Refusal.Reason {
    /// As a sentence with the remedy.
    public var sentence: String { "\(self)\(remedy)" }

    /// As a sentence for a member that the relay lets go.
    public var farewell: String {
        switch self {
        case .stopping, .left: "\(self); trying again until it is back"
        case .refused: "the relay does not carry this channel any more: ask its operator"
        case .rekeyed, .full, .displaced, .limited, .unproved: sentence
        }
    }

    private var remedy: String {
        switch self {
        case .unproved:
            """
            : compare the link with the one that others use, and the relay's configuration with tenfour channel keys
            """
        case .full, .displaced: "; trying again, and the relay's operator can raise the limit"
        case .limited, .stopping, .left: "; this goes on trying"
        case .refused: ": ask for a link with its name, or its operator to add this one (name in relay.conf)"
        case .rekeyed: ": ask for the new link"
        }
    }

    /// Whether it may be otherwise in a moment: the place that a listener had is free half a minute after it was killed.
    var mayPass: Bool {
        switch self {
        case .full, .displaced, .limited, .stopping, .left: true
        case .unproved, .refused, .rekeyed: false
        }
    }

    /// Whether it will not be otherwise, as long as the link is the same.
    var isFinal: Bool { self == .refused || self == .rekeyed }
}

extension RadioError {
    /// That was the last that a relay had to say.
    public init(refusedFor reason: Refusal.Reason) {
        self.init(.unavailable, reason.mayPass ? "\(reason): try again" : reason.sentence)
    }

    /// That was how it let us go.
    public init(closedFor reason: Refusal.Reason) {
        self.init(.unavailable, reason.mayPass ? "\(reason): try again" : reason.farewell)
    }

    /// Where the relay should be, or the station that answers.
    public static let nobodyAnswers = RadioError(
        .unavailable, "nobody answers at the link's address: see whether the relay, or the station, is running there")
}
