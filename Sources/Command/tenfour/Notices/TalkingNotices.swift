import TenfourPackets
import TenfourRadio

/// Lines about who begins to talk and who stops, in place of a status line.
struct TalkingNotices {
    private var talkers = TalkingChanges()
    private var wasOpen: Bool?

    /// Returns the lines about what has changed since the last call. `isOpen` is nil without a microphone.
    mutating func lines(_ snapshot: RadioSnapshot, _ names: TalkerNames, isOpen: Bool?) -> [String] {
        let changes = talkers.update(TalkingChanges.heard(in: snapshot), at: snapshot.elapsed)
        // Somebody whose audio is missing has not stopped; another line tells it.
        let missing = Set(snapshot.participants.filter(\.isMissing).map(\.ssrc))
        var lines = changes.filter { $0.isTalking || !missing.contains($0.ssrc) }.map { change in
            "\(names[change.ssrc]) \(change.isTalking ? "talks" : "has stopped")"
        }
        if let isOpen, let wasOpen, isOpen != wasOpen {
            lines.append(isOpen ? "your microphone is open" : "your microphone is closed")
        }
        wasOpen = isOpen
        return lines
    }
}
