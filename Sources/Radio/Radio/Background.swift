/// How far a session's received audio stays behind that of other sessions of the same user.
public enum Background: UInt8, Hashable, Sendable {
    /// It is heard at its full volume.
    case none = 0
    /// It is lowered by 12 dB, because another session has priority.
    case ducked = 1
    /// It is not heard, because the user talks in another session in half duplex.
    case muted = 2

    var gain: Float {
        switch self {
        case .none: 1
        case .ducked: 0.25
        case .muted: 0
        }
    }
}
