import TenfourCommandSupport
import TenfourPackets
import TenfourSession

/// Composes the lines that tell a talker who does not hear it, and that tell a listener whose audio is missing. Each
/// change is told once.
struct HearingNotices {
    /// The partners of which a line said that they do not hear us, or badly, with the state that it told.
    private var troubled: [SSRC: HearingState] = [:]
    /// The talkers of which a line said that their audio is missing.
    private var missing: Set<SSRC> = []

    /// The maximum number of partners and talkers that are kept, so that many SSRCs cannot fill the memory.
    private static let maximumCount = 256

    /// Returns the line about `event`; nil if it needs none.
    mutating func line(for event: Event, _ names: TalkerNames) -> String? {
        switch event {
        case .hearingChanged(let hearing): return hearing.ssrc.flatMap { line(about: hearing, of: $0, names[$0]) }
        case .mediaMissing(let ssrc):
            guard missing.count < Self.maximumCount, missing.insert(ssrc).inserted else { return nil }
            return
                "\(names[ssrc]) is on the air, but nothing arrives from there: check the network and the firewall here"
        case .mediaReturned(let ssrc, let isArriving):
            guard missing.remove(ssrc) != nil, isArriving else { return nil }
            return "the audio of \(names[ssrc]) arrives again"
        case .sourceLeft(let ssrc, _), .reporterLeft(let ssrc, _):
            troubled[ssrc] = nil
            missing.remove(ssrc)
            return nil
        default: return nil
        }
    }

    private mutating func line(about hearing: Hearing, of ssrc: SSRC, _ name: String) -> String? {
        guard let trouble = hearing.trouble(name) else {
            guard hearing.state == .hears, troubled.removeValue(forKey: ssrc) != nil else { return nil }
            return "\(name) hears you again"
        }
        let before = troubled[ssrc]
        guard before != nil || troubled.count < Self.maximumCount else { return nil }
        troubled[ssrc] = hearing.state
        return before.map { hearing.state.isSameKind(as: $0) } ?? false ? nil : trouble
    }
}

extension Hearing {
    /// The sentence that the partner with this name does not hear us, or not well; nil if it hears us or nothing is known.
    func trouble(_ name: String) -> String? {
        switch state {
        case .notYetKnown, .hears, .cannotKnow: nil
        case .hearsBadly(let share):
            "\(name) hears you badly: \(decimal(share * 100, places: 0))% of your audio is missing there"
        case .hearsNothing:
            "\(name) has heard nothing from you\(time), while packets from there arrive: only the direction to \(name) fails; "
                + "check the firewall there, and whether one here forbids sending"
        case .muted: "\(name) receives you, but the speaker there is muted"
        case .noOutput: "\(name) receives you, but plays nothing: it has no output, or its sound card is gone"
        case .playsNothing:
            "\(name) receives you, but plays almost nothing: your packets arrive too late there, or cannot be decoded"
        case .noAnswer:
            "\(name) has not answered\(time): nothing arrives from there, so it is not known whether you are heard"
        }
    }

    private var time: String {
        duration.map { " for \(decimal(max($0 / .seconds(1), 1), places: 0)) s" } ?? ""
    }
}

/// Whether the partners hear us, in a few words for the status line.
struct HearingSummary: Equatable {
    var text: String
    /// The same for a narrow terminal; nil if there are no fewer words.
    var short: StatusText?
    var tone: StatusFields.Tone

    /// Nil while nothing is known, and if nobody is there.
    init?(_ hearings: [Hearing]) {
        guard let first = hearings.first else { return nil }
        guard hearings.count == 1 else {
            let known = hearings.filter { $0.state != .notYetKnown && $0.state != .cannotKnow }
            guard !known.isEmpty else { return nil }
            let count = known.count { $0.state.isHearing }
            text = "\(count) of \(hearings.count) hear you"
            short = "\(count)/\(hearings.count) hear"
            // Partners that send no reports are no reason for an alarm.
            tone = count == hearings.count ? .good : count == known.count ? .plain : count == 0 ? .bad : .doubtful
            return
        }
        guard let summary = Self.words(of: first.state) else { return nil }
        (text, tone) = summary
        switch first.state {
        case .hearsBadly: short = "heard badly"
        case .muted, .noOutput, .playsNothing: short = "NOT HEARD"
        case .notYetKnown, .hears, .hearsNothing, .noAnswer, .cannotKnow: break
        }
    }

    private static func words(of state: HearingState) -> (String, StatusFields.Tone)? {
        switch state {
        case .notYetKnown, .cannotKnow: nil
        case .hears: ("heard", .good)
        case .hearsBadly(let share): ("heard badly (\(decimal(share * 100, places: 0))% missing)", .doubtful)
        case .hearsNothing: ("NOT HEARD", .bad)
        case .muted: ("NOT HEARD: muted there", .bad)
        case .noOutput: ("NOT HEARD: no output there", .bad)
        case .playsNothing: ("NOT HEARD: not playable there", .bad)
        case .noAnswer: ("no answer", .bad)
        }
    }
}

extension HearingState {
    /// The name of the state in JSON.
    var name: String {
        switch self {
        case .notYetKnown: "not-yet-known"
        case .hears: "hears"
        case .hearsBadly: "hears-badly"
        case .hearsNothing: "hears-nothing"
        case .muted: "muted"
        case .noOutput: "no-output"
        case .playsNothing: "plays-nothing"
        case .noAnswer: "no-answer"
        case .cannotKnow: "cannot-know"
        }
    }
}
