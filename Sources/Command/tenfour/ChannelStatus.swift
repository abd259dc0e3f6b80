import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourRadio

/// Tracks whether a session is in its channel, and words the notices about it.
struct ChannelStatus {
    /// The address of the relay, or of the station that answers; nil if we answer ourselves or there is no channel.
    private let place: String?
    private var isInside = false
    private var wasInside = false
    /// Whether there is a channel.
    let isChannel: Bool
    /// Talkers that the relay lists.
    private var talkers: [UInt64: ChannelMember] = [:]
    /// SSRCs of listed talkers, including those who left.
    private var listedSSRCs: Set<SSRC> = []

    /// Bounds the memory that a flood of SSRCs takes.
    private static let maximumListedCount = 1_024

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

    /// Whether our audio reaches anybody, as far as known.
    var isReached: Bool { isInside || place == nil }

    /// The reason why we are not in the channel; nil if we are, or without a channel.
    private(set) var absence: RadioError?

    mutating func apply(_ event: ChannelEvent) {
        switch event {
        case .joined:
            (isInside, wasInside) = (true, true)
            absence = nil
        case .lost: leave(because: .nobodyAnswers)
        case .refused(let reason): leave(because: RadioError(refusedFor: reason))
        case .closed(let reason): leave(because: RadioError(closedFor: reason))
        case .membersKnown(let members): for talker in members.talkers { apply(talker) }
        case .memberJoined(let member), .memberChanged(let member): apply(member)
        case .memberLeft(let member): talkers[member.id] = nil
        case .ssrcIsTaken, .limited, .listeners: break
        }
    }

    private mutating func leave(because reason: RadioError) {
        isInside = false
        if place != nil { absence = reason }
    }

    private mutating func apply(_ talker: ChannelMember) {
        talkers[talker.id] = talker
        if listedSSRCs.count >= Self.maximumListedCount { listedSSRCs = [] }
        listedSSRCs.insert(talker.info.ssrc)
    }

    /// Returns whether the relay lists the talker, whose coming and going is then already announced.
    func lists(_ ssrc: SSRC) -> Bool { listedSSRCs.contains(ssrc) }

    /// Returns the notice about members for an event that was not applied yet.
    func memberNotice(for event: ChannelEvent, verbose: Bool) -> String? {
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

    /// Returns the notice for an event after `apply`.
    func notice(for event: ChannelEvent, verbose: Bool) -> String? {
        switch event {
        case .joined(let role, let endpoint):
            (role == .talk ? "in the channel" : "in the channel, listening only")
                + (verbose ? ", seen at \(endpoint)" : "")
        case .lost:
            "nobody answers at \(place ?? "the link's address")\(wasInside ? " any more" : ""); "
                + "trying again until somebody answers"
        case .refused(let reason): reason.sentence
        case .closed(.left): "\(place ?? "the station that answered") has left; trying again until it is back"
        case .closed(let reason): reason.farewell
        case .ssrcIsTaken, .membersKnown, .memberJoined, .memberChanged, .memberLeft, .listeners: nil
        case .limited(let limits):
            """
            the relay accepts \(limits.packetsPerSecond) packets and \(limits.bitsPerSecond / 1_000) kbit per second from a talker and drops \
            the rest: use a longer --frame or a lower --bitrate, or ask its operator for a higher limit
            """
        }
    }
}
