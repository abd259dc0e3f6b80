public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourChannelMember
public import TenfourJitterBuffer
public import TenfourPackets
public import TenfourSession
internal import TenfourSoundCard
public import TenfourUV
public import TenfourVoiceProcessing

/// The state of a session, at most a sixth of a second old. All counts begin at the start of the session.
public struct RadioSnapshot: Sendable {
    /// The time since the start of the session.
    public var elapsed: Duration
    /// The stream that we have sent.
    public var sendStream: SendStream
    /// The loss protection of the stream that we send.
    public var lossProtection: LossProtection
    /// The number of discarded datagrams, by reason.
    public var discards: DiscardCounts
    /// The talkers who are heard or were heard, at most eight.
    public var talkers: [TalkerSnapshot] = []
    /// The participants of a session without a channel, including those who only send reports.
    public var participants: [ParticipantSnapshot] = []
    /// The partners, in a channel the members that the relay has asked, and whether they hear us; empty while we do not
    /// transmit.
    public var hearings: [Hearing] = []
    /// The number of members of the channel except ourselves, of which `hearings` contains those that the relay has asked;
    /// nil outside a channel, and while the relay asks nobody.
    public var memberCount: Int?
    /// Whether the relay of the channel has asked only some of its members whether they hear us.
    public var asksSample: Bool { memberCount.map { $0 > hearings.count && !hearings.isEmpty } ?? false }
    /// The number of our packets that the partners' reports cover; nil without such reports.
    public var coveredCount: Int?
    /// The number of our last packets that have not arrived, according to the partners' reports at the end; nil before the
    /// end, and without such reports.
    public var lostAtEndCount: Int?
    /// The other members of the channel; nil without a channel, or if its relay does not list them.
    public var members: ChannelMembers?
    /// The state of our membership; nil in a channel without an owner, and without a channel.
    public var managed: ManagedSnapshot?
    /// The clock of the relay that has let us in, less ours; nil outside channels, while we are not joined, and if we are
    /// the relay ourselves.
    public var relayClock: ClockDifference?
    /// The counts of what was refused for its time in a channel.
    public var refusedForTime = TimeRefusalCounts()
    /// The number of packets that somebody has forged: those under the SSRC of a talker that is heard, and datagrams in the
    /// relay's name.
    public var interferenceCount = 0
    /// The counts of our packets that the relay of a channel has refused to forward; zero with relays that do not report it.
    public var refusedByRelay = MediaRefusalCounts()
    /// The state of capture; nil when nothing is sent.
    public var capture: CaptureSnapshot?
    /// The state of playback; nil when nothing is played.
    public var playback: PlaybackSnapshot?
    /// Who has the floor; nil in a session that never requests it.
    public var floor: FloorSnapshot?
    /// The datagram counts of the media socket.
    public var network = SocketStatistics()
    /// The number of datagrams that were not protected with our key; 0 without a key.
    public var unopenedCount = 0
    /// Those of `unopenedCount` that came from a configured remote.
    package var unopenedRemoteCount = 0
    /// The number of received packets that were dropped because the playback thread was too slow.
    public var playbackQueueDropCount = 0

    /// The state of our membership in a channel that has an owner.
    public struct ManagedSnapshot: Sendable {
        /// The age of the group secret; nil while there is none, when nothing is heard or sent.
        public var secretAge: Duration?
    }

    /// A talker who is heard or was heard.
    public struct TalkerSnapshot: Sendable {
        /// The talker's SSRC.
        public var ssrc: SSRC
        /// The talker's name, safe for a terminal; nil if none was sent.
        public var name: String?
        /// The address of the talker; nil when the talker has left.
        public var endpoint: Endpoint?
        /// Whether audio of the talker plays or is queued.
        public var isHeard = false
        /// The level of the audio played last; `.floor` for silence.
        public var level = Level.floor
        /// The number of RTP packets received.
        public var receivedCount = 0
        /// The number of bytes in these packets, headers included.
        public var receivedByteCount = 0
        /// The number of received packets that arrived after a packet with a higher sequence number.
        public var reorderedCount = 0
        /// The number of RTP packets that were sent and have not arrived (RFC 3550 section 6.4.1); below zero if
        /// duplicates outnumber losses.
        public var lostCount = 0
        /// The number of received packets that had arrived before.
        public var duplicateCount = 0
        /// Counts of lost packets and of bursts of losses, in the order of the sequence numbers. The newest few packets
        /// are not counted yet.
        public var losses = BurstMetrics()
        /// Interarrival jitter (RFC 3550 section 6.4.1).
        public var jitter = Duration.zero
        /// The loss in the last few seconds, before recovery.
        public var recentLoss = LossSummary()
        /// Whether the packets look encrypted, and are therefore not played.
        public var looksEncrypted = false
        /// The round-trip time; nil if it is not known.
        public var roundTrip: Duration?
        /// The numbers of packets recovered by retransmission and by copies.
        public var recovery = RecoveryCounts()
        /// Counts of the talker's audio, such as the frames decoded, concealed and recovered.
        public var playout = PlayoutStatistics()
        /// The counts since the talker last joined, until it left or until now.
        fileprivate var stay = Stay()
        /// The sums of the same counts over all times that the talker was present before.
        fileprivate var earlier = Stay()
    }

