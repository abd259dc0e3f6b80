public import TenfourAudioCore
public import TenfourChannelMember
public import TenfourJitterBuffer
public import TenfourPackets
public import TenfourSession
internal import TenfourSoundCard
public import TenfourUV

/// How a session goes, as it was within the last sixth of a second. Counts are since the start.
public struct RadioSnapshot: Sendable {
    /// Since the start.
    public var elapsed: Duration
    /// What we sent.
    public var sendStream: SendStream
    /// What is done against the loss of what we sent.
    public var lossProtection: LossProtection
    /// Datagrams that were forgotten, by reason.
    public var discards: DiscardCounts
    /// Those who are, or were, heard: up to eight.
    public var voices: [VoiceSnapshot] = []
    /// Those who are there without a channel: who sends sound, and who only reports.
    public var participants: [ParticipantSnapshot] = []
    /// Who else is in the channel; nil where there is none, or its relay does not tell.
    public var members: ChannelMembers?
    /// How capture goes; nil when nothing is sent.
    public var capture: CaptureSnapshot?
    /// How playing goes; nil when nothing is heard.
    public var playback: PlaybackSnapshot?
    /// What the socket for media did and could not do.
    public var network = SocketStatistics()
    /// Datagrams that came and were not protected with our key; none without one.
    public var unopenedCount = 0
    /// Packets received that the playback thread was too slow to take.
    public var handoffDropCount = 0

    /// One who is, or was, heard.
    public struct VoiceSnapshot: Sendable {
        /// Who, among RTP's sources.
        public var ssrc: SSRC
        /// What they say they are called, fit to be shown; nil when they do not.
        public var name: String?
        /// Where their packets come from; nil when they have left.
        public var endpoint: Endpoint?
        /// Whether sound of theirs plays or waits to.
        public var isHeard = false
        /// Of what was played last; `.floor` when that is silence.
        public var level = Level.floor
        /// RTP packets.
        public var receivedCount = 0
        /// RTP packets that were sent and have not come (RFC 3550 section 6.4.1); below zero when some came twice.
        public var lostCount = 0
        /// Of those received, packets that had come before.
        public var duplicateCount = 0
        /// Which packets the network brought and which it did not, in their order, up to a moment ago.
        public var losses = BurstMetrics()
        /// Interarrival jitter (RFC 3550 section 6.4.1).
        public var jitter = Duration.zero
        /// What the network lost of the last few seconds, before anything was done about it.
        public var recentLoss = LossSummary()
        /// Whether what they send looks encrypted, and is not played.
        public var looksEncrypted = false
        /// There and back; nil where it is not known.
        public var roundTrip: Duration?
        /// What was asked for again and came, and what came as copies.
        public var recovery = RecoveryCounts()
        /// What became of their sound.
        public var playout = PlayoutStatistics()
        /// Of the counts, those of the stay that goes on, or was the last; and those of all before it.
        fileprivate var stay = Stay()
        fileprivate var earlier = Stay()
    }

    /// One who is there, without a channel.
    public struct ParticipantSnapshot: Hashable, Sendable {
        /// Who, among RTP's sources.
        public var ssrc: SSRC
        /// What they say they are called, fit to be shown; nil when they do not.
        public var name: String?
        public var endpoint: Endpoint
        /// Whether packets of sound come: the microphone is open.
        public var isSending: Bool
        /// For how long we know of them.
        public var age: Duration
        /// For how long their sound has come, or not.
        public var sendingAge: Duration
    }

    /// What is counted of one from the first packet until it leaves: who comes back begins anew.
    fileprivate struct Stay: Sendable {
        /// Nil where no packet has come.
        var highest: SequenceNumber?
        var receivedCount = 0
        var lostCount = 0
        var duplicateCount = 0
        var losses = BurstMetrics()
        var recovery = RecoveryCounts()
    }

    /// How capture goes.
    public struct CaptureSnapshot: Sendable {
        /// Of the last frame, whether the microphone was open or not.
        public var level: Level
        /// Of the last seconds, whether the microphone was open or not.
        public var levelHistory: LevelHistory
        /// How often the card ran over because we came too late.
        public var xrunCount: Int
        /// How much was not captured: lost by the card, or dropped because more waited than is worth sending.
        public var missed: Duration
        /// Packets that our network thread was too slow to take.
        public var overrunCount: Int
        /// Whether the card is gone. It is looked for; what is sent meanwhile is silence.
        public var isCardLost: Bool
        /// Of a card's two channels, the one that is digital silence while the other is not.
        public var silentChannel: CaptureChannel?
        /// What became of the wish for real-time priority, in words.
        public var priority: String { realTime.description }
        let realTime: RealTime
    }

