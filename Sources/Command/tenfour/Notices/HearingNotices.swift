import TenfourCommandSupport
import TenfourPackets
import TenfourSession

/// Composes the lines that tell a talker who does not hear it, and that tell a listener whose audio is missing. Each
/// change is told once.
struct HearingNotices {
    /// The partners of which a line said that they do not hear us, or badly, with the state that it told.
    private var troubled: [Partner: HearingState] = [:]
    /// The members that have heard us.
    private var heardBefore: Set<Partner> = []
    /// Whether a line said that there are more partners than are named.
    private var hasToldOfMore = false
    /// The talkers of which a line said that their audio is missing.
    private var missing: Set<SSRC> = []

    private enum Partner: Hashable {
        case station(SSRC)
        case member(UInt32)
        /// A place that refuses our packets, whichever station reports from there.
        case address(Endpoint)

        init(_ hearing: Hearing) {
            let known = hearing.member.map { Self.member($0) } ?? hearing.ssrc.map { Self.station($0) }
            self = hearing.state == .refused ? .address(hearing.endpoint) : known ?? .address(hearing.endpoint)
        }

        func isPlace(at address: IPAddress) -> Bool {
            if case .address(let endpoint) = self { endpoint.address == address } else { false }
        }
    }

    /// The maximum number of partners and talkers that are kept, so that many SSRCs cannot fill the memory.
    private static let maximumCount = 256
    /// The maximum number of members of a channel that lines name at a time.
    private static let maximumMemberCount = 8

    /// Returns the line about `event`; nil if it needs none. `isSample` says that the relay has asked only some members of
    /// the channel.
    mutating func line(for event: Event, _ names: TalkerNames, isSample: Bool = false) -> String? {
        switch event {
        case .hearingChanged(let hearing): return line(about: hearing, hearing.name(names), isSample: isSample)
        case .mediaMissing(let ssrc):
            guard missing.count < Self.maximumCount, missing.insert(ssrc).inserted else { return nil }
            return
                "\(names[ssrc]) is on the air, but nothing arrives from there: check the network and the firewall here"
        case .mediaReturned(let ssrc, let isArriving):
            guard missing.remove(ssrc) != nil, isArriving else { return nil }
            return "the audio of \(names[ssrc]) arrives again"
        case .sourceLeft(let ssrc, _), .reporterLeft(let ssrc, _):
            troubled[.station(ssrc)] = nil
            missing.remove(ssrc)
            return nil
        default: return nil
        }
    }

    /// Forgets the members of a channel that are asked no more, while we transmit.
    mutating func update(_ hearings: [Hearing]) {
        guard !hearings.isEmpty else { return }
        let members = Set(hearings.compactMap(\.member).map { Partner.member($0) })
        func isGone(_ partner: Partner) -> Bool {
            if case .member = partner { !members.contains(partner) } else { false }
        }
        troubled = troubled.filter { !isGone($0.key) }
        heardBefore = heardBefore.filter { !isGone($0) }
        if troubled.isEmpty { hasToldOfMore = false }
    }

    private mutating func line(about hearing: Hearing, _ name: String, isSample: Bool) -> String? {
        let partner = Partner(hearing)
        let refusals = troubled.keys.filter { hearing.state.isHearing && $0.isPlace(at: hearing.endpoint.address) }
        for refusal in refusals { troubled[refusal] = nil }
        guard let trouble = hearing.trouble(name) else {
            guard hearing.state == .hears else { return nil }
            if heardBefore.count < Self.maximumCount { heardBefore.insert(partner) }
            let wasTroubled = troubled.removeValue(forKey: partner) != nil || !refusals.isEmpty
            return wasTroubled ? "\(name) hears you again" : nil
        }
        // In a sample, somebody is always muted or far away: a line tells what has changed.
        guard !isSample || heardBefore.contains(partner) else { return nil }
        let before = troubled[partner]
        guard before != nil || troubled.count < (hearing.member == nil ? Self.maximumCount : Self.maximumMemberCount)
        else {
            guard hearing.member != nil, !hasToldOfMore else { return nil }
            hasToldOfMore = true
            return "more members do not hear you; the status line (with --plain, the key s) counts them"
        }
        troubled[partner] = hearing.state
        return before.map { hearing.state.isSameKind(as: $0) } ?? false ? nil : trouble
    }
}

