import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourJitterBuffer
import TenfourMetrics
import TenfourPackets
import TenfourSoundCard
import TestSupport
import Testing

@testable import TenfourRadio
@testable import TenfourSession

/// The metrics of a station, from a snapshot in which every count has a value of its own.
@Suite(.onItsOwnThread) struct StationMetricsTests {
    private var snapshot: RadioSnapshot {
        let rtpSession = RTPSession(
            identity: Identity(ssrc: SSRC(1)), configuration: RTPSessionConfiguration(), at: .start)
        var snapshot = RadioSnapshot(rtpSession: rtpSession, elapsed: .milliseconds(2_500))
        for reason in DiscardReason.allCases {
            for _ in 0...reason.rawValue { snapshot.discards.count(reason) }
        }
        (snapshot.unopenedCount, snapshot.playbackQueueDropCount) = (41, 42)
        snapshot.capture = .init(
            level: .floor, levelHistory: LevelHistory(), xrunCount: 51, missed: .milliseconds(520), overrunCount: 53,
            isCardLost: false, silentChannel: nil, realTime: .notAsked)
        snapshot.playback = .init(
            levelHistory: LevelHistory(), xrunCount: 61, missed: .milliseconds(620), isCardLost: false,
            realTime: .notAsked, unrecordedSampleCount: 0, crowdedOutCount: 63,
            decoder: DecoderSnapshot(simulating: .plain))
        snapshot.interferenceCount = 83
        (snapshot.refusedForTime.packetCount, snapshot.refusedForTime.delayedCount) = (81, 82)
        snapshot.relayClock = ClockDifference(ahead: .milliseconds(-3_600_500), isOwnUsed: true)
        snapshot.sendStream.retransmission.retransmittedCount = 71
        snapshot.sendStream.lastReceiverView = ReceiverView(lossShare: 0.25, lostCount: 3, jitter: .zero)
        snapshot.talkers = [talker(9, "Anna")]
        return snapshot
    }

    private func talker(_ ssrc: UInt32, _ name: String?) -> RadioSnapshot.TalkerSnapshot {
        var talker = RadioSnapshot.TalkerSnapshot(ssrc: SSRC(ssrc))
        talker.name = name
        talker.endpoint = Endpoint(.loopbackV4, port: 6_000)
        talker.isHeard = true
        (talker.receivedCount, talker.receivedByteCount, talker.reorderedCount) = (1_000, 90_000, 11)
        for number in 0..<20 { talker.losses.count(isLost: number < 12) }
        (talker.duplicateCount, talker.playout.late, talker.playout.recoveredPacketCount) = (13, 14, 15)
        (talker.recovery.requestedCount, talker.recovery.copyCount, talker.recovery.retransmittedCount) = (16, 17, 18)
        (talker.playout.decoded, talker.playout.concealed) = (FrameCount(96_000), FrameCount(4_800))
        (talker.playout.target, talker.playout.delay) = (FrameCount(1_920), FrameCount(2_400))
        talker.playout.driftPartsPerMillion = -30
        (talker.jitter, talker.roundTrip) = (.milliseconds(2), .milliseconds(40))
        return talker
    }

    private func metrics(_ snapshots: RadioSnapshot..., channel: String? = nil) -> MetricsText {
        var metrics = StationMetrics(version: "1.2", channel: channel, packetDuration: .milliseconds(20))
        for snapshot in snapshots { metrics.update(with: snapshot) }
        return metrics.text
    }

