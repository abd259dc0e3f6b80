import TenfourAudioCore
import TenfourPackets

/// The keys that set volumes. 9 and 0 lower and raise that of all; 1 to 8 choose a talker of the list that w shows. Then 9
/// and 0 set the volume of this talker, and m mutes the talker. Use it on one thread.
struct VolumeKeys {
    private let volumes: VolumeControl
    /// The talkers with a number in the list that was shown last; the first has number 1.
    private var listed: [ListedTalker] = []
    private var choice: (talker: ListedTalker, end: Instant)?
    /// The end of the time for which the status line begins with the volume of all; nil if it was not changed.
    private var shownUntil: Instant?

    enum Action: Equatable {
        /// The list must be shown: no digit has a meaning before.
        case list
        /// A line for the user.
        case show(String)
        /// A line for users whose status line does not show the change.
        case changed(String)
    }

    static let help = "9 and 0 change the volume; 1 to 8 choose one talker for 9, 0 and m"
    /// The number of digits that choose a talker. As many can be heard at once.
    private static let most = 8
    /// The time after the last key for which a talker stays chosen.
    private static let patience = Duration.seconds(10)
    /// The time for which a change is shown where a narrow status line has room, too.
    private static let showingTime = Duration.seconds(3)

    init(_ volumes: VolumeControl) { self.volumes = volumes }

    /// Gives the numbers of the list that is about to be shown.
    mutating func number(_ talkers: [ListedTalker]) { listed = Array(talkers.prefix(Self.most)) }

    /// Returns the number and the volume of a person in the list.
    func mark(_ ssrc: SSRC, in session: Int) -> PersonMark {
        let place = ListedTalker.Place(session: session, ssrc: ssrc)
        return PersonMark(
            number: listed.firstIndex { $0.place == place }.map { $0 + 1 }, volume: volumes.text(of: place))
    }

    /// Performs the action of a key; nil if it is no key of these. `present` are the talkers who are here now.
    mutating func action(of key: Character, _ present: @autoclosure () -> [ListedTalker], at now: Instant) -> Action? {
        let chosen = chosen(at: now)
        switch key {
        case "9", "/": return change(by: -1, chosen, at: now)
        case "0", "*": return change(by: 1, chosen, at: now)
        case "m":
            guard let chosen else { return nil }
            volumes.setMuted(!volumes.isMuted(chosen.place), chosen.place)
            return changed(chosen, at: now)
        case "1"..."8": return key.wholeNumberValue.map { choose($0, chosen, present(), at: now) }
        default:
            // Another key: what comes next concerns all again.
            choice = nil
            return nil
        }
    }

    private mutating func change(by count: Int, _ chosen: ListedTalker?, at now: Instant) -> Action {
        guard let chosen else {
            volumes.change(by: count)
            shownUntil = now + Self.showingTime
            return .changed(overallText)
        }
        volumes.change(chosen.place, by: count)
        return changed(chosen, at: now)
    }

    private mutating func changed(_ talker: ListedTalker, at now: Instant) -> Action {
        choice = (talker, now + Self.patience)
        return .changed(text(of: talker))
    }

    private mutating func choose(
        _ number: Int, _ chosen: ListedTalker?, _ present: [ListedTalker], at now: Instant
    ) -> Action {
        guard !listed.isEmpty else { return .list }
        guard listed.count >= number else { return .show("nobody has the number \(number): w lists who is here") }
        var talker = listed[number - 1]
        guard let current = present.first(where: { $0.place == talker.place }) else {
            return .show("\(talker.name) is not here any more: w lists who is here")
        }
        talker = current
        if chosen?.place == talker.place {
            choice = nil
            return .changed("9, 0 and m concern all again")
        }
        choice = (talker, now + Self.patience)
        return .show("\(text(of: talker)); 9 and 0 lower and raise it, m mutes, \(number) ends this")
    }

    private func text(of talker: ListedTalker) -> String { statusText(of: talker).whole }

    private func statusText(of talker: ListedTalker) -> StatusText {
        let volume = VolumeControl.text(volumes.volume(of: talker.place))
        return "\(name: talker.name): \(volumes.isMuted(talker.place) ? "muted" : "volume \(volume)")"
    }

    private var overallText: String { "volume \(VolumeControl.text(volumes.overall))" }

    private func chosen(at now: Instant) -> ListedTalker? {
        choice.flatMap { $0.end > now ? $0.talker : nil }
    }

    /// Returns what the status line shows.
    func view(at now: Instant) -> VolumeView {
        let change = shownUntil.flatMap { $0 > now ? StatusText(overallText) : nil }
        return VolumeView(latest: chosen(at: now).map(statusText) ?? change, volumes: volumes)
    }
}

/// The volumes in the status line.
struct VolumeView {
    /// The talker whom the keys concern, or a change of the volume of all a moment ago; nil if there is neither.
    let latest: StatusText?
    private let volumes: VolumeControl

    init(latest: StatusText?, volumes: VolumeControl) {
        self.latest = latest
        self.volumes = volumes
    }

    /// The volume of all; nil if it is as usual.
    var overall: String? { volumes.overallText }

    /// Returns the volume of a talker of the first session, and whether the talker is muted; nil if it is as usual.
    func talker(_ ssrc: SSRC) -> (text: String, isMuted: Bool)? {
        let place = ListedTalker.Place(session: 0, ssrc: ssrc)
        return volumes.text(of: place).map { ($0, volumes.isMuted(place)) }
    }
}
