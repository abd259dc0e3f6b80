import TenfourFloor
internal import TenfourJSON
import TenfourPackets

/// The floor of a channel in the relay's status.
extension FloorStatus {
    /// The lines for people: who has the floor, and which members break its rules. Members have no names here, because
    /// the relay cannot decrypt them.
    func lines(channel: String) -> [String] {
        let who = talker.map { "station \($0.digits) has the floor" } ?? "nobody has the floor"
        let waiting = waitingCount > 0 ? ", \(waitingCount) \(waitingCount == 1 ? "waits" : "wait")" : ""
        let emergency = talker != nil && priority == .emergency ? " in an emergency" : ""
        return ["channel \(channel): \(who)\(emergency)\(waiting)\(arbiter.note)"]
            + offenders.map { offender in
                let place = offender.isAtOtherRelay ? " of another relay" : ""
                return "  member \(offender.member)\(place) \(offender.counts.sentence)"
            }
    }

    var json: JSON {
        .object([
            ("talker", talker.map { .text($0.digits) } ?? .null),
            ("emergency", .boolean(talker != nil && priority == .emergency)), ("waiting", .integer(waitingCount)),
            ("arbiter", .text(arbiter.word)),
            ("requests", .integer(totals.requestCount)), ("denied", .integer(totals.deniedCount)),
            (
                "offenders",
                .list(
                    offenders.map { offender in
                        .object(
                            [
                                ("member", .integer(Int(offender.member))),
                                ("other_relay", .boolean(offender.isAtOtherRelay)),
                            ] + offender.counts.json)
                    })
            ),
        ])
    }
}

extension FloorStatus.Arbiter {
    /// The part of the line about the relay that arbitrates.
    fileprivate var note: String {
        switch self {
        case .thisRelay: ""
        case .otherRelay: "; another relay grants it"
        case .nobody: "; no relay grants it yet"
        }
    }

    fileprivate var word: String {
        switch self {
        case .thisRelay: "this-relay"
        case .otherRelay: "other-relay"
        case .nobody: "none"
        }
    }
}

extension FloorMemberCounts {
    private var offences: [(name: String, text: String, count: Int)] {
        [
            ("messages_over_limit", "sent too many messages", limitedCount),
            ("overlong", "talked too long", overlongCount),
            ("foreign_ssrc", "used the SSRC of another", foreignSSRCCount),
            ("surplus_emergencies", "called too many emergencies", surplusEmergencyCount),
            ("packets_without_floor", "sent packets without the floor", unpermittedPacketCount),
        ]
    }

    fileprivate var sentence: String {
        offences.filter { $0.count > 0 }.map { "\($0.text) (\($0.count))" }.joined(separator: ", ")
    }

    fileprivate var json: [(String, JSON)] { offences.map { ($0.name, .integer($0.count)) } }
}
