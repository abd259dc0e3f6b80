import TenfourChannelKeys
import TenfourChannelMember
import TenfourJSON
import TenfourPackets
import TenfourRadio
import TenfourSession

/// Sends events of a session to programs at the control socket, such as
/// `{ "event": "talking", "id": "1a2b3c4d", "name": "Bob", "channel": "family" }`. Use it on one thread.
struct ControlEvents {
    private let channel: String
    private let post: (JSON) -> Void
    private var talkers = TalkingChanges()
    /// The sources and reporters that no relay lists, which were told as joined.
    private var here: Set<SSRC> = []

    /// The maximum number of sources in `here`, so that one that sends from many SSRCs cannot fill the memory.
    private static let maximumCount = 256

    /// `channel` is the name of the channel or of the other end. `post` sends an event.
    init(channel: String, post: @escaping (JSON) -> Void) {
        self.channel = channel
        self.post = post
    }

    /// Tells who has begun and stopped talking since the last call.
    mutating func update(_ snapshot: RadioSnapshot, _ names: TalkerNames) {
        update(TalkingChanges.heard(in: snapshot), at: snapshot.elapsed, names)
    }

    /// `heard` are those who are heard now, `time` that in the session.
    mutating func update(_ heard: [SSRC], at time: Duration, _ names: TalkerNames) {
        for change in talkers.update(heard, at: time) {
            tell(change.isTalking ? "talking" : "stopped", change.ssrc, names[change.ssrc])
        }
    }

    /// Tells which members a relay has listed, and which have left.
    func apply(_ event: ChannelEvent) {
        switch event {
        case .membersKnown(let members): for member in members.talkers { tell("joined", member) }
        case .memberJoined(let member): tell("joined", member)
        case .memberLeft(let member): tell("left", member)
        default: break
        }
    }

    /// Tells who has left. Call this before `names` applies the event.
    mutating func left(_ event: Event, _ names: TalkerNames) {
        switch event {
        case .sourceLeft(let ssrc, _), .reporterLeft(let ssrc, _):
            if here.remove(ssrc) != nil { tell("left", ssrc, names[ssrc]) }
        default: break
        }
    }

    /// Tells who has joined. Call this after `names` has applied the event, and not for those whom a relay lists.
    mutating func joined(_ event: Event, _ names: TalkerNames) {
        switch event {
        case .sourceAppeared(let ssrc, _), .reporterAppeared(let ssrc, _, _):
            guard here.count < Self.maximumCount, here.insert(ssrc).inserted else { return }
            tell("joined", ssrc, names[ssrc])
        default: break
        }
    }

    /// Tells who hears us and who does not, and whose audio is missing.
    func heard(_ event: Event, _ names: TalkerNames) {
        switch event {
        case .hearingChanged(let hearing):
            guard let ssrc = hearing.ssrc else { return }
            tell("hearing", ssrc, names[ssrc], [("state", .text(hearing.state.name))])
        case .mediaMissing(let ssrc): tell("missing", ssrc, names[ssrc])
        case .mediaReturned(let ssrc, _): tell("returned", ssrc, names[ssrc])
        default: break
        }
    }

    private func tell(_ event: String, _ member: ChannelMember) {
        tell(event, member.info.ssrc, People.name(of: member))
    }

    private func tell(_ event: String, _ ssrc: SSRC, _ name: String, _ members: [(String, JSON)] = []) {
        post(
            .object(
                [
                    ("event", .text(event)), ("id", .text(ssrc.digits)), ("name", .text(name)),
                    ("channel", .text(channel)),
                ] + members))
    }
}
