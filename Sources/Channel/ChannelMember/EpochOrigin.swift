internal import TenfourChannelKeys
internal import TenfourManagedChannel

/// The root from which the key of a talker's epoch follows, and in a managed channel the group secret and the member.
struct EpochOrigin: Sendable {
    let root: MediaRoot
    /// The group secret from which `root` follows; nil in an open channel.
    var secret: GroupSecretID?
    /// The talker's index in the roster; nil in an open channel.
    var index: UInt16?

    /// Whether keys of both are the same, and of the same talker.
    func isSame(as other: Self) -> Bool { secret == other.secret && index == other.index }
}
