public import TenfourAudioCore
public import TenfourSession

/// What happens in a call.
public enum CallEvent: Hashable, Sendable {
    /// The station at this endpoint calls, and the person is to be asked. The name is safe to display.
    case incoming(Endpoint, name: String)
    /// The station at this endpoint has called, and was told that this one is busy. The name is safe to display.
    case missedWhileBusy(Endpoint, name: String, at: Instant)
    /// The person at the other end is being asked.
    case rings(name: String)
    /// Both want to talk: media may be sent to this endpoint, which has proved that it receives there.
    case connected(Endpoint, name: String)
    /// Nobody at this endpoint understands calls. Media may be sent there all the same, because a person typed or chose
    /// the address.
    case plain(Endpoint)
    /// The call, or the attempt, is over.
    case ended(CallEnd)
}

/// The reason why a call is over.
public enum CallEnd: Hashable, Sendable, CustomStringConvertible {
    case refused(CallRefusal)
    /// The caller hung up, or fell silent, before the person answered.
    case missed(name: String)
    /// The other end hung up.
    case hungUp
    /// The other end does not answer, or no longer answers.
    case lost
    /// The other end has begun another call to this one.
    case replaced

    public var description: String {
        switch self {
        case .refused(.declined): "declined"
        case .refused(.busy): "busy: in another call"
        case .refused(.notAnswered): "nobody answered"
        case .refused(.takesNone): "takes no calls"
        case .missed(let name): "missed a call\(name.isEmpty ? "" : " from \(name)")"
        case .hungUp: "the other end hung up"
        case .lost: "the other end does not answer"
        case .replaced: "the other end calls again"
        }
    }
}
