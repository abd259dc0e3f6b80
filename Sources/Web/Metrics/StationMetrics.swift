internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourJitterBuffer
internal import TenfourPackets
public import TenfourRadio
internal import TenfourSession

/// The metrics of a session of `RadioSession`. Its counts include talkers that have left.
public struct StationMetrics: Sendable {
    private var peers = PeerTable()
    private var gauges: [String: PeerGauges] = [:]
    private var snapshot: RadioSnapshot?
    private let version: String
    /// The name of the session's channel; nil without one.
    private let channel: String?
    /// The duration of each packet that the session sends.
    private let packetDuration: Duration

    public init(version: String, channel: String?, packetDuration: Duration) {
        self.version = version
        self.channel = channel
        self.packetDuration = packetDuration
    }

    /// Adds the counts since the last update. A talker that comes and leaves between two updates may be missed.
    public mutating func update(with snapshot: RadioSnapshot) {
        self.snapshot = snapshot
        gauges = [:]
        for talker in snapshot.talkers {
            // In a channel, the relay's list of members has the names.
            let member = snapshot.members?.talkers.first { $0.info.ssrc == talker.ssrc }
            let label = peers.update(
                talker.ssrc, name: talker.name ?? member?.name, PeerCounts(talker), at: .start + snapshot.elapsed)
            guard talker.endpoint != nil else { continue }
            gauges[label, default: PeerGauges()].merge(PeerGauges(talker))
        }
    }

    /// Returns the metrics, and those of the process. Before the first update there are no counts.
    public var text: MetricsText {
        var text = MetricsText()
        text.add(
            "tenfour_build_info", .gauge, "Version of tenfour as a label; the value is always 1.",
            [.init(1, (.version, version))])
        if let snapshot {
            addSession(snapshot, to: &text)
            addSent(snapshot, to: &text)
            addCounts(to: &text)
            addGauges(to: &text)
            addDrops(snapshot, to: &text)
        }
        text.addProcess()
        return text
    }
}

extension StationMetrics {
    private func sample(_ value: Double, _ labels: (MetricsText.Label, String)...) -> MetricsText.Sample {
        var sample = MetricsText.Sample(value)
        sample.labels = (channel.map { [(.channel, $0)] } ?? []) + labels
        return sample
    }

    private func addSession(_ snapshot: RadioSnapshot, to text: inout MetricsText) {
        text.add(
            "tenfour_uptime_seconds", .gauge, "Time since the start of the session.", snapshot.elapsed / .seconds(1))
        text.add(
            "tenfour_talkers", .gauge, "Talkers whose audio plays or is queued.",
            [sample(Double(snapshot.talkers.count(where: \.isHeard)))])
        if let clock = snapshot.relayClock {
            text.add(
                "tenfour_relay_clock_difference_seconds", .gauge,
                "The clock of the channel's relay less this machine's.", [sample(clock.ahead / .seconds(1))])
        }
        var xruns: [MetricsText.Sample] = []
        var missed: [MetricsText.Sample] = []
        if let capture = snapshot.capture {
            xruns.append(sample(Double(capture.xrunCount), (.direction, "capture")))
            missed.append(sample(capture.missed / .seconds(1), (.direction, "capture")))
        }
        if let playback = snapshot.playback {
            xruns.append(sample(Double(playback.xrunCount), (.direction, "playback")))
            missed.append(sample(playback.missed / .seconds(1), (.direction, "playback")))
        }
        text.add(
            "tenfour_alsa_xruns_total", .counter,
            "Overruns of the capturing card and underruns of the playing card.", xruns)
        text.add(
            "tenfour_alsa_missed_seconds_total", .counter,
            "Audio that the card did not capture or play, because it was late, stood still or was gone.", missed)
    }

