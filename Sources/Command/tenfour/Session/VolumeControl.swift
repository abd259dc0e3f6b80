import Glibc
import TenfourCommandSupport
import TenfourPackets
import TenfourPushToTalk
import TenfourRadio
import TenfourSystem

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
    private let places = Locked(VolumePlaces())

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
        return factor > 0 ? Self.decibels(factor) : places.withLock { $0[place]?.volume.decibels } ?? 0
    }

    /// Sets the volume of a talker, within `ControlCommand.talkerVolumes`. A muted talker stays muted.
    func setVolume(_ decibels: Double, of place: ListedTalker.Place) {
        set(TalkerVolume(decibels: decibels, isMuted: isMuted(place)), of: place)
    }

    func isMuted(_ place: ListedTalker.Place) -> Bool { sessions[place.session].volume(of: place.ssrc) == 0 }

    /// Mutes a talker, or lets the talker be heard with the volume from before.
    func setMuted(_ isMuted: Bool, _ place: ListedTalker.Place) {
        guard isMuted != self.isMuted(place) else { return }
        set(TalkerVolume(decibels: volume(of: place), isMuted: isMuted), of: place)
    }

    /// Gives each talker with a name, and with the usual volume, the volume that is kept for this name. A talker whose
    /// volume was set keeps it after a change of the name, so that nobody changes another one's volume by taking that
    /// one's name. A volume that was set before the talker had a name is kept under the first one, unless that is muted.
    func follow(_ talkers: [ListedTalker]) {
        let unwritten = places.withLock { places in
            places.follow(talkers)
            return places.takeUnwritten()
        }
        guard let file else { return }
        for entry in unwritten {
            if let kept = file.volume(of: entry.name), kept.isMuted, !entry.volume.isMuted {
                apply(kept, to: entry.place, isByUser: false)
            } else {
                file.set(entry.volume, of: entry.name)
            }
        }
        for talker in talkers where isUsual(talker.place) {
            if let volume = talker.keptName.flatMap({ file.volume(of: $0) }) {
                apply(volume, to: talker.place, isByUser: false)
            }
        }
    }

    private func isUsual(_ place: ListedTalker.Place) -> Bool { sessions[place.session].volume(of: place.ssrc) == 1 }

    /// Sets the volume that the user wants, and writes it into the file.
    private func set(_ volume: TalkerVolume, of place: ListedTalker.Place) {
        apply(volume, to: place, isByUser: true)
        guard let file, let name = places.withLock({ $0.name(of: place) }) else { return }
        file.set(TalkerVolume(decibels: self.volume(of: place), isMuted: isMuted(place)), of: name)
    }

    /// Sets a volume if there is room for it.
    private func apply(_ volume: TalkerVolume, to place: ListedTalker.Place, isByUser: Bool) {
        let volume = TalkerVolume(
            decibels: Self.limited(volume.decibels, ControlCommand.talkerVolumes), isMuted: volume.isMuted)
        places.withLock { places in
            let room = places.insert(volume, of: place, isByUser: isByUser)
            guard room.isFound else { return }
            if let old = room.removed { sessions[old.session].setVolume(1, of: old.ssrc) }
            let factor = volume.isMuted ? 0 : Self.factor(volume.decibels, ControlCommand.talkerVolumes)
            sessions[place.session].setVolume(factor, of: place.ssrc)
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
