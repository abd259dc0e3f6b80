import TenfourChannelKeys
import TenfourChannelMember
import TenfourManagedChannel
import TenfourPackets
import TenfourSession

/// The names shown for talkers: the name that a talker sent, or else the talker's address.
struct TalkerNames {
    private var people: [SSRC: Person] = [:]
    private var changeCount = 0

    private struct Person {
        var name: String?
        /// The name that the owner of the channel has given, or that the talker sent; nil if the talker hides it.
        var statedName: String?
        /// The name in the list that a channel's owner has signed. It takes the place of `name`, which everybody in the
        /// channel can choose.
        var signedName: String?
        /// Whether the key of the signed name was compared.
        var isVerified = false
        var endpoint: Endpoint?
        /// Whether audio of this talker was received.
        var wasHeard = false
        var isGone = false
        /// The number of the talker's last event, counted from 1 over the events of all talkers.
        var lastChange = 0

        /// Sets the name that the talker has sent.
        mutating func setOwn(_ name: String) {
            self.name = name
            if signedName == nil { statedName = name.isEmpty ? nil : name }
        }
    }

    /// The maximum number of talkers that are kept. When it is exceeded, talkers who left are removed first, then the
    /// talker without events for the longest time.
    static let maximumCount = 256
    private static let unverified = " (not verified)"

    /// Whether nobody has been heard yet.
    var isEmpty: Bool { !people.values.contains(where: \.wasHeard) }

    subscript(ssrc: SSRC) -> String { name(of: ssrc) ?? place(of: ssrc) ?? "station \(ssrc.digits)" }

    /// The name that the owner of the channel has given to a talker, or that it sent; nil if there is none.
    func name(of ssrc: SSRC) -> String? {
        people[ssrc].flatMap { person in
            person.signedName.map { $0 + (person.isVerified ? "" : Self.unverified) } ?? person.name
        }
    }

    /// The name that the owner of the channel has given to a talker, or that it sent, without a remark; nil if there is
    /// none, or the talker hides it. With `isSigned`, in a channel with an owner, it is also nil until the owner's list
    /// has the talker: until then everybody can claim the name.
    func statedName(of ssrc: SSRC, isSigned: Bool = false) -> String? {
        people[ssrc].flatMap { isSigned && $0.signedName == nil ? nil : $0.statedName }
    }

    /// Returns the name for the status line, which shortens names.
    func text(of ssrc: SSRC) -> StatusText {
        guard let person = people[ssrc], let name = person.signedName, !person.isVerified else {
            return "\(name: self[ssrc])"
        }
        return "\(name: name)\(remark: Self.unverified, sign: "?")"
    }

    /// The address of a talker; nil before the first packet.
    func endpoint(of ssrc: SSRC) -> Endpoint? { people[ssrc]?.endpoint }

    /// Returns whether audio of this talker was received before.
    func hasHeard(_ ssrc: SSRC) -> Bool { people[ssrc]?.wasHeard ?? false }

    /// Returns whether `name` is the name already stored for this talker.
    func isCalled(_ ssrc: SSRC, _ name: String) -> Bool { people[ssrc]?.name == People.cut(name) }

    /// Returns the talker's address as text; nil for a talker behind a relay, which has no address.
    private func place(of ssrc: SSRC) -> String? {
        endpoint(of: ssrc).flatMap { $0.address.isUnspecified ? nil : "\($0)" }
    }

    mutating func apply(_ event: Event) {
        switch event {
        case .sourceAppeared(let ssrc, let endpoint):
            change(ssrc) { ($0.endpoint, $0.wasHeard, $0.isGone) = (endpoint, true, false) }
        case .reporterAppeared(let ssrc, let name, let endpoint):
            let name = name.map(People.cut)
            change(ssrc) { person in
                (person.endpoint, person.isGone) = (endpoint, false)
                if let name { person.setOwn(name) }
            }
        case .sourceNamed(let ssrc, let name):
            let name = People.cut(name)
            change(ssrc) { $0.setOwn(name) }
        case .sourceLeft(let ssrc, _), .reporterLeft(let ssrc, _): left(ssrc)
        default: break
        }
    }

    /// Applies an event about a channel member. The member's audio has the same SSRC as the talker in this table.
    mutating func apply(_ event: ChannelEvent) {
        switch event {
        case .membersKnown(let members): for talker in members.talkers { apply(talker) }
        case .memberJoined(let member), .memberChanged(let member): apply(member)
        case .memberLeft(let member): if !hasHeard(member.info.ssrc) { people[member.info.ssrc] = nil }
        case .managed(.talkerKnown(let ssrc, let talker)):
            let name = talker.name.map { People.cut($0.text) }
            change(ssrc) { person in
                (person.signedName, person.isVerified) = (name ?? "member \(talker.index)", talker.isVerified)
                person.statedName = name
            }
        default: break
        }
    }

    private mutating func apply(_ member: ChannelMember) {
        let name = member.name.map(People.cut)
        change(member.info.ssrc) { person in
            person.setOwn(name ?? People.nameless)
            if name == nil, person.signedName == nil { person.statedName = nil }
        }
    }

    /// Marks a talker as gone. If the talker's audio was received, the name is kept for the report; if not, the talker
    /// is removed.
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
}
