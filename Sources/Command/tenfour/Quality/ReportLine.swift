import TenfourAudioCore
import TenfourCallQuality
import TenfourCommandSupport
import TenfourJitterBuffer
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourUV

/// A session's summary in one line: sent audio, received audio, and problems. `text` has the details.
extension SessionReport {
    /// The maximum number of talkers that are listed individually. Further talkers are only counted.
    private static let longestList = 2

    var line: String {
        let snapshot = snapshot
        var parts: [String] = []
        if snapshot.capture != nil { parts.append(sentPart) }
        parts += snapshot.talkers.prefix(Self.longestList).map(part)
        let others = snapshot.talkers.count - Self.longestList
        if others > 0 { parts.append("\(others) more \(others == 1 ? "was" : "were") heard") }
        if snapshot.playback != nil, snapshot.talkers.isEmpty { parts.append("received nothing\(silentOutage)") }
        if stopped > .zero { parts.append("stopped for \(ProcessStopMonitor.text(stopped))") }
        if let refusedByRelay { parts.append(refusedByRelay) }
        parts += refusedForTime
        if let interference { parts.append(interference) }
        if snapshot.unopenedCount > 0 { parts.append("\(count(snapshot.unopenedCount, "datagram")) not decrypted") }
        if snapshot.network.failed > 0 {
            let last = snapshot.network.lastFailure.map { " (\($0))" } ?? ""
            parts.append("\(count(snapshot.network.failed, "datagram")) refused or not sent\(last)")
        }
        return parts.joined(separator: "; ")
    }

    private var sentPart: String {
        let (sent, seconds) = (snapshot.sendStream, snapshot.elapsed / .seconds(1))
        let rate = seconds > 0 ? Double(sent.byteCount) * 8 / seconds / 1_000 : 0
        let retransmitted = sent.retransmission.retransmittedCount
        let again = retransmitted > 0 ? " despite \(count(retransmitted, "retransmission"))" : ""
        let unknown = uncovered.map { "; no report shows that the last \($0 == 1 ? "one" : "\($0)") arrived" } ?? ""
        let lost = lostCount.map { ", \($0) of them lost\(again)\(unknown)" } ?? ", no reports received"
        return "sent \(count(sent.packetCount, "packet")) in \(decimal(seconds, places: 1)) s, "
            + "\(decimal(rate, places: 1)) kbit/s\(sent.packetCount > 0 ? lost : "")"
    }

    /// The time in which others were on the air and nothing arrived from them; empty if there was none.
    var silentOutage: String {
        let outage = talkers.values.reduce(Duration.zero) { $0 + $1.outage }
        return outage > .zero
            ? ", although the other end was on the air for \(decimal(outage / .seconds(1), places: 1)) s" : ""
    }

    private func part(_ talker: RadioSnapshot.TalkerSnapshot) -> String {
        let whole = talkers[talker.ssrc] ?? QualitySummary()
        let received = whole.expected - max(whole.lost, 0)
        let missing = whole.unplayedShare.flatMap { share in
            share >= 0.0005 ? ", \(decimal(share * 100, places: 1))% not played" : nil
        }
        let outage =
            whole.outage > .zero ? ", nothing arrived for \(decimal(whole.outage / .seconds(1), places: 1)) s" : ""
        let dropped = whole.droppedShare.flatMap { share in
            share >= 0.0005 ? ", \(decimal(share * 100, places: 1))% dropped" : nil
        }
        if talker.looksEncrypted {
            return "received \(count(received, "packet")) from \(names[talker.ssrc]), which look encrypted: not played"
        }
        let retransmitted = talker.recovery.retransmittedCount
        let again =
            retransmitted > 0
            ? " on the way, \(retransmitted) of these \(max(whole.lost, retransmitted)) retransmitted" : ""
        let lost = whole.lostShare.map { ", \(decimal($0 * 100, places: 1))% lost\(again)" } ?? ""
        let score = whole.score.map { ", " + whole.scoreText($0) } ?? ""
        return
            "received \(count(received, "packet")) from \(names[talker.ssrc])\(lost)\(outage)\(dropped ?? "")"
            + "\(missing ?? "")\(score)"
    }
}
