internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourPackets
internal import TenfourSession

/// Passes on to the RTP session what the playback thread has done with received audio, for the reports to the talkers.
struct PlayoutFeedback {
    private let hasPlayback: Bool
    private var isCardLost = false

    /// Without `hasPlayback` nothing that arrives is played.
    init(hasPlayback: Bool) { self.hasPlayback = hasPlayback }

    /// `report` is the latest of the playback thread; nil if there is no new one.
    mutating func update(
        _ session: inout RTPSession, with report: PlaybackReport?, isMuted: Bool, at now: Instant
    ) {
        if let report {
            isCardLost = report.interruptions.isCardLost
            for index in report.mixer.talkers.indices where report.mixer.talkers[index].isHeard {
                let talker = report.mixer.talkers[index]
                session.playoutDelay(of: talker.ssrc, is: talker.playout.delay.duration())
                session.playout(
                    of: talker.ssrc, due: talker.playout.due, missing: talker.playout.missing,
                    concealed: talker.playout.concealed, at: now)
            }
            // Updates the concealment in our reports, because the decoder may have suspended its neural models.
            session.setConcealment(report.decoder.concealsByModel ? .deep : .plain)
        }
        session.setOutput(!hasPlayback || isCardLost ? .none : isMuted ? .muted : .playing, at: now)
    }
}
