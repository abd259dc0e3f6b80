public import Engine
public import Network
public import Playout
public import RTP
public import Sound
internal import SoundCard

/// How a session goes, as it was within the last tenth of a second.
public struct SessionSnapshot: Sendable {
    public var elapsed: Duration
    public var transmission: Transmission
    public var discards: DiscardCounts
    public var voices: [VoiceSnapshot] = []
    public var capture: CaptureSnapshot?
    public var playback: PlaybackSnapshot?
    public var network = SocketStatistics()
    /// Packets lost between our own threads.
    public var handoffDropCount = 0

    /// One who is heard.
    public struct VoiceSnapshot: Sendable {
        public var ssrc: SSRC
        /// What they say they are called, fit to be shown; nil when they do not, or have left.
        public var name: String?
        public var endpoint: Endpoint?
        public var level: Level
        /// RTP packets received, those that were expected, and their jitter.
        public var receivedCount: Int
        public var lostCount: Int
        public var jitter: Duration
        public var playout: PlayoutStatistics
    }

    public struct CaptureSnapshot: Sendable {
        public var level: Level
        public var xrunCount: Int
        public var overrunCount: Int
        public var isCardLost: Bool
        /// What became of the wish for real-time priority, in words.
        public var priority: String { realTime.description }
        let realTime: RealTime
    }

    public struct PlaybackSnapshot: Sendable {
        public var xrunCount: Int
        /// What the card did not play.
        public var missed: FrameCount
        public var isCardLost: Bool
        public var priority: String { realTime.description }
        let realTime: RealTime
        public var unrecordedSampleCount: Int
        /// Packets of talkers beyond the number of voices.
        public var crowdedOutCount: Int
    }

    init(station: borrowing Station, elapsed: Duration) {
        self.elapsed = elapsed
        transmission = station.transmission
        discards = station.discards
    }

    mutating func add(_ report: CaptureReport?) {
        guard let report else { return }
        capture = CaptureSnapshot(
            level: Level(meanSquare: report.meanSquare), xrunCount: report.xruns, overrunCount: report.overruns,
            isCardLost: report.isCardLost, realTime: report.priority)
    }

    mutating func add(_ report: PlaybackReport?, sources: [Source]) {
        guard let report else { return }
        for index in report.listener.voices.indices where report.listener.voices[index].isUsed {
            let voice = report.listener.voices[index]
            let source = sources.first { $0.ssrc == voice.ssrc }
            voices.append(
                VoiceSnapshot(
                    ssrc: voice.ssrc, name: source?.name, endpoint: source?.endpoint,
                    level: Level(meanSquare: voice.meanSquare), receivedCount: source?.reception.receivedCount ?? 0,
                    lostCount: source?.reception.cumulativeLost ?? 0,
                    jitter: source?.reception.jitter.duration() ?? .zero, playout: voice.playout))
        }
        playback = PlaybackSnapshot(
            xrunCount: report.interruptions.xruns, missed: report.interruptions.missed,
            isCardLost: report.interruptions.isCardLost, realTime: report.priority,
            unrecordedSampleCount: report.unrecorded, crowdedOutCount: report.listener.crowdedOut)
    }
}
