import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourRadio

/// How a session stands with its channel, and what is to be said of it.
struct ChannelStanding {
    /// Of the relay, or of the station that answers; nil where we answer ourselves, or there is no channel.
    private let place: String?
    private var isInside = false
    private var wasInside = false
    /// Whether there is a channel.
    let isChannel: Bool
    /// Talkers that the relay tells of.
    private var talkers: [UInt64: ChannelMember] = [:]
    /// Of those, and of those who have left.
    private var told: Set<SSRC> = []

    /// Nobody meets so many; a flood of numbers is not kept.
    private static let maximumToldCount = 1_024

    init(_ configuration: RadioConfiguration) {
        isChannel = if case .channel = configuration.protection { true } else { false }
        guard case .channel(let settings) = configuration.protection, let relay = settings.relay else {
            place = nil
            return
        }
        absence = .nobodyAnswers
        let endpoint = "\(relay.endpoints[0])"
        place = relay.host.map { endpoint.hasPrefix($0) ? endpoint : "\($0) (\(endpoint))" } ?? endpoint
    }

    /// Whether what is said goes anywhere, as far as we know.
    var isReached: Bool { isInside || place == nil }

    /// Why we are not in our channel; nil where we are, and without one.
    private(set) var absence: RadioError?

    mutating func take(_ event: ChannelEvent) {
        switch event {
        case .joined:
            (isInside, wasInside) = (true, true)
            absence = nil
        case .lost: leave(because: .nobodyAnswers)
        case .refused(let reason): leave(because: RadioError(refusedFor: reason))
        case .closed(let reason): leave(because: RadioError(closedFor: reason))
        case .membersKnown(let members): for talker in members.talkers { take(talker) }
        case .memberJoined(let member), .memberChanged(let member): take(member)
        case .memberLeft(let member): talkers[member.id] = nil
        case .ssrcIsTaken, .limited, .listeners: break
        }
    }

    private mutating func leave(because reason: RadioError) {
        isInside = false
        if place != nil { absence = reason }
    }

    private mutating func take(_ talker: ChannelMember) {
        talkers[talker.id] = talker
        if told.count >= Self.maximumToldCount { told = [] }
        told.insert(talker.info.ssrc)
    }

    /// Whether the relay tells of the talker with this SSRC: then it is not news that sound comes, or does not any more.
    func tells(of ssrc: SSRC) -> Bool { told.contains(ssrc) }

    /// Of an event that was not taken yet.
    func memberNews(of event: ChannelEvent, verbose: Bool) -> String? {
        switch event {
        case .membersKnown(let members): return People(members).summary
        case .memberJoined(let member):
            let isOpen = member.info.microphone == .open
            return "\(People.name(of: member)) is here" + (verbose && isOpen ? ", with the microphone open" : "")
        case .memberLeft(let member): return "\(People.name(of: member)) has left"
        case .memberChanged(let member):
            guard verbose, talkers[member.id]?.info.microphone != member.info.microphone else { return nil }
            return "\(People.name(of: member)) \(member.info.microphone == .open ? "opens" : "closes") the microphone"
        default: return nil
        }
    }

    /// After `take` of it.
    func news(of event: ChannelEvent, verbose: Bool) -> String? {
        switch event {
        case .joined(let role, let endpoint):
            (role == .talk ? "in the channel" : "in the channel, to listen") + (verbose ? ", seen at \(endpoint)" : "")
        case .lost:
            "nobody answers at \(place ?? "the link's address")\(wasInside ? " any more" : ""); "
                + "trying again until somebody does"
        case .refused(let reason): reason.sentence
        case .closed(.left): "\(place ?? "who answered") has left; trying again until it is back"
        case .closed(let reason): reason.farewell
        case .ssrcIsTaken, .membersKnown, .memberJoined, .memberChanged, .memberLeft, .listeners: nil
        case .limited(let limits):
            """
            the relay takes \(limits.packetsPerSecond) packets and \(limits.bitsPerSecond / 1_000) kbit a second of a talker, and \
            what is more is lost: take a longer --frame or a lower --bitrate, or ask its operator for more
            """
        }
    }
}