extension Hearing {
    /// The name of the partner, or of the place where it is.
    func name(_ names: TalkerNames) -> String {
        ssrc.map { names[$0] } ?? (member == nil ? "\(endpoint)" : "a listener")
    }

    /// The sentence that the partner with this name does not hear us, or not well; nil if it hears us or nothing is known.
    func trouble(_ name: String) -> String? {
        switch state {
        case .notYetKnown, .hears, .cannotKnow: nil
        case .refused: Self.refusal(by: endpoint)
        case .hearsBadly(let share):
            "\(name) hears you badly: \(decimal(share * 100, places: 0))% of your audio is missing there"
        case .hearsNothing where member != nil:
            "\(name) has heard nothing from you\(time), but still reaches the relay; check the firewall there, "
                + "and the clock"
        case .hearsNothing:
            "\(name) has heard nothing from you\(time), while packets from there arrive: only the direction to \(name) fails; "
                + "check the port and the firewall there, and whether one here forbids sending"
        case .muted: "\(name) receives you, but the speaker there is muted"
        case .noOutput: "\(name) receives you, but plays nothing: it has no output, or its sound card is gone"
        case .playsNothing:
            "\(name) receives you, but plays almost nothing: your packets arrive too late there, or cannot be decoded"
        case .noAnswer where member != nil:
            "\(name) has not answered the relay\(time), so it is not known whether you are heard; check the network there"
        case .noAnswer:
            "\(name) has not answered\(time): nothing arrives from there, so it is not known whether you are heard"
        }
    }

    /// The sentence that nobody receives at an endpoint.
    static func refusal(by endpoint: Endpoint) -> String {
        "\(endpoint) refuses your packets: no program receives there; start tenfour there, "
            + "or name the port that it uses, as HOST:PORT"
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

    /// Nil while nothing is known, and if nobody is there. `isSample` says that the relay has asked only some members of the
    /// channel.
    init?(_ hearings: [Hearing], isSample: Bool = false) {
        guard let first = hearings.first else { return nil }
        guard hearings.count == 1, !isSample else {
            let known = hearings.filter { $0.state != .notYetKnown && $0.state != .cannotKnow }
            guard !known.isEmpty else { return nil }
            let count = known.count { $0.state.isHearing }
            text = "\(count) of \(hearings.count)\(isSample ? " asked" : "") hear you"
            short = "\(count)/\(hearings.count) hear"
            // Partners that send no reports are no reason for an alarm.
            tone = count == hearings.count ? .good : count == known.count ? .plain : count == 0 ? .bad : .doubtful
            return
        }
        guard let summary = Self.words(of: first.state) else { return nil }
        (text, tone) = summary
        switch first.state {
        case .hearsBadly: short = "heard badly"
        case .muted, .noOutput, .playsNothing, .refused: short = "NOT HEARD"
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
        case .refused: ("NOT HEARD: no program there", .bad)
        }
    }
}

extension HearingState {
    /// A few words in a list of people; nil if the partner hears us or nothing is known.
    var words: String? {
        switch self {
        case .notYetKnown, .hears, .cannotKnow: nil
        case .hearsBadly: "hears you badly"
        case .hearsNothing: "hears nothing of you"
        case .muted: "has muted the speaker"
        case .noOutput, .playsNothing: "plays nothing of you"
        case .noAnswer: "does not answer"
        case .refused: "refuses your packets"
        }
    }

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
        case .refused: "refused"
        case .cannotKnow: "cannot-know"
        }
    }
}