    /// How playing goes.
    public struct PlaybackSnapshot: Sendable {
        /// Of all that was heard in the last seconds, whether the speaker was silenced or not.
        public var levelHistory: LevelHistory
        /// How often the card ran dry because we came too late.
        public var xrunCount: Int
        /// Time in which the card stood still, or was gone, whether anybody talked in it or not.
        public var missed: Duration
        /// Whether the card is gone. It is looked for; what is heard meanwhile is lost to it, not to a recording.
        public var isCardLost: Bool
        /// What became of the wish for real-time priority, in words.
        public var priority: String { realTime.description }
        let realTime: RealTime
        /// What was left out because a recording's file or closure, or the machine that bends, was too slow, in samples.
        public var unrecordedSampleCount: Int
        /// Packets of talkers beyond the number of voices.
        public var crowdedOutCount: Int
        /// What decodes, at this time.
        public var decoder: DecoderSnapshot
    }

    /// What to say to the user where sound runs without real-time priority: why, and what to do. Nil where it was granted.
    public var priorityDenial: String? {
        [playback?.realTime, capture?.realTime].compactMap { $0 }.first(where: \.isDenied)?.description
    }

    init(rtpSession: borrowing RTPSession, elapsed: Duration) {
        self.elapsed = elapsed
        sendStream = rtpSession.sendStream
        lossProtection = rtpSession.lossProtection
        discards = rtpSession.discards
    }

    mutating func addPeople(_ participants: [Participant], _ members: ChannelMembers?, at now: Instant) {
        self.members = members
        self.participants = participants.filter { !$0.endpoint.address.isUnspecified }.map {
            ParticipantSnapshot(
                ssrc: $0.ssrc, name: $0.name, endpoint: $0.endpoint, isSending: $0.isSending, age: now - $0.since,
                sendingAge: now - $0.sendingChanged)
        }
    }

    mutating func add(_ report: CaptureReport?) {
        guard let report else { return }
        capture = CaptureSnapshot(
            level: Level(meanSquare: report.meanSquare), levelHistory: report.levelHistory, xrunCount: report.xruns,
            missed: report.missed.duration(at: report.rate), overrunCount: report.overruns,
            isCardLost: report.isCardLost, silentChannel: report.silentChannel, realTime: report.priority)
    }

    /// `present` are those who have not left; of the others is known what was before.
    mutating func add(_ report: PlaybackReport, present: [Source], before: [VoiceSnapshot]) {
        for index in report.mixer.talkers.indices where report.mixer.talkers[index].isUsed {
            let ssrc = report.mixer.talkers[index].ssrc
            var voice = before.first { $0.ssrc == ssrc } ?? VoiceSnapshot(ssrc: ssrc)
            if let place = present.firstIndex(where: { $0.ssrc == ssrc }) {
                voice.update(present[place])
            } else {
                voice.endpoint = nil
            }
            voice.update(report.mixer.talkers[index])
            voices.append(voice)
        }
        playback = PlaybackSnapshot(
            levelHistory: report.levelHistory, xrunCount: report.interruptions.xruns,
            missed: report.interruptions.missed.duration(at: report.rate),
            isCardLost: report.interruptions.isCardLost, realTime: report.priority,
            unrecordedSampleCount: report.unrecorded, crowdedOutCount: report.mixer.crowdedOutCount,
            decoder: DecoderSnapshot(report.decoder))
    }
}

extension RadioSnapshot.VoiceSnapshot {
    init(ssrc: SSRC) { self.ssrc = ssrc }

    fileprivate mutating func update(_ source: Source) {
        let hasComeBack = endpoint == nil || source.reception.receivedCount < stay.receivedCount
        if hasComeBack {
            earlier = earlier + stay
            earlier.addLosses(before: source.reception.firstSequenceNumber)
        }
        name = source.name
        endpoint = source.endpoint
        jitter = source.reception.jitter.duration()
        recentLoss = source.recentLoss
        roundTrip = source.roundTrip
        stay = RadioSnapshot.Stay(source)
        let all = earlier + stay
        (receivedCount, lostCount, duplicateCount) = (all.receivedCount, all.lostCount, all.duplicateCount)
        (losses, recovery) = (all.losses, all.recovery)
        looksEncrypted = source.looksEncrypted
    }

    fileprivate mutating func update(_ voice: TalkerReport) {
        isHeard = voice.isHeard
        level = Level(meanSquare: voice.meanSquare)
        playout = voice.playout
    }
}

extension RadioSnapshot.Stay {
    fileprivate init(_ source: Source) {
        highest = source.reception.highestSequenceNumber
        receivedCount = source.reception.receivedCount
        lostCount = source.reception.cumulativeLost
        duplicateCount = source.reception.duplicateCount
        losses = source.reception.losses
        recovery = source.recovery
    }

    /// Its numbers go on with `next` after an outage: what was sent in between was lost. A jump says nothing of what was sent.
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
        sum.lostCount += earlier.lostCount
        sum.duplicateCount += earlier.duplicateCount
        sum.losses.add(earlier.losses)
        sum.recovery.add(earlier.recovery)
        return sum
    }
}
