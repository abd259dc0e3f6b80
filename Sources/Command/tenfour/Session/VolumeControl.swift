import Glibc
import TenfourCommandSupport
import TenfourPackets
import TenfourPushToTalk
import TenfourRadio
import TenfourRings

/// A talker of one of the sessions whose volume the user sets.
struct ListedTalker {
    var place: Place
    var name: String
    /// The name for which a volume is kept; nil if the talker has hidden it or has not stated it yet.
    var keptName: String?

    /// Where a talker is heard: the index of the session, and the SSRC there.
    struct Place: Hashable { var session: Int, ssrc: SSRC }
}

/// The volumes that the user sets, in decibels: one for all sessions of a talk, and one for each talker. Those of talkers
/// are kept in a file by their names. Any thread may use it.
final class VolumeControl: Sendable {
    private let sessions: [RadioSession]
    private let file: KeptVolumeFile?
    /// The volumes to which muted talkers return. At most as many as the sessions keep.
    private let kept = Locked<[ListedTalker.Place: Double]>([:])
    /// The names of the talkers who are here.
    private let names = Locked<[ListedTalker.Place: String]>([:])

    /// The change of a volume by one press of a key, in decibels.
    private static let step = 3.0

    /// The first session is the one that the talk began with. `file` is nil if volumes end with the talk.
    init(_ sessions: [RadioSession], _ file: KeptVolumeFile? = nil) {
        self.sessions = sessions
        self.file = file
    }

    /// Why the volumes of talkers end with the talk; nil if they are kept.
    var problem: String? { file?.problem }

    /// The volume of all talkers, within `ControlCommand.volumes`.
    var overall: Double {
        get { Self.decibels(sessions[0].volume) }
        set {
            let factor = Self.factor(newValue, ControlCommand.volumes)
            for session in sessions { session.volume = factor }
        }
    }

    /// Returns the volume of a talker, also while the talker is muted.
    func volume(of place: ListedTalker.Place) -> Double {
        let factor = sessions[place.session].volume(of: place.ssrc)
        return factor > 0 ? Self.decibels(factor) : kept.withLock { $0[place] } ?? 0
    }

    /// Sets the volume of a talker, within `ControlCommand.talkerVolumes`. A muted talker stays muted.
    func setVolume(_ decibels: Double, of place: ListedTalker.Place) {
        apply(TalkerVolume(decibels: decibels, isMuted: isMuted(place)), to: place)
        write(place)
    }

    func isMuted(_ place: ListedTalker.Place) -> Bool { sessions[place.session].volume(of: place.ssrc) == 0 }

    /// Mutes a talker, or lets the talker be heard with the volume from before.
    func setMuted(_ isMuted: Bool, _ place: ListedTalker.Place) {
        guard isMuted != self.isMuted(place) else { return }
        apply(TalkerVolume(decibels: volume(of: place), isMuted: isMuted), to: place)
        write(place)
    }

    /// Gives each talker with a name that is new here the volume that is kept for this name. A talker whose volume was set
    /// keeps it after a change of the name, so that nobody changes another one's volume by taking that one's name.
    func follow(_ talkers: [ListedTalker]) {
        guard let file else { return }
        var present: [ListedTalker.Place: String] = [:]
        for talker in talkers { present[talker.place] = talker.keptName }
        let known = names.withLock { names in
            defer { names = present }
            return names
        }
        for (place, name) in present where known[place] != name && isUsual(place) {
            if let volume = file.volume(of: name) { apply(volume, to: place) }
        }
    }

    private func isUsual(_ place: ListedTalker.Place) -> Bool { sessions[place.session].volume(of: place.ssrc) == 1 }

    private func apply(_ volume: TalkerVolume, to place: ListedTalker.Place) {
        if volume.isMuted { keep(volume.decibels, of: place) }
        let factor = volume.isMuted ? 0 : Self.factor(volume.decibels, ControlCommand.talkerVolumes)
        sessions[place.session].setVolume(factor, of: place.ssrc)
    }

    /// Writes the volume of a talker into the file.
    private func write(_ place: ListedTalker.Place) {
        guard let file, let name = names.withLock({ $0[place] }) else { return }
        file.set(TalkerVolume(decibels: volume(of: place), isMuted: isMuted(place)), of: name)
    }

    /// Keeps the volume of a muted talker, and forgets those of talkers who are no longer muted.
    private func keep(_ decibels: Double, of place: ListedTalker.Place) {
        kept.withLock { kept in
            kept = kept.filter { sessions[$0.key.session].volume(of: $0.key.ssrc) == 0 }
            kept[place] = Self.limited(decibels, ControlCommand.talkerVolumes)
        }
    }

    // MARK: Steps and texts

    /// Changes the volume of all by a number of steps.
    func change(by count: Int) { overall = Self.stepped(overall, by: count) }

    /// Changes the volume of a talker by a number of steps. A muted talker is heard again.
    func change(_ place: ListedTalker.Place, by count: Int) {
        setMuted(false, place)
        setVolume(Self.stepped(volume(of: place), by: count), of: place)
    }

    /// Returns the next multiple of a step above or below a volume.
    static func stepped(_ decibels: Double, by count: Int) -> Double {
        let position = decibels / step
        return ((count > 0 ? position.rounded(.down) : position.rounded(.up)) + Double(count)) * step
    }

    /// Formats a volume as `-6 dB` or `+3 dB`.
    static func text(_ decibels: Double) -> String {
        "\(decibels > 0 ? "+" : "")\(decimal(decibels, places: 1, trimming: true)) dB"
    }

    /// The volume of all as text; nil if it is as usual.
    var overallText: String? { overall == 0 ? nil : "vol \(Self.text(overall))" }

    /// Returns the volume of a talker as text, or that the talker is muted; nil if it is as usual.
    func text(of place: ListedTalker.Place) -> String? {
        if isMuted(place) { return "muted" }
        let volume = volume(of: place)
        return volume == 0 ? nil : "vol \(Self.text(volume))"
    }

    /// Rounds to a tenth, so that a volume that was set is read as the same.
    private static func decibels(_ factor: Float) -> Double { (log10(Double(factor)) * 200).rounded() / 10 }

    private static func factor(_ decibels: Double, _ range: ClosedRange<Double>) -> Float {
        Float(pow(10, limited(decibels, range) / 20))
    }

    private static func limited(_ decibels: Double, _ range: ClosedRange<Double>) -> Double {
        min(max(decibels, range.lowerBound), range.upperBound)
    }
}
