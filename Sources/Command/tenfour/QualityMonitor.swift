import TenfourAudioCore
import TenfourCallQuality
import TenfourChannelMember
import TenfourJitterBuffer
import TenfourPackets
import TenfourRadio
import TenfourSession

/// Measures the call quality of each talker and of our own stream, from one update to the next.
struct QualityMonitor {
    /// The quality of all talkers together.
    private(set) var heard: QualityMeter
    private(set) var sent: SentMeter
    private var each: [SSRC: QualityMeter] = [:]
    private var decoded: [SSRC: FrameCount] = [:]

    /// `keepsSeconds`: keeps each second, for a report. `coding` is the encoding of our stream.
    init(keepsSeconds: Bool, coding: CodingSettings) {
        heard = QualityMeter(keepsSeconds: keepsSeconds)
        sent = SentMeter(keepsSeconds: keepsSeconds, coding: coding)
    }

    mutating func update(with snapshot: RadioSnapshot) {
        let elapsed = snapshot.elapsed
        heard.advance(to: elapsed)
        sent.update(with: snapshot)
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

    /// Records an event since the last update.
    mutating func record(_ event: Event) {
        if case .receiverReported(let receiver, let view) = event { sent.record(view, of: receiver) }
    }

    mutating func record(_ event: ChannelEvent) { sent.record(event) }

    /// Returns the quality of a talker in the last five seconds.
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