    private func addSent(_ snapshot: RadioSnapshot, to text: inout MetricsText) {
        guard snapshot.capture != nil else { return }
        let sent = snapshot.sendStream
        text.add(
            "tenfour_rtp_packets_sent_total", .counter, "RTP packets sent, without retransmissions.",
            [sample(Double(sent.packetCount))])
        text.add(
            "tenfour_rtp_bytes_sent_total", .counter, "Bytes of RTP packets sent, headers included.",
            [sample(Double(sent.byteCount + sent.packetCount * RTPHeader.byteCount))])
        text.add(
            "tenfour_rtp_packets_retransmitted_total", .counter, "RTP packets retransmitted on request (NACK).",
            [sample(Double(sent.retransmission.retransmittedCount))])
        if channel != nil {
            text.add(
                "tenfour_rtp_packets_refused_total", .counter,
                "Packets that the relay of the channel has not forwarded, by reason.",
                MediaRefusal.allCases.map { sample(Double(snapshot.refusedByRelay[$0]), (.reason, $0.label)) })
        }
        // Nothing is known of partners that send no reports.
        let known = snapshot.hearings.filter { $0.state != .cannotKnow }
        if !known.isEmpty {
            text.add(
                "tenfour_partners_hearing", .gauge,
                "Partners that hear this station, well or badly; in a channel, of the members that were asked. Present only while it transmits.",
                [sample(Double(known.count(where: \.state.isHearing)))])
            text.add(
                "tenfour_partners", .gauge,
                "Partners that report to this station or refuse its packets; in a channel, the members that were asked and have answered. Present only while it transmits.",
                [sample(Double(known.count))])
        }
        guard let view = sent.lastReceiverView else { return }
        text.add(
            "tenfour_rtcp_remote_fraction_lost", .gauge,
            "Share of our packets that the receiver which reported last had lost since its previous report, 0 to 1.",
            [sample(view.lossShare)])
    }

    private func addCounts(to text: inout MetricsText) {
        let totals = peers.totals.sorted { $0.key < $1.key }
        func add(_ name: String, _ help: String, _ counter: PeerCounter) {
            text.add(name, .counter, help, totals.map { sample(Double($0.value[counter]), (.peer, $0.key)) })
        }
        add("tenfour_rtp_packets_received_total", "RTP packets received from a talker.", .packetsReceived)
        add(
            "tenfour_rtp_bytes_received_total", "Bytes of RTP packets received from a talker, headers included.",
            .bytesReceived)
        add(
            "tenfour_rtp_packets_lost_total",
            "RTP packets of a talker that the network lost; a retransmitted packet counts as lost.", .packetsLost)
        add("tenfour_rtp_packets_late_total", "RTP packets that arrived after their audio was due.", .packetsLate)
        add("tenfour_rtp_packets_duplicate_total", "RTP packets that had arrived before.", .packetsDuplicate)
        add(
            "tenfour_rtp_packets_reordered_total", "RTP packets that arrived after a later packet.", .packetsReordered)
        add(
            "tenfour_rtp_packets_requested_total", "Lost RTP packets that were requested again (NACK).",
            .packetsRequested)
        add(
            "tenfour_fec_recovered_packets_total",
            "Lost packets that were decoded from the in-band FEC of the next packet.", .recoveredByFEC)
        add(
            "tenfour_red_recovered_packets_total", "Lost packets that were replaced by a copy in a later packet (RED).",
            .recoveredByCopy)
        add(
            "tenfour_nack_recovered_packets_total", "Lost packets that arrived again after a request (NACK).",
            .recoveredByRetransmission)
        text.add(
            "tenfour_audio_concealed_seconds_total", .counter, "Lost audio that the decoder concealed.",
            totals.map { sample(Self.seconds($0.value[.framesConcealed]), (.peer, $0.key)) })
        var talk = totals.map {
            sample(Self.seconds($0.value[.framesHeard]), (.direction, "received"), (.peer, $0.key))
        }
        if let snapshot, snapshot.capture != nil {
            let sent = packetDuration * snapshot.sendStream.packetCount
            talk.append(sample(sent / .seconds(1), (.direction, "sent")))
        }
        text.add("tenfour_talk_seconds_total", .counter, "Audio that was sent, or heard from a talker.", talk)
    }

