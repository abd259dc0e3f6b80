import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourRadio

/// Who is there, in words: in the status line, and in full for the key w.
struct People {
    /// Those who open their microphones first, then in the order in which they came.
    private var persons: [Person] = []
    private var listenerCount = 0
    /// Talkers of whom nothing is known but that they are there.
    private var untoldCount = 0

    private struct Person {
        var name: String
        var isOpen: Bool
        /// Seconds since 1970.
        var since: Int
        var changed: Int
    }

    /// In the status line, and in letters of one name.
    private static let shownCount = 3
    static let nameLength = 24

    /// Nil where it is not known who is there: of a session in a channel whose relay does not tell. `now` is in seconds since 1970.
    init?(_ snapshot: RadioSnapshot, isChannel: Bool, now: Int = time(nil)) {
        if isChannel {
            guard let members = snapshot.members else { return nil }
            self.init(members)
        } else {
            self.init(snapshot.participants, now: now)
        }
    }

    init(_ participants: [RadioSnapshot.ParticipantSnapshot], now: Int) {
        persons = participants.map { participant in
            Person(
                name: Self.cut(participant.name ?? "\(participant.endpoint)"), isOpen: participant.isSending,
                since: now - Int(participant.age / .seconds(1)),
                changed: now - Int(participant.sendingAge / .seconds(1)))
        }
        putOpenFirst()
    }

    init(_ members: ChannelMembers) {
        persons = members.talkers.map { talker in
            Person(
                name: Self.name(of: talker), isOpen: talker.info.microphone == .open, since: Int(talker.info.joined),
                changed: Int(talker.info.microphoneChanged))
        }
        (listenerCount, untoldCount) = (members.listenerCount, members.untoldCount)
        putOpenFirst()
    }

    private mutating func putOpenFirst() { persons = persons.filter(\.isOpen) + persons.filter { !$0.isOpen } }

    /// As it is shown.
    static func name(of member: ChannelMember) -> String { cut(member.name ?? nameless) }
    /// Of one in a channel who hides the name.
    static let nameless = "somebody"

    private static func cut(_ name: String) -> String {
        name.count > nameLength ? name.prefix(nameLength - 1) + "…" : name
    }

    var count: Int { persons.count + untoldCount + listenerCount }
    /// Whether somebody is there who sends nothing.
    var hasSilent: Bool { persons.contains { !$0.isOpen } || listenerCount + untoldCount > 0 }

    var hasListeners: Bool { listenerCount > 0 }

    /// `2 here`, `2 listeners here` where nobody else is, or `nobody else is here`.
    var head: String {
        if count == 0 { return "nobody else is here" }
        return "\(count == listenerCount ? listeners : "\(count)") here"
    }

    private var listeners: String { "\(listenerCount) listener\(listenerCount == 1 ? "" : "s")" }

    /// `Anna (open), Ben, 2 more, 3 listeners`; empty where nobody is there, or only listeners are.
    var names: String {
        if count == listenerCount { return "" }
        var parts = persons.prefix(Self.shownCount).map { $0.isOpen ? "\($0.name) (open)" : $0.name }
        let more = persons.count - parts.count + untoldCount
        if more > 0 { parts.append(parts.isEmpty ? "\(more) can talk" : "\(more) more") }
        if listenerCount > 0 { parts.append(listeners) }
        return parts.joined(separator: ", ")
    }

    /// `2 here: Anna (open), Ben`.
    var summary: String { names.isEmpty ? head : "\(head): \(names)" }

    /// For each a line of 80 columns at the most, beside what comes before it.
    var lines: [String] {
        let width = persons.map(\.name.count).max() ?? 0
        var lines = persons.map { person in
            let name = person.name + String(repeating: " ", count: width - person.name.count)
            let microphone = person.isOpen ? "mic open  " : "mic closed"
            return
                "  \(name)  here since \(Self.clock(person.since)), \(microphone) since \(Self.clock(person.changed))"
        }
        if untoldCount > 0 { lines.append("  \(untoldCount) more can talk, and hide their names") }
        if listenerCount > 0, count > listenerCount { lines.append("  \(listeners)") }
        return [head] + lines
    }

    /// `14:02`, or `Nov 21` where that was more than a day ago. Clocks of others may be ahead of ours.
    static func clock(_ seconds: Int, now: Int = time(nil)) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        guard unsafe localtime_r(&moment, &parts) != nil else { return "?" }
        var text = [CChar](repeating: 0, count: 32)
        let format = abs(now - seconds) < 86_400 ? "%H:%M" : "%b %e"
        let count = unsafe strftime(&text, text.count, format, &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
