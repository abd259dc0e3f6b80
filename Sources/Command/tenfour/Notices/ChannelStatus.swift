import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourUV

/// Tracks whether a session is in its channel, and composes the notices about joining, leaving and members.
struct ChannelStatus {
    /// The relays of the channel, or the tenfour that serves it. It is empty without a channel, and if this process
    /// serves the channel itself.
    private let relays: [ChannelSettings.Relay]
    /// The address of the relay that has let us in last; nil before the first one has, and if there is only one.
    private var relay: Endpoint?
    private var isInside = false
    private var wasInside = false
    private let channelName: String
    /// The reasons for refused packets that the notice of the relay's limits has named.
    private var explained: Set<MediaRefusal> = []
    /// Whether the kernel says that this machine's clock is synchronised.
    private let isClockSynchronised: () -> Bool
    /// Whether the session is in a channel, or is trying to join one.
    let isChannel: Bool
    /// The talkers on the relay's roster, by member id.
    private var talkers: [UInt64: ChannelMember] = [:]
    /// The SSRCs of talkers that are or were on the roster. The set is emptied when it is full.
    private var listedSSRCs: Set<SSRC> = []
    /// The SSRCs of talkers whose media was refused for its time.
    private var refusedForTime: Set<SSRC> = []

    /// The maximum number of SSRCs in `listedSSRCs` and in `refusedForTime`, so that a peer that sends from many SSRCs cannot fill the memory.
    private static let maximumListedCount = 1_024

    init(_ configuration: RadioConfiguration, isClockSynchronised: @escaping () -> Bool = { RealTimeClock.isSet }) {
        self.isClockSynchronised = isClockSynchronised
        isChannel = if case .channel = configuration.protection { true } else { false }
        guard case .channel(let settings) = configuration.protection else {
            relays = []
            channelName = ""
            return
        }
        relays = settings.relays
        channelName = settings.keys.name
        if !relays.isEmpty { absence = .nobodyAnswers }
    }

    /// The address of the relay that we are in the channel through, or of the first one that is tried, with the host in
    /// the link.
    private var place: String? { (relay ?? relays.first?.endpoints.first).map(text) }

    private func text(_ endpoint: Endpoint) -> String {
        guard let host = host(endpoint), !"\(endpoint)".hasPrefix(host.name) else { return "\(endpoint)" }
        return "\(host.name) (\(endpoint))"
    }

    private func host(_ endpoint: Endpoint) -> RelayHost? {
        relays.first { $0.endpoints.contains(endpoint) }?.host
    }

    /// The host in the link that we are in the channel through; nil if the link names only one, and while we are outside.
    var relayName: String? {
        guard relays.count > 1, let relay, isInside else { return nil }
        return host(relay).map(\.description) ?? "\(relay)"
    }

    /// Whether our packets reach the relay or the tenfour that serves the channel. It is always true if there is
    /// neither, because nothing confirms delivery.
    var isReached: Bool { isInside || relays.isEmpty }

    /// The reason why we are not in the channel; nil while we are in it, or if the session has no channel.
    private(set) var absence: RadioError?

    /// Whether a notice about the channel says why `event` happens, so that it needs none of its own: without the relay
    /// nothing arrives, and media of another time is refused.
    func explains(_ event: Event) -> Bool {
        if case .mediaMissing(let ssrc) = event { !isReached || refusedForTime.contains(ssrc) } else { false }
    }

    mutating func apply(_ event: ChannelEvent) {
        switch event {
        case .joined:
            (isInside, wasInside) = (true, true)
            absence = nil
        case .relayReached(let endpoint, _, _): relay = endpoint
        case .lost: leave(because: .nobodyAnswers)
        case .refused(let reason): leave(because: RadioError(refusedFor: reason))
        case .closed(let reason): leave(because: RadioError(closedFor: reason))
        case .relayDoubted(let doubt): leave(because: RadioError(doubt))
        case .membersKnown(let members): for talker in members.talkers { apply(talker) }
        case .memberJoined(let member), .memberChanged(let member): apply(member)
        case .memberLeft(let member): talkers[member.id] = nil
        case .limited(let limits):
            let reason = limits.packetsPerSecond == 0 ? MediaRefusal.floor : .talkerRate
            explained.insert(reason)
        case .refusedForTime(let refusal):
            if refusedForTime.count >= Self.maximumListedCount { refusedForTime = [] }
            refusedForTime.insert(refusal.ssrc)
        case .ssrcIsTaken, .listeners, .managed, .relayClockDiffers, .relayClockAgrees, .mediaRefused, .interference:
            break
        }
    }

