import TenfourChannelMember
import TenfourManagedChannel

/// Composes the lines about what happens in a channel that has an owner.
struct ManagedNotice {
    /// The line; nil if the event needs none.
    let text: String?

    init(_ event: ManagedEvent, channel: String) {
        text =
            switch event {
            case .rosterChanged, .talkerKnown, .secretChanged, .rosterDeposited, .secretDeposited: nil
            case .twoRosters:
                "the owner has signed two lists of members with one number: ask the owner, because somebody else may have the owner's key"
            case .waiting:
                "waiting: nobody has sealed the secret for this station yet; the owner's station must run for a moment"
            case .removed: "the owner has removed this station from the channel: its secrets are erased"
            case .keyChanged(let name):
                "\(name.text) has another key than the one that you compared, and is not heard: run `tenfour channel verify \(channel) \(name.text)`"
            }
    }
}
