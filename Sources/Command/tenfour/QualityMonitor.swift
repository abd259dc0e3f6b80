import TenfourAudioCore
import TenfourCallQuality
import TenfourChannelMember
import TenfourJitterBuffer
import TenfourPackets
import TenfourRadio
import TenfourSession

/// How those who are heard come through and how we do at the other end, from one look at the session to the next.
struct QualityMonitor {
    /// All who are heard.
    private(set) var heard: QualityMeter
    private(set) var sent: SentMeter
    private var each: [SSRC: QualityMeter] = [:]
    private var decoded: [SSRC: FrameCount] = [:]

    /// Every second is kept only where a report is to tell of it. `frame` is what a packet of ours holds.
    init(keepsSeconds: Bool, frame: Duration) {
        heard = QualityMeter(keepsSeconds: keepsSeconds)
        sent = SentMeter(keepsSeconds: keepsSeconds, frame: frame)
    }

    mutating func look(at snapshot: RadioSnapshot) {
        let elapsed = snapshot.elapsed
        heard.advance(to: elapsed)
        sent.look(at: snapshot)
        for voice in snapshot.voices {
            let counts = QualityCounts(
                voice, roundTrip: voice.roundTrip ?? snapshot.sendStream.lastReceiverView?.roundTrip)
            let before = decoded.updateValue(voice.playout.decoded, forKey: voice.ssrc) ?? .zero
            let isPlaying = voice.playout.decoded != before
            let delay = isPlaying ? voice.playout.delay.duration() : nil
            each[voice.ssrc, default: QualityMeter(keepsSeconds: false)]
                .observe(counts, delay: delay, of: voice.ssrc, at: elapsed)
            heard.observe(counts, delay: delay, of: voice.ssrc, at: elapsed)
        }
        guard each.count > snapshot.voices.count else { return }
        each = each.filter { known in snapshot.voices.contains { $0.ssrc == known.key } }
        decoded = decoded.filter { each[$0.key] != nil }
    }

    /// What has happened since it was looked at last.
    mutating func take(_ event: Event) {
        if case .receiverReported(let receiver, let view) = event { sent.take(view, of: receiver) }
    }

    mutating func take(_ event: ChannelEvent) { sent.take(event) }

    /// The last five seconds of one who is heard.
    func recent(_ ssrc: SSRC) -> QualitySummary { each[ssrc]?.recent ?? QualitySummary() }
}

extension QualityCounts {
    init(_ voice: RadioSnapshot.VoiceSnapshot, roundTrip: Duration?) {
        let unique = voice.receivedCount - voice.duplicateCount - voice.recovery.retransmittedCount
        let expected = voice.receivedCount + voice.lostCount
        self.init(
            expected: expected, lost: expected - unique, lossRuns: voice.losses.runCount, jitter: voice.jitter,
            roundTrip: roundTrip, isPlayable: !voice.looksEncrypted, playout: voice.playout)
    }
}
