public import Keys

/// What a relay's refusals mean to people.
extension Refusal.Reason {
    /// As a sentence with the remedy.
    public var sentence: String {
        switch self {
        case .unproved:
            """
            the relay does not know this channel, or the secret differs: compare the link with the one that others use, and the \
            relay's configuration with tenfour channel keys
            """
        case .full: "the channel, or the relay, is full: try later, or ask its operator for more room"
        case .limited: "too many join at once: this goes on trying"
        case .refused:
            "refused: the relay no longer carries this channel, or is not called what the link calls it: ask for a new link"
        case .rekeyed: "the channel has a new secret: ask for the new link"
        case .stopping: "the relay is stopping: this goes on trying"
        }
    }

    /// Whether it may be otherwise in a moment.
    var mayPass: Bool { self == .limited || self == .stopping }
}
