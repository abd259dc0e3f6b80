import TenfourAudioCore
import TenfourCallQuality
import TenfourChannelMember
import TenfourJitterBuffer
import TenfourPackets
import TenfourRadio
import TenfourSession

/// Measures the call quality of each talker and of our own stream from the snapshots given to `update`.
struct QualityMonitor {
    /// The quality of all talkers together.
    private(set) var heard: QualityMeter
    /// The delivery of our own stream.
    private(set) var sent: SentMeter
    /// The quality of each talker.
    private var each: [SSRC: QualityMeter] = [:]
    /// The number of frames of each talker that were decoded until the last update.
    private var decoded: [SSRC: FrameCount] = [:]

    /// Creates a monitor. If `keepsSeconds` is true, the figures of each second are kept for a report. `coding` is the
    /// encoding of our stream.
    init(keepsSeconds: Bool, coding: CodingSettings) {
        heard = QualityMeter(keepsSeconds: keepsSeconds)
        sent = SentMeter(keepsSeconds: keepsSeconds, coding: coding)
    }

    mutating func update(with snapshot: RadioSnapshot) {
        let elapsed = snapshot.elapsed
        heard.advance(to: elapsed)
        sent.update(with: snapshot)
        for talker in snapshot.talkers {
            let counts = QualityCounts(
                talker, roundTrip: talker.roundTrip ?? snapshot.sendStream.lastReceiverView?.roundTrip)
            let before = decoded.updateValue(talker.playout.decoded, forKey: talker.ssrc) ?? .zero
            let isPlaying = talker.playout.decoded != before
            let delay = isPlaying ? talker.playout.delay.duration() : nil
            each[talker.ssrc, default: QualityMeter(keepsSeconds: false)]
                .observe(counts, delay: delay, of: talker.ssrc, at: elapsed)
            heard.observe(counts, delay: delay, of: talker.ssrc, at: elapsed)
        }
        for participant in snapshot.participants {
            heard.observe(outage: participant.outage, of: participant.ssrc, at: elapsed)
            each[participant.ssrc]?.observe(outage: participant.outage, of: participant.ssrc, at: elapsed)
        }
        guard each.count > snapshot.talkers.count else { return }
        each = each.filter { known in snapshot.talkers.contains { $0.ssrc == known.key } }
        decoded = decoded.filter { each[$0.key] != nil }
    }

    /// Records the reports of receivers and ignores all other events.
    mutating func record(_ event: Event) {
        if case .receiverReported(let receiver, let view) = event { sent.record(view, of: receiver) }
    }

    mutating func record(_ event: ChannelEvent) { sent.record(event) }

    /// Returns the quality of a talker in the last five seconds.
    func recent(_ ssrc: SSRC) -> QualitySummary { each[ssrc]?.recent ?? QualitySummary() }
}

extension QualityCounts {
    init(_ talker: RadioSnapshot.TalkerSnapshot, roundTrip: Duration?) {
        let unique = talker.receivedCount - talker.duplicateCount - talker.recovery.retransmittedCount
        let expected = talker.receivedCount + talker.lostCount
        self.init(
            expected: expected, lost: expected - unique, lossRuns: talker.losses.runCount, jitter: talker.jitter,
            roundTrip: roundTrip, isPlayable: !talker.looksEncrypted, playout: talker.playout)
    }
}