    private static func seconds(_ frames: Int) -> Double { FrameCount(frames).duration() / .seconds(1) }

    private func addGauges(to text: inout MetricsText) {
        let gauges = gauges.sorted { $0.key < $1.key }
        func add(_ name: String, _ help: String, _ value: (PeerGauges) -> Double?) {
            text.add(
                name, .gauge, help,
                gauges.compactMap { gauge in value(gauge.value).map { sample($0, (.peer, gauge.key)) } })
        }
        add("tenfour_rtp_jitter_seconds", "Interarrival jitter of a talker's packets (RFC 3550).") {
            $0.jitter / .seconds(1)
        }
        add("tenfour_rtcp_round_trip_seconds", "Round trip to a talker.") { $0.roundTrip.map { $0 / .seconds(1) } }
        add("tenfour_jitter_buffer_target_seconds", "Playout delay that the jitter buffer aims at.") {
            $0.target.map { $0 / .seconds(1) }
        }
        add("tenfour_jitter_buffer_current_seconds", "Playout delay of the jitter buffer.") {
            $0.current.map { $0 / .seconds(1) }
        }
        add(
            "tenfour_clock_drift_ppm",
            "Difference between the talker's clock and the card's in parts per million; positive if the talker's is slower."
        ) { $0.drift }
    }

    private func addDrops(_ snapshot: RadioSnapshot, to text: inout MetricsText) {
        var drops = DiscardReason.allCases.map { sample(Double(snapshot.discards[$0]), (.reason, $0.label)) }
        drops.append(sample(Double(snapshot.unopenedCount), (.reason, "undecryptable")))
        drops.append(sample(Double(snapshot.playbackQueueDropCount), (.reason, "playback_queue_full")))
        if let playback = snapshot.playback {
            drops.append(sample(Double(playback.crowdedOutCount), (.reason, "too_many_talkers")))
        }
        drops.append(sample(Double(snapshot.refusedForTime.packetCount), (.reason, "clock")))
        drops.append(sample(Double(snapshot.refusedForTime.delayedCount), (.reason, "delayed")))
        if let capture = snapshot.capture {
            drops.append(sample(Double(capture.overrunCount), (.reason, "send_queue_full")))
        }
        text.add(
            "tenfour_rtp_packets_dropped_total", .counter, "Packets that were discarded, by reason.", drops)
        text.add(
            "tenfour_interference_packets_total", .counter,
            "Packets that somebody has forged, under the SSRC of a talker that is heard or in the relay's name.",
            [sample(Double(snapshot.interferenceCount))])
    }
}

/// Present values of one talker, or the largest values of several talkers with the same label.
private struct PeerGauges: Sendable {
    var jitter = Duration.zero
    var roundTrip: Duration?
    var target: Duration?
    var current: Duration?
    var drift: Double?

    init() {}

    init(_ talker: RadioSnapshot.TalkerSnapshot) {
        jitter = talker.jitter
        roundTrip = talker.roundTrip
        guard talker.isHeard else { return }
        target = talker.playout.target.duration()
        current = talker.playout.delay.duration()
        drift = Double(talker.playout.driftPartsPerMillion)
    }

    mutating func merge(_ other: Self) {
        func larger<Value: Comparable>(_ left: Value?, _ right: Value?) -> Value? {
            [left, right].compactMap { $0 }.max()
        }
        jitter = max(jitter, other.jitter)
        roundTrip = larger(roundTrip, other.roundTrip)
        target = larger(target, other.target)
        current = larger(current, other.current)
        drift = [drift, other.drift].compactMap { $0 }.max { abs($0) < abs($1) }
    }
}