    /// A participant of a session without a channel.
    public struct ParticipantSnapshot: Hashable, Sendable {
        /// The participant's SSRC.
        public var ssrc: SSRC
        /// The participant's name, safe for a terminal; nil if none was sent.
        public var name: String?
        public var endpoint: Endpoint
        /// Whether audio packets arrive, because the participant's microphone is open.
        public var isSending: Bool
        /// Whether the participant says that it transmits, and nothing has arrived for 1.8 s, or for 3 s
        /// where its packets were lost lately.
        public var isMissing = false
        /// The time in which the participant said that it transmitted, and nothing arrived.
        public var outage = Duration.zero
        /// The time since the participant was first seen.
        public var age: Duration
        /// The time since `isSending` last changed.
        public var sendingAge: Duration
    }

    /// The counts of a talker's stay, which lasts from the talker's first packet until the talker leaves. A talker who
    /// returns begins a new stay.
    fileprivate struct Stay: Sendable {
        /// The highest sequence number; nil before the first packet.
        var highest: SequenceNumber?
        var receivedCount = 0
        var receivedByteCount = 0
        var reorderedCount = 0
        var lostCount = 0
        var duplicateCount = 0
        var losses = BurstMetrics()
        var recovery = RecoveryCounts()
        /// The number of times that the talker restarted with other sequence numbers.
        var restartCount = 0
    }

    /// The state of capture.
    public struct CaptureSnapshot: Sendable {
        /// The level of the last packet's audio, whether the microphone is open or not.
        public var level: Level
        /// The levels of the last 3.2 s, whether the microphone is open or not.
        public var levelHistory: LevelHistory
        /// The number of overruns of the card. An overrun occurs if the capture thread is late.
        public var xrunCount: Int
        /// The duration of audio that was not captured: lost by the card, or dropped because too much audio waited.
        public var missed: Duration
        /// The number of packets dropped because our network thread was too slow.
        public var overrunCount: Int
        /// Whether the card is gone. tenfour tries to reopen it and sends silence until then.
        public var isCardLost: Bool
        /// The channel with digital silence while the other channel of a stereo card has audio; nil if there is none.
        public var silentChannel: CaptureChannel?
        /// What the user should change about the microphone's level; nil if it is good, or nobody has talked for long
        /// enough.
        public var levelAdvice: LevelAdvice?
        /// The result of the request for real-time priority, in words.
        public var priority: String { realTime.description }
        let realTime: RealTime
    }

    /// The state of playback.
    public struct PlaybackSnapshot: Sendable {
        /// The levels of received audio in the last 3.2 s, whether the speaker is muted or not.
        public var levelHistory: LevelHistory
        /// The number of underruns of the card. An underrun occurs if the playback thread is late.
        public var xrunCount: Int
        /// The time in which the card stood still or was gone, whether anybody talked or not.
        public var missed: Duration
        /// Whether the card is gone. tenfour tries to reopen it; until then, audio is not played, but still recorded.
        public var isCardLost: Bool
        /// The result of the request for real-time priority, in words.
        public var priority: String { realTime.description }
        let realTime: RealTime
        /// The number of samples dropped because a recording's file or closure, or time-pitch processing, was too slow.
        public var unrecordedSampleCount: Int
        /// The number of packets dropped because no jitter buffer was free for their talker.
        public var crowdedOutCount: Int
        /// The decoder in use.
        public var decoder: DecoderSnapshot
    }

    /// The message for a user whose session has no real-time priority, with reason and remedy; nil if the priority was
    /// granted.
    public var priorityDenial: String? {
        [playback?.realTime, capture?.realTime].compactMap { $0 }.first(where: \.isDenied)?.description
    }

    init(rtpSession: borrowing RTPSession, elapsed: Duration) {
        self.elapsed = elapsed
        sendStream = rtpSession.sendStream
        lossProtection = rtpSession.lossProtection
        discards = rtpSession.discards
    }

    mutating func addPeople(_ participants: [Participant], _ channel: ChannelLine?, at now: Instant) {
        members = channel?.members
        managed = channel?.managedSnapshot(at: now)
        relayClock = channel?.relayClockDifference(at: now)
        if let channel {
            refusedForTime = channel.refusedForTime
            refusedByRelay = channel.refusedByRelay
            interferenceCount = channel.interferenceCount
        }
        self.participants = participants.filter { !$0.endpoint.address.isUnspecified }.map {
            ParticipantSnapshot(
                ssrc: $0.ssrc, name: $0.name, endpoint: $0.endpoint, isSending: $0.isSending, isMissing: $0.isMissing,
                outage: $0.outage, age: now - $0.since, sendingAge: now - $0.sendingChanged)
        }
    }

