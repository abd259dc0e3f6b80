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

    /// Where a talker is heard: the index of the session, and the SSRC there.
    struct Place: Hashable { var session: Int, ssrc: SSRC }
}

/// The volumes that the user sets, in decibels: one for all sessions of a talk, and one for each talker. Any thread may
/// use it.
final class VolumeControl: Sendable {
    private let sessions: [RadioSession]
    /// The volumes to which muted talkers return. At most as many as the sessions keep.
    private let kept = Locked<[ListedTalker.Place: Double]>([:])

    /// The change of a volume by one press of a key, in decibels.
    private static let step = 3.0

    /// The first session is the one that the talk began with.
    init(_ sessions: [RadioSession]) { self.sessions = sessions }

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
        guard !isMuted(place) else { return keep(decibels, of: place) }
        sessions[place.session].setVolume(Self.factor(decibels, ControlCommand.talkerVolumes), of: place.ssrc)
    }

    func isMuted(_ place: ListedTalker.Place) -> Bool { sessions[place.session].volume(of: place.ssrc) == 0 }

    /// Mutes a talker, or lets the talker be heard with the volume from before.
    func setMuted(_ isMuted: Bool, _ place: ListedTalker.Place) {
        guard isMuted != self.isMuted(place) else { return }
        let volume = volume(of: place)
        let factor = isMuted ? 0 : Self.factor(volume, ControlCommand.talkerVolumes)
        sessions[place.session].setVolume(factor, of: place.ssrc)
        if isMuted { keep(volume, of: place) }
    }

    /// Keeps the volume of a muted talker, and forgets those of talkers who are no longer muted.
    private func keep(_ decibels: Double, of place: ListedTalker.Place) {
        kept.withLock { kept in
            kept = kept.filter { sessions[$0.key.session].volume(of: $0.key.ssrc) == 0 }
            kept[place] = decibels
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
        Float(pow(10, min(max(decibels, range.lowerBound), range.upperBound) / 20))
    }
}
