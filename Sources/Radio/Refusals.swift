public import Keys

/// What a relay's refusals mean to people.
extension Refusal.Reason {
    /// As a sentence with the remedy.
    public var sentence: String { "\(self)\(remedy)" }

    private var remedy: String {
        switch self {
        case .unproved:
            """
            : compare the link with the one that others use, and the relay's configuration with tenfour channel keys
            """
        case .full: "; this goes on trying, and its operator can make more room"
        case .limited, .stopping: "; this goes on trying"
        case .refused: ", or it does not carry this channel any more: ask for a new link"
        case .rekeyed: ": ask for the new link"
        }
    }

    /// Whether it may be otherwise in a moment: the place that a listener had is free half a minute after it was killed.
    var mayPass: Bool { self == .full || self == .limited || self == .stopping }

    /// Whether it will not be otherwise, as long as the link is the same.
    var isFinal: Bool { self == .refused || self == .rekeyed }
}

extension RadioError {
    /// That was the last that a relay had to say.
    init(_ reason: Refusal.Reason) {
        self.init(.unavailable, reason.mayPass ? "\(reason): try again" : reason.sentence)
    }

    /// Where the relay should be, or the station that answers.
    static let nobodyAnswers = RadioError(
        .unavailable, "nobody answers at the link's address: see whether the relay, or the station, is running there")
}
