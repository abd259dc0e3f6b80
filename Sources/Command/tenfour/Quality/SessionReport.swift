import TenfourAudioCore
import TenfourCallQuality
import TenfourChannelKeys
import TenfourChannelMember
import TenfourCommandSupport
import TenfourJitterBuffer
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourUV

/// The text that is printed at the end of a session.
struct SessionReport {
    let snapshot: RadioSnapshot
    let names: TalkerNames
    let talkers: [SSRC: QualitySummary]
    /// The time from the start of the session to the last receiver report; nil if none arrived.
    private let lastReport: Duration?
    /// The number of our packets lost despite recovery: reported by a receiver, or sent while the relay was
    /// unreachable; nil if there was neither a report nor such an outage.
    let lostCount: Int?
    /// The number of our last packets of which no report shows that they arrived; nil where all is known, or nothing.
    let uncovered: Int?
    /// The time in which we transmitted and a partner did not hear us.
    private let notHeard: Duration

    /// The time for which the program was stopped, by Ctrl-Z or a signal.
    let stopped: Duration

    init(_ snapshot: RadioSnapshot, _ names: TalkerNames, _ monitor: QualityMonitor, stopped: Duration = .zero) {
        self.stopped = stopped
        self.snapshot = snapshot
        self.names = names
        lastReport = monitor.sent.lastReport
        lostCount = monitor.sent.lostCount
        uncovered = monitor.sent.uncoveredCount
        notHeard = monitor.sent.notHeard
        talkers = Dictionary(monitor.heard.talkers.map { ($0.ssrc, $0.whole) }) { first, _ in first }
    }

