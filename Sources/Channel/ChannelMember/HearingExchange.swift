public import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets
public import TenfourSession

/// Holds the relay's last request and list, until the RTP session takes them.
struct HearingExchange: Sendable {
    fileprivate var request: HearingRequest?
    /// The relay's last list; an older one says nothing more.
    fileprivate var list: HearingList?
    /// The time at which the relay must be told that we know these records; nil if it has asked us, or may be older.
    fileprivate(set) var deadline: Instant?
    fileprivate var sentCount = 0

    /// The maximum number of statements without entries in a session. Each may be lost.
    fileprivate static let maximumSendCount = 4

    /// A session has begun, whose relay asks nobody who has not stated anything.
    mutating func begin(at now: Instant) {
        sentCount = 0
        deadline = now
    }

    mutating func requestArrived(_ request: HearingRequest) {
        self.request = request
        deadline = nil
    }

    /// Reads a list. The roster says whose SSRC a member's number stands for.
    mutating func listArrived(_ list: HearingList, _ roster: RosterExchange) {
        var list = list
        for index in list.entries.indices { list.entries[index].ssrc = roster.ssrc(of: list.entries[index].member) }
        self.list = list
    }
}

/// Who hears whom. The RTP session keeps account of it.
extension Channel {
    /// Passes what has arrived about who hears whom to the RTP session, and sends what the session states. Call it after
    /// each input of the channel or the session, before `nextDatagram`.
    public mutating func exchangeHearing(with rtpSession: inout RTPSession, at now: Instant) {
        if let request = hearing.request { rtpSession.hearingRequested(request, at: now) }
        if let list = hearing.list { rtpSession.hearingListArrived(list, at: now) }
        (hearing.request, hearing.list) = (nil, nil)
        guard let report = rtpSession.nextHearingReport(at: now) else { return }
        // A relay of which nothing arrives any more may still receive what we state.
        if session?.keepalive.hasAnswered ?? false { send(.hearing(report)) }
    }

    /// Tells the relay that we know these records, until it asks.
    mutating func announceHearing(at now: Instant) {
        guard isAnswered, let due = hearing.deadline, due <= now else { return }
        send(.hearing(HearingReport(output: .playing)))
        hearing.sentCount += 1
        let isLast = hearing.sentCount == HearingExchange.maximumSendCount
        hearing.deadline = isLast ? nil : now + .seconds(1 << (hearing.sentCount - 1))
    }
}
