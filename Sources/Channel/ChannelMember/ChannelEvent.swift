public import TenfourChannelKeys
public import TenfourSession

/// An event of our membership in the channel, or of another member.
public enum ChannelEvent: Hashable, Sendable {
    /// The relay has let us in, has given us a slot, and sees us at this address.
    case joined(Role, seenAt: Endpoint)
    /// The relay at this address has let us in. If there is a former relay, the reason is the one with which it has
    /// ended our membership; nil if it no longer answered. Without a former relay, the event is posted only if the link
    /// has other relays.
    case relayReached(Endpoint, insteadOf: Endpoint?, because: Refusal.Reason?)
    /// The relay does not answer, or no longer answers; joining continues. Media may still arrive.
    case lost
    /// The relay does not let us in; joining continues. Successive refusals with the same reason are posted once.
    case refused(Refusal.Reason)
    /// The relay has not shown that it is the one in the link; joining continues. Successive doubts with the same reason are
    /// posted once.
    case relayDoubted(RelayDoubt)
    /// The relay has ended our membership; joining begins again.
    case closed(Refusal.Reason)
    /// Another member uses our SSRC. Call `RTPSession.takeAnotherSSRC` and set `Channel.ssrc` to the new SSRC.
    case ssrcIsTaken
    /// The relay limits the rate at which we may send, and drops the excess. Posted once per session, and again if the
    /// limits change.
    case limited(TalkerLimits)
    /// The relay does not forward some of what we send. Posted once for each reason; `count` is the number so far.
    case mediaRefused(MediaRefusal, count: Int)
    /// Our clock and that of the relay that has let us in differ by 5 s or more. Posted once, and again if the difference
    /// changes by more than 5 s, comes back, or is that of another relay.
    case relayClockDiffers(ClockDifference)
    /// The difference that was posted is over.
    case relayClockAgrees
    /// A member is not heard, because its media is refused for its time. Posted once for each difference of clocks.
    case refusedForTime(TimeRefusal)
    /// Somebody sends forged packets for this channel. Posted once; `count` is the number so far.
    case interference(count: Int)
    /// The relay has sent the list of members for the first time.
    case membersKnown(ChannelMembers)
    /// A talker has joined the channel.
    case memberJoined(ChannelMember)
    /// A talker has opened or closed its microphone, or uses another SSRC.
    case memberChanged(ChannelMember)
    /// A talker has left, or was not listed within the duration of a lease after we joined again.
    case memberLeft(ChannelMember)
    /// An event in a managed channel.
    case managed(ManagedEvent)
    /// The page of listeners requested by `requestListeners`; empty if the relay does not answer.
    case listeners(ListenerPage)
}

/// The limits that a relay sets for a talker.
public struct TalkerLimits: Hashable, Sendable {
    /// The maximum number of datagrams per second.
    public var packetsPerSecond: Int
    /// The maximum number of bits per second, in all datagrams.
    public var bitsPerSecond: Int

    public init(packetsPerSecond: Int, bitsPerSecond: Int) {
        self.packetsPerSecond = packetsPerSecond
        self.bitsPerSecond = bitsPerSecond
    }
}

/// The events that the caller has not taken yet, at most 64. If there are 64, a new event replaces the oldest.
struct ChannelEvents: Sendable {
    private var events: [ChannelEvent] = []

    private static let maximumCount = 64

    mutating func post(_ event: ChannelEvent) {
        if events.count == Self.maximumCount { events.removeFirst() }
        events.append(event)
    }

    mutating func next() -> ChannelEvent? { events.isEmpty ? nil : events.removeFirst() }
}