    var text: String {
        var lines: [String] = []
        let seconds = snapshot.elapsed / .seconds(1)
        let sent = snapshot.sendStream
        if snapshot.capture != nil {
            let rate = seconds > 0 ? Double(sent.byteCount) * 8 / seconds / 1_000 : 0
            lines.append(
                "sent        \(count(sent.packetCount, "packet")) in \(decimal(seconds, places: 1)) s, "
                    + "\(decimal(rate, places: 1)) kbit/s")
            lines.append("            \(reported)")
            if let uncovered {
                lines.append(
                    "            no report shows that the last \(count(uncovered, "packet")) arrived")
            }
            if notHeard >= .milliseconds(500) {
                let seconds = decimal(notHeard / .seconds(1), places: 1)
                lines.append("not heard   for \(seconds) s by at least one of the others, or it did not answer")
            }
        }
        for talker in snapshot.talkers { lines += text(of: talker) }
        if let playback = snapshot.playback {
            if snapshot.talkers.isEmpty { lines.append("received    nothing\(silentOutage)") }
            if playback.xrunCount > 0 || playback.missed > .zero {
                let missed = decimal(playback.missed / .milliseconds(1), places: 1, trimming: true)
                lines.append("card        \(count(playback.xrunCount, "underrun")), \(missed) ms not played")
            }
        }
        if let decoder = snapshot.playback?.decoder { lines.append("decoder     \(text(of: decoder))") }
        if let capture = snapshot.capture, capture.xrunCount + capture.overrunCount > 0 || capture.missed > .zero {
            let missed = capture.missed / .milliseconds(1)
            lines.append(
                "capture     \(count(capture.xrunCount, "overrun")) of the card, \(Int(missed.rounded())) ms not captured, "
                    + "\(count(capture.overrunCount, "packet")) dropped")
        }
        if stopped > .zero {
            lines.append(
                "stopped     \(ProcessStopMonitor.text(stopped)) by Ctrl-Z or a signal: nothing was sent or played")
        }
        if let refusedByRelay { lines.append("refused     \(refusedByRelay)") }
        for text in refusedForTime { lines.append("refused     \(text)") }
        if let interference { lines.append("forged      \(interference)") }
        lines += leftOut
        if snapshot.discards.total > 0 { lines.append("ignored     \(discards)") }
        if snapshot.network.failed > 0 {
            let last = snapshot.network.lastFailure.map { ", last: \($0)" } ?? ""
            lines.append("network     \(count(snapshot.network.failed, "datagram")) refused or not sent\(last)")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the decoder's library and neural models, such as `libopus 1.5.2, deep PLC and LACE`.
    private func text(of decoder: DecoderSnapshot) -> String {
        let models =
            switch decoder.models {
            case .auto, .plain: "no neural models"
            case .plc: "deep PLC"
            case .full: "deep PLC and LACE"
            }
        let setbacks =
            decoder.setbackCount > 0
            ? "; neural models were switched off \(count(decoder.setbackCount, "time")) because they were too slow" : ""
        return "\(decoder.library), \(models)\(setbacks)"
    }

    /// The loss according to the other end's reports, as text.
    private var reported: String {
        guard let lostCount else { return "no reports arrived, so it is unknown whether anybody received the packets" }
        let lost = "the other end reported \(lostCount) of them as lost despite recovery"
        guard let lastReport, snapshot.elapsed - lastReport > Self.longestSilence else { return lost }
        let silence = decimal((snapshot.elapsed - lastReport) / .seconds(1), places: 0)
        return lost + ", but sent no report in the last \(silence) s"
    }

    /// The time without a receiver report above which the text mentions this time. Receiver reports usually arrive
    /// about every five seconds.
    private static let longestSilence = Duration.seconds(15)

    /// The lines about audio that was received but not played or not recorded.
    private var leftOut: [String] {
        let misplaced = snapshot.talkers.reduce(0) { $0 + $1.playout.discarded }
        let crowdedOut = snapshot.playback?.crowdedOutCount ?? 0
        let unrecorded = snapshot.playback?.unrecordedSampleCount ?? 0
        return [
            snapshot.unopenedCount > 0
                ? "not opened  \(count(snapshot.unopenedCount, "datagram")) encrypted with another key, or not at all"
                : nil,
            misplaced > 0
                ? "discarded   \(count(misplaced, "packet")) with implausible timestamps, or too many at once" : nil,
            crowdedOut > 0
                ? "crowded out \(count(crowdedOut, "packet")) from more talkers than can be played at once" : nil,
            snapshot.playbackQueueDropCount > 0
                ? "dropped     \(count(snapshot.playbackQueueDropCount, "packet")): the machine was too slow" : nil,
            unrecorded > 0
                ? "not written \(count(unrecorded, "sample")): the disk, the pipe or the machine was too slow"
                : nil,
        ].compactMap { $0 }
    }

    /// The clause about packets that the relay has not forwarded, such as `12 packets refused by the relay (8 talker rate, 4 floor)`;
    /// nil if there were none.
    var refusedByRelay: String? {
        let counts = snapshot.refusedByRelay
        guard counts.total > 0 else { return nil }
        let reasons = MediaRefusal.allCases.filter { counts[$0] > 0 }.map {
            "\(counts[$0]) \($0.label.replacing("_", with: " "))"
        }
        return "\(count(counts.total, "packet")) refused by the relay (\(reasons.joined(separator: ", ")))"
    }

    /// The clause about packets that somebody has forged; nil if there were none.
    var interference: String? {
        snapshot.interferenceCount > 0 ? "interference: \(count(snapshot.interferenceCount, "forged packet"))" : nil
    }

    /// The clauses about media that was refused for its time.
    var refusedForTime: [String] {
        let counts = snapshot.refusedForTime
        let clock =
            counts.packetCount > 0
            ? "\(count(counts.packetCount, "packet")) not played, because clocks differ or somebody plays recorded audio"
            : nil
        let delay =
            counts.delayedCount > 0
            ? "\(count(counts.delayedCount, "packet")) not played, because they came over 2 s late" : nil
        return [clock, delay].compactMap { $0 }
    }

    private func text(of talker: RadioSnapshot.TalkerSnapshot) -> [String] {
        let whole = talkers[talker.ssrc] ?? QualitySummary()
        // Retransmitted packets are not counted as received, so the received and the lost packets together are all
        // packets of the stream.
        let received = whole.expected - max(whole.lost, 0)
        let retransmitted = talker.recovery.retransmittedCount
        return ["received    \(count(received, "packet")) from \(names[talker.ssrc])"]
            + whole.text.split(separator: "\n").map(String.init)
            + (retransmitted > 0
                ? ["recovered   \(count(retransmitted, "packet")) by retransmission"] : [])
            + ["jitter      \(decimal(talker.jitter / .milliseconds(1), places: 1)) ms"]
    }

    private var discards: String {
        DiscardReason.allCases.filter { snapshot.discards[$0] > 0 }
            .map { "\(count(snapshot.discards[$0], "datagram")) \($0.words)" }.joined(separator: ", ")
    }

    func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
}

extension DiscardReason {
    /// The reason for a drop, as text that follows `3 datagrams`.
    var words: String {
        switch self {
        case .empty: "that are empty"
        case .unknownProtocol: "that are neither RTP nor RTCP"
        case .malformedRTP: "with malformed RTP"
        case .malformedRTCP: "with malformed RTCP"
        case .unknownPayloadType: "of another payload type (set the type with --payload-type)"
        case .malformedPayload: "with malformed audio"
        case .oversizedPayload: "with an oversized payload"
        case .looksEncrypted: "that look encrypted"
        case .stranger: "from unknown senders"
        case .tooManySources: "from more senders than are allowed"
        case .collision: "with an SSRC that is in use"
        case .loop: "that this station sent itself and got back"
        }
    }
}
