import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourSession

/// What people are shown of those who are there: the name they gave, or else where they are.
struct Names {
    private var people: [SSRC: Person] = [:]
    private var changeCount = 0

    private struct Person {
        var name: String?
        var endpoint: Endpoint?
        /// Whether sound of theirs has come.
        var wasHeard = false
        var isGone = false
        /// The number of the last event about them, counted from 1.
        var lastChange = 0
    }

    /// Those who have left are forgotten first, and of them those of whom nothing was heard longest.
    static let maximumCount = 256
    /// In characters: a status line has to hold several.
    private static let maximumLength = People.nameLength

    /// Whether nobody has been heard.
    var isEmpty: Bool { !people.values.contains(where: \.wasHeard) }

    subscript(ssrc: SSRC) -> String { people[ssrc]?.name ?? place(of: ssrc) ?? "station \(ssrc.digits)" }

    /// Nil where none was given.
    func name(of ssrc: SSRC) -> String? { people[ssrc]?.name }

    /// Nil where nothing has come from them.
    func endpoint(of ssrc: SSRC) -> Endpoint? { people[ssrc]?.endpoint }

    /// Whether sound of theirs has come before.
    func hasHeard(_ ssrc: SSRC) -> Bool { people[ssrc]?.wasHeard ?? false }

    /// Whether that is no news.
    func isCalled(_ ssrc: SSRC, _ name: String) -> Bool { people[ssrc]?.name == cut(name) }

    /// Behind a relay nobody has a place.
    private func place(of ssrc: SSRC) -> String? {
        endpoint(of: ssrc).flatMap { $0.address.isUnspecified ? nil : "\($0)" }
    }

    mutating func take(_ event: Event) {
        switch event {
        case .sourceAppeared(let ssrc, let endpoint):
            change(ssrc) { ($0.endpoint, $0.wasHeard, $0.isGone) = (endpoint, true, false) }
        case .reporterAppeared(let ssrc, let name, let endpoint):
            let name = name.map(cut)
            change(ssrc) { ($0.name, $0.endpoint, $0.isGone) = (name ?? $0.name, endpoint, false) }
        case .sourceNamed(let ssrc, let name):
            let name = cut(name)
            change(ssrc) { $0.name = name }
        case .sourceLeft(let ssrc, _), .reporterLeft(let ssrc, _): left(ssrc)
        default: break
        }
    }

    /// Members of a channel, by the SSRC of their sound.
    mutating func take(_ event: ChannelEvent) {
        switch event {
        case .membersKnown(let members): for talker in members.talkers { take(talker) }
        case .memberJoined(let member), .memberChanged(let member): take(member)
        case .memberLeft(let member): if !hasHeard(member.info.ssrc) { people[member.info.ssrc] = nil }
        default: break
        }
    }

    private mutating func take(_ member: ChannelMember) {
        let name = member.name.map(cut) ?? People.nameless
        change(member.info.ssrc) { $0.name = name }
    }

    /// What they were called is shown in reports where they were heard.
    private mutating func left(_ ssrc: SSRC) {
        if hasHeard(ssrc) { change(ssrc) { $0.isGone = true } } else { people[ssrc] = nil }
    }

    private mutating func change(_ ssrc: SSRC, _ change: (inout Person) -> Void) {
        if people[ssrc] == nil, people.count >= Self.maximumCount { forgetOne() }
        changeCount += 1
        change(&people[ssrc, default: Person()])
        people[ssrc]?.lastChange = changeCount
    }

    private mutating func forgetOne() {
        func rank(_ person: Person) -> (Int, Int) { (person.isGone ? 0 : 1, person.lastChange) }
        if let last = people.min(by: { rank($0.value) < rank($1.value) }) { people[last.key] = nil }
    }

    private func cut(_ name: String) -> String {
        name.count > Self.maximumLength ? name.prefix(Self.maximumLength - 1) + "…" : name
    }
}
