import TenfourAudioCore
import TenfourPackets
import TenfourRadio

/// Finds from who is heard when somebody begins to talk and stops. A pause between words is no stop.
struct TalkingChanges {
    struct Change: Equatable {
        var ssrc: SSRC
        /// Whether the talker has begun; otherwise the talker has stopped.
        var isTalking: Bool
    }

    /// The talkers, with the time in the session at which each was heard last.
    private var lastHeard: [SSRC: Duration] = [:]

    /// The time without audio after which a talker has stopped.
    private static let pause = Duration.seconds(1)

    /// Returns whether somebody talks.
    func contains(_ ssrc: SSRC) -> Bool { lastHeard[ssrc] != nil }

    /// Returns those who are heard.
    static func heard(in snapshot: RadioSnapshot) -> [SSRC] {
        snapshot.talkers.filter { $0.isHeard && $0.level > .floor }.map(\.ssrc)
    }

    /// Returns what has changed since the last call: `heard` are heard at `time` in the session.
    mutating func update(_ heard: [SSRC], at time: Duration) -> [Change] {
        var changes: [Change] = []
        for ssrc in heard where lastHeard.updateValue(time, forKey: ssrc) == nil {
            changes.append(Change(ssrc: ssrc, isTalking: true))
        }
        for (ssrc, last) in lastHeard where time - last >= Self.pause {
            lastHeard[ssrc] = nil
            changes.append(Change(ssrc: ssrc, isTalking: false))
        }
        return changes
    }
}
