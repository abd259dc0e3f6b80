public import TenfourChannelKeys
public import TenfourSession

/// An event of a member's life in its channel.
public enum ChannelEvent: Hashable, Sendable {
    /// The relay has let us in and keeps our place, and sees us at this address.
    case joined(Role, seenAt: Endpoint)
    /// The relay does not answer, or not any more; joining goes on. Sound may still come.
    case lost
    /// The relay does not let us in; trying goes on. Told once for each reason in a row.
    case refused(Refusal.Reason)
    /// The relay has ended our membership; joining begins anew.
    case closed(Refusal.Reason)
    /// Another talks under our SSRC: the station is to take another one (`RTPSession.takeAnotherSSRC`), and the channel to
    /// be told (`Channel.ssrc`).
    case ssrcIsTaken
    /// The relay takes no more than this of us, and what is beyond is lost. Told once while we are in.
    case limited(TalkerLimits)
    /// The relay has told who is there, for the first time.
    case membersKnown(ChannelMembers)
    /// A talker has come into the channel.
    case memberJoined(ChannelMember)
    /// A talker has opened or closed its microphone, or sends under another SSRC.
    case memberChanged(ChannelMember)
    /// A talker has left, or a lease has passed since it was known to be there.
    case memberLeft(ChannelMember)
    /// The listeners that were requested; none if the relay does not tell.
    case listeners(ListenerPage)
}

/// The limits that a relay sets to a talker.
public struct TalkerLimits: Hashable, Sendable {
    /// Datagrams a second.
    public var packetsPerSecond: Int
    /// Bits of those a second.
    public var bitsPerSecond: Int

    public init(packetsPerSecond: Int, bitsPerSecond: Int) {
        self.packetsPerSecond = packetsPerSecond
        self.bitsPerSecond = bitsPerSecond
    }
}

/// Events that wait to be taken. When nobody takes them the oldest are forgotten.
struct ChannelEvents: Sendable {
    private var events: [ChannelEvent] = []

    private static let maximumCount = 64

    mutating func post(_ event: ChannelEvent) {
        if events.count == Self.maximumCount { events.removeFirst() }
        events.append(event)
    }

    mutating func next() -> ChannelEvent? { events.isEmpty ? nil : events.removeFirst() }
}