    private mutating func leave(because reason: RadioError) {
        isInside = false
        if !relays.isEmpty { absence = reason }
    }

    private mutating func apply(_ talker: ChannelMember) {
        talkers[talker.id] = talker
        if listedSSRCs.count >= Self.maximumListedCount { listedSSRCs = [] }
        listedSSRCs.insert(talker.info.ssrc)
    }

    /// Returns whether the talker is or was on the relay's roster. If so, it is announced as a member when it joins or
    /// leaves.
    func lists(_ ssrc: SSRC) -> Bool { listedSSRCs.contains(ssrc) }

    /// Returns the notice that a member has joined, left or changed. Call this before `apply(event)`, which replaces
    /// the previous state.
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

    /// Returns the notice about our own joining, leaving and limits in the channel, about clocks and interference.
    /// `talker` is the other station that has the floor. Call this after `apply(event)`.
    func notice(for event: ChannelEvent, _ names: TalkerNames, talker: SSRC? = nil, verbose: Bool) -> String? {
        switch event {
        case .joined(let role, let endpoint):
            (role == .talk ? "in the channel" : "in the channel, listening only")
                + (relayName.map { ", through \($0)" } ?? "")
                + (verbose ? " (this station's address: \(endpoint))" : "")
        case .relayReached(_, .none, _): nil
        case .relayReached(let endpoint, .some(let former), let reason):
            "now in the channel through \(text(endpoint)): "
                + (reason.map { "\($0)" } ?? "\(text(former)) no longer answers")
        case .lost where relays.count > 1:
            "none of the channel's \(relays.count) relays answers\(wasInside ? " any more" : ""); "
                + "trying again until one does"
        case .lost:
            "nobody answers at \(place ?? "the link's address")\(wasInside ? " any more" : ""); "
                + "trying again until somebody answers"
        case .refused(let reason): reason.sentence
        case .relayDoubted(let doubt): doubt.description
        case .closed(.left):
            "\(place ?? "the station that forwards the channel") has left; trying again until it is back"
        case .closed(let reason): reason.farewell
        case .ssrcIsTaken, .membersKnown, .memberJoined, .memberChanged, .memberLeft, .listeners: nil
        case .managed(let event): ManagedNotice(event, channel: channelName).text
        case .mediaRefused(let reason, let count):
            explained.contains(reason) ? nil : reason.sentence(count, talker: talker.map { names[$0] })
        case .relayClockDiffers(let difference):
            difference.sentence(relay: place ?? "the relay", isSynchronised: isClockSynchronised())
        case .relayClockAgrees: ClockDifference.agreement(with: place ?? "the relay")
        case .refusedForTime(let refusal):
            refusal.cause.sentence(of: names[refusal.ssrc], isSynchronised: isClockSynchronised())
        case .interference(let count):
            "interference: somebody with this channel's link sends forged packets (\(count) so far); you may hear them as another "
                + "talker; to end it, make a new channel and give its link only to people you trust"
        case .limited(let limits) where limits.packetsPerSecond == 0:
            "one talks at a time in this channel, and "
                + (talker.map { "\(names[$0]) has the floor" } ?? "another does, or you have talked for too long")
                + ": what you send meanwhile is not heard"
        case .limited(let limits):
            """
            the relay accepts \(limits.packetsPerSecond) packets and \(limits.bitsPerSecond / 1_000) kbit per second from a talker and drops \
            the rest: use a longer --frame or a lower --bitrate, or ask its operator for a higher limit
            """
        }
    }
}
