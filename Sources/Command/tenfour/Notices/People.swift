import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourCommandSupport
import TenfourPackets
import TenfourRadio
import TenfourSession

/// Composes the list of members and talkers who are present, for the status line and for the list that the user
/// requests with the key w.
struct People {
    /// The people present: those with an open microphone first, then all others. Both groups are in the order of
    /// arrival.
    private var persons: [Person] = []
    private var listenerCount = 0
    /// The number of talkers on the roster that have sent no info, so that nothing else is known about them.
    private var unidentifiedCount = 0

    private struct Person {
        var name: String
        var ssrc: SSRC
        var isOpen: Bool
        /// Whether the person is on the air and nothing arrives.
        var isMissing = false
        /// A few words, if the person does not hear us.
        var hearing: String?
        /// The name, and whether the person talks.
        var nameAndMicrophone: StatusText {
            "\(name: name)\(isMissing ? " (not arriving)" : isOpen ? " (open)" : "")"
        }
        /// The time at which the person arrived, in seconds since 1970.
        var since: Int
        /// The time at which the person last opened or closed the microphone, in seconds since 1970.
        var changed: Int
    }

    /// The maximum number of names in the status line.
    private static let shownCount = 3
    /// The maximum number of columns of a name.
    static let nameColumns = 24

    /// Creates the list from a snapshot; nil if the relay sends no roster. `now` is in seconds since 1970.
    init?(_ snapshot: RadioSnapshot, isChannel: Bool, now: Int = time(nil)) {
        if isChannel {
            guard let members = snapshot.members else { return nil }
            self.init(members)
        } else {
            self.init(snapshot.participants, now: now)
        }
        for hearing in snapshot.hearings {
            for index in persons.indices where persons[index].ssrc == hearing.ssrc {
                persons[index].hearing = hearing.state.words
            }
        }
    }

    init(_ participants: [RadioSnapshot.ParticipantSnapshot], now: Int) {
        persons = participants.map { participant in
            Person(
                name: Self.cut(participant.name ?? "\(participant.endpoint)"), ssrc: participant.ssrc,
                isOpen: participant.isSending, isMissing: participant.isMissing,
                since: now - Int(participant.age / .seconds(1)),
                changed: now - Int(participant.sendingAge / .seconds(1)))
        }
        putOpenFirst()
    }

    init(_ members: ChannelMembers) {
        persons = members.talkers.map { talker in
            Person(
                name: Self.name(of: talker), ssrc: talker.info.ssrc, isOpen: talker.info.microphone == .open,
                since: Int(talker.info.joined), changed: Int(talker.info.microphoneChanged))
        }
        (listenerCount, unidentifiedCount) = (members.listenerCount, members.unidentifiedCount)
        putOpenFirst()
    }

    private mutating func putOpenFirst() { persons = persons.filter(\.isOpen) + persons.filter { !$0.isOpen } }

    /// Returns a member's name for display, cut to `nameColumns`, or `nameless`.
    static func name(of member: ChannelMember) -> String { cut(member.name ?? nameless) }
    /// The text shown for members who hide their names.
    static let nameless = "somebody"

    /// Returns a name for display, cut to `nameColumns`.
    static func cut(_ name: String) -> String { name.cut(toColumns: nameColumns) }

    var count: Int { persons.count + unidentifiedCount + listenerCount }
    /// Whether anybody present has a closed microphone, is a listener, or is a talker that has sent no info.
    var hasSilent: Bool { persons.contains { !$0.isOpen } || listenerCount + unidentifiedCount > 0 }

    var hasListeners: Bool { listenerCount > 0 }

    /// The people with a name or an address, in the order of `lines`.
    var talkers: [(ssrc: SSRC, name: String)] { persons.map { ($0.ssrc, $0.name) } }

    /// The number of people present: `2 here`; `2 listeners here` if there are only listeners; or `nobody else is
    /// here`.
    var head: String {
        if count == 0 { return "nobody else is here" }
        return "\(count == listenerCount ? listeners : "\(count)") here"
    }

    private var listeners: String { "\(listenerCount) listener\(listenerCount == 1 ? "" : "s")" }

    /// The names of talkers and the number of listeners, such as `Anna (open), Ben, 2 more, 3 listeners`; empty if
    /// nobody or only listeners are present.
    var names: StatusText {
        if count == listenerCount { return "" }
        var parts = persons.prefix(Self.shownCount).map(\.nameAndMicrophone)
        let more = persons.count - parts.count + unidentifiedCount
        if more > 0 { parts.append(parts.isEmpty ? "\(more) can talk" : "\(more) more") }
        if listenerCount > 0 { parts.append("\(listeners)") }
        return .joined(parts, by: ", ")
    }

    /// The number and the names, such as `2 here: Anna (open), Ben`.
    var summary: String { names.isEmpty ? head : "\(head): \(names.whole)" }

    /// The number of people present, then one line for each person whose name or address is known, then the numbers of
    /// all others. Each line has at most 80 columns, including its prefix. `mark` returns the number and the volume of a
    /// person; a volume takes the place of the time of arrival.
    func lines(marking mark: (SSRC) -> PersonMark = { _ in PersonMark() }) -> [String] {
        let width = persons.map(\.name.columnCount).max() ?? 0
        var lines = persons.map { person in
            let name = person.name.fitted(toColumns: width)
            let microphone =
                person.isMissing ? "on the air, nothing arrives" : person.isOpen ? "mic open  " : "mic closed"
            let mark = mark(person.ssrc)
            let first = mark.volume ?? "here since \(Self.clock(person.since))"
            if let hearing = person.hearing { return "\(mark.prefix)\(name)  \(first), \(hearing)" }
            return "\(mark.prefix)\(name)  \(first), \(microphone) since \(Self.clock(person.changed))"
        }
        if unidentifiedCount > 0 { lines.append("  \(unidentifiedCount) more who can talk and hide their names") }
        if listenerCount > 0, count > listenerCount { lines.append("  \(listeners)") }
        return [head] + lines
    }

    /// Formats a time as `14:02`, or as `Nov 21` if it is more than a day away. `seconds` may be later than `now`,
    /// since the members' clocks differ.
    static func clock(_ seconds: Int, now: Int = time(nil)) -> String {
        var moment = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&moment, &parts) != nil else { return "?" }
        var text = [CChar](repeating: 0, count: 32)
        let format = abs(now - seconds) < 86_400 ? "%H:%M" : "%b %e"
        let count = unsafe strftime(&text, text.count, format, &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The number and the volume of a person in the list of people.
struct PersonMark {
    /// The digit that chooses the person; nil if none does.
    var number: Int?
    /// The volume, if it is not as usual.
    var volume: String?

    /// Two columns before the name.
    var prefix: String { number.map { "\($0) " } ?? "  " }
}