    @Test func everyCountHasItsSeries() {
        let found = samples(metrics(snapshot, snapshot))
        var expected: [String: Double] = [
            "tenfour_build_info{version=\"1.2\"}": 1, "tenfour_uptime_seconds": 2.5, "tenfour_talkers": 1,
            "tenfour_alsa_xruns_total{direction=\"capture\"}": 51,
            "tenfour_alsa_xruns_total{direction=\"playback\"}": 61,
            "tenfour_alsa_missed_seconds_total{direction=\"capture\"}": 0.52,
            "tenfour_alsa_missed_seconds_total{direction=\"playback\"}": 0.62,
            "tenfour_rtp_packets_sent_total": 0, "tenfour_rtp_bytes_sent_total": 0,
            "tenfour_rtp_packets_retransmitted_total": 71, "tenfour_rtcp_remote_fraction_lost": 0.25,
            "tenfour_talk_seconds_total{direction=\"sent\"}": 0,
            "tenfour_talk_seconds_total{direction=\"received\",peer=\"Anna\"}": 2,
            "tenfour_rtp_packets_dropped_total{reason=\"undecryptable\"}": 41,
            "tenfour_rtp_packets_dropped_total{reason=\"playback_queue_full\"}": 42,
            "tenfour_rtp_packets_dropped_total{reason=\"send_queue_full\"}": 53,
            "tenfour_rtp_packets_dropped_total{reason=\"too_many_talkers\"}": 63,
            "tenfour_rtp_packets_dropped_total{reason=\"clock\"}": 81,
            "tenfour_rtp_packets_dropped_total{reason=\"delayed\"}": 82,
            "tenfour_interference_packets_total": 83, "tenfour_relay_clock_difference_seconds": -3_600.5,
            "tenfour_rtp_packets_dropped_total{reason=\"loop\"}": Double(DiscardReason.loop.rawValue + 1),
        ]
        for (name, value) in [
            ("rtp_packets_received_total", 1_000), ("rtp_bytes_received_total", 90_000), ("rtp_packets_lost_total", 12),
            ("rtp_packets_late_total", 14), ("rtp_packets_duplicate_total", 13), ("rtp_packets_reordered_total", 11),
            ("rtp_packets_requested_total", 16), ("fec_recovered_packets_total", 15),
            ("red_recovered_packets_total", 17), ("nack_recovered_packets_total", 18),
            ("audio_concealed_seconds_total", 0.1), ("rtp_jitter_seconds", 0.002), ("rtcp_round_trip_seconds", 0.04),
            ("jitter_buffer_target_seconds", 0.04), ("jitter_buffer_current_seconds", 0.05), ("clock_drift_ppm", -30),
        ] {
            expected["tenfour_\(name){peer=\"Anna\"}"] = value
        }
        for (name, value) in expected { #expect(found[name] == value, "\(name): \(found[name] ?? .nan)") }
        let reasons = found.filter { $0.key.contains("dropped_total") }
        #expect(reasons.count == DiscardReason.allCases.count + 6)
    }

    @Test func prometheusAcceptsThem() throws {
        try checkByPrometheus(metrics(snapshot))
        try checkByPrometheus(metrics(snapshot, channel: "family"))
        try checkByPrometheus(metrics())
    }

    @Test func whatARelayRefusesIsCountedByReason() {
        var snapshot = snapshot
        snapshot.refusedByRelay[.floor] = 7
        let found = samples(metrics(snapshot, channel: "family")).filter { $0.key.contains("refused_total") }
        #expect(found.count == MediaRefusal.allCases.count)
        #expect(found["tenfour_rtp_packets_refused_total{channel=\"family\",reason=\"floor\"}"] == 7)
    }

    @Test func aChannelIsALabelOfEachCount() {
        let found = samples(metrics(snapshot, channel: "family"))
        let others = found.keys.filter { !$0.contains("channel=\"family\"") }
        #expect(found["tenfour_rtp_packets_received_total{channel=\"family\",peer=\"Anna\"}"] == 1_000)
        #expect(others.allSatisfy { ["process_", "tenfour_build", "tenfour_uptime"].contains(where: $0.hasPrefix) })
    }

    /// The talkers come and go, and two have the same name.
    @Test func countsStayWhenATalkerLeaves() {
        var (second, third) = (snapshot, snapshot)
        second.talkers = [talker(9, "Anna"), talker(10, "Anna"), talker(11, nil)]
        second.talkers[0].jitter = .milliseconds(7)
        third.talkers = []
        let during = samples(metrics(snapshot, second))
        #expect(during["tenfour_rtp_packets_received_total{peer=\"Anna\"}"] == 2_000)
        #expect(during["tenfour_rtp_jitter_seconds{peer=\"Anna\"}"] == 0.007, "the largest of the same name")
        #expect(during["tenfour_rtp_packets_received_total{peer=\"unnamed\"}"] == 1_000)
        let after = samples(metrics(snapshot, second, third))
        #expect(after["tenfour_rtp_packets_received_total{peer=\"Anna\"}"] == 2_000)
        #expect(after["tenfour_rtp_jitter_seconds{peer=\"Anna\"}"] == nil && after["tenfour_talkers"] == 0)
    }
}