    mutating func addHearings(_ session: borrowing RTPSession, at now: Instant) {
        hearings = session.hearings(at: now)
        memberCount = session.memberCount
        coveredCount = session.coveredCount
        lostAtEndCount = session.lostAtEndCount
    }

    mutating func add(_ report: CaptureReport?) {
        guard let report else { return }
        capture = CaptureSnapshot(
            level: Level(meanSquare: report.meanSquare), levelHistory: report.levelHistory, xrunCount: report.xruns,
            missed: report.missed.duration(at: report.rate), overrunCount: report.overruns,
            isCardLost: report.isCardLost, silentChannel: report.silentChannel,
            levelAdvice: report.levelAdvice, realTime: report.priority)
    }

    /// Adds the state of playback. `present` are the sources that have not left; talkers who have left keep their
    /// values from `before`, the talkers of the previous snapshot.
    mutating func add(_ report: PlaybackReport, present: [Source], before: [TalkerSnapshot]) {
        for index in report.mixer.talkers.indices where report.mixer.talkers[index].isUsed {
            let ssrc = report.mixer.talkers[index].ssrc
            var talker = before.first { $0.ssrc == ssrc } ?? TalkerSnapshot(ssrc: ssrc)
            if let place = present.firstIndex(where: { $0.ssrc == ssrc }) {
                talker.update(present[place])
            } else {
                talker.endpoint = nil
            }
            talker.update(report.mixer.talkers[index])
            talkers.append(talker)
        }
        playback = PlaybackSnapshot(
            levelHistory: report.levelHistory, xrunCount: report.interruptions.xruns,
            missed: report.interruptions.missed.duration(at: report.rate),
            isCardLost: report.interruptions.isCardLost, realTime: report.priority,
            unrecordedSampleCount: report.unrecorded, crowdedOutCount: report.mixer.crowdedOutCount,
            decoder: DecoderSnapshot(report.decoder))
    }
}

extension RadioSnapshot.TalkerSnapshot {
    init(ssrc: SSRC) { self.ssrc = ssrc }

    fileprivate mutating func update(_ source: Source) {
        let restartCount = source.reception.restartCount
        let hasRestarted = endpoint != nil && restartCount > stay.restartCount
        let hasComeBack = endpoint == nil || source.reception.receivedCount < stay.receivedCount
        if hasRestarted || hasComeBack {
            var before = stay
            // The source goes on with these counts when it restarts.
            if hasRestarted { (before.receivedByteCount, before.recovery) = (0, RecoveryCounts()) }
            earlier = earlier + before
            // Nothing was lost between two streams whose numbers have nothing to do with each other.
            if !hasRestarted { earlier.addLosses(before: source.reception.firstSequenceNumber) }
        }
        name = source.name
        endpoint = source.endpoint
        jitter = source.reception.jitter.duration()
        recentLoss = source.recentLoss
        roundTrip = source.roundTrip
        stay = RadioSnapshot.Stay(source)
        let all = earlier + stay
        (receivedCount, lostCount, duplicateCount) = (all.receivedCount, all.lostCount, all.duplicateCount)
        (receivedByteCount, reorderedCount) = (all.receivedByteCount, all.reorderedCount)
        (losses, recovery) = (all.losses, all.recovery)
        looksEncrypted = source.looksEncrypted
    }

    fileprivate mutating func update(_ talker: TalkerReport) {
        isHeard = talker.isHeard
        level = Level(meanSquare: talker.meanSquare)
        playout = talker.playout
    }
}

extension RadioSnapshot.Stay {
    fileprivate init(_ source: Source) {
        highest = source.reception.highestSequenceNumber
        receivedCount = source.reception.receivedCount
        receivedByteCount = source.receivedByteCount
        reorderedCount = source.reception.reorderedCount
        lostCount = source.reception.cumulativeLost + source.lostAtEndCount
        duplicateCount = source.reception.duplicateCount
        losses = source.reception.losses
        recovery = source.recovery
        restartCount = source.reception.restartCount
    }

    /// Counts the packets between the talker's last stay and `next`, the first packet of a new stay, as lost. A jump of
    /// the sequence numbers by `ReceptionStatistics.maximumDropout` or more counts as no loss.
    fileprivate mutating func addLosses(before next: SequenceNumber) {
        guard let highest else { return }
        let step = next.distance(after: highest)
        guard (1..<ReceptionStatistics.maximumDropout).contains(step) else { return }
        lostCount += step - 1
        for _ in 1..<step { losses.count(isLost: true) }
    }

    fileprivate static func + (earlier: Self, later: Self) -> Self {
        var sum = later
        sum.receivedCount += earlier.receivedCount
        sum.receivedByteCount += earlier.receivedByteCount
        sum.reorderedCount += earlier.reorderedCount
        sum.lostCount += earlier.lostCount
        sum.duplicateCount += earlier.duplicateCount
        sum.losses.add(earlier.losses)
        sum.recovery.add(earlier.recovery)
        return sum
    }
}
