import Engine
import Network
import Playout
import Radio
import Sound

/// What there is to say of a session at its end.
struct Report {
    private let snapshot: SessionSnapshot

    init(_ snapshot: SessionSnapshot) { self.snapshot = snapshot }

    var text: String {
        var lines: [String] = []
        let seconds = snapshot.elapsed / .seconds(1)
        let sent = snapshot.transmission
        if snapshot.capture != nil {
            let rate = seconds > 0 ? Double(sent.byteCount) * 8 / seconds / 1_000 : 0
            lines.append("sent        \(sent.packetCount) packets in \(decimal(seconds, places: 1)) s, \(decimal(rate, places: 1)) kbit/s")
            if let view = sent.lastView {
                lines.append("            of which the other end lost \(max(view.lostCount, 0))")
            }
        }
        for voice in snapshot.voices { lines += text(of: voice) }
        if let playback = snapshot.playback, playback.xrunCount > 0 {
            lines.append("card        \(playback.xrunCount) underruns, \(milliseconds(playback.missed)) ms not played")
        }
        if let capture = snapshot.capture, capture.xrunCount + capture.overrunCount > 0 {
            lines.append("capture     \(capture.xrunCount) overruns of the card, \(capture.overrunCount) packets not taken")
        }
        if snapshot.discards.total > 0 { lines.append("forgotten   \(snapshot.discards)") }
        if snapshot.network.failed > 0 {
            let last = snapshot.network.lastFailure.map { ", last: \($0)" } ?? ""
            lines.append("network     \(snapshot.network.failed) datagrams not sent\(last)")
        }
        return lines.joined(separator: "\n")
    }

    private func text(of voice: SessionSnapshot.VoiceSnapshot) -> [String] {
        let playout = voice.playout
        let lost = max(voice.lostCount, 0)
        let expected = voice.receivedCount + lost
        let heard = playout.decoded + playout.concealed + playout.recovered
        return [
            "received    \(voice.receivedCount) packets from \(voice.name ?? voice.ssrc.label)",
            "lost        \(lost) (\(share(lost, of: expected)) %), late \(playout.late), doubled \(playout.duplicates)",
            "concealed   \(milliseconds(playout.concealed)) ms (\(share(playout.concealed.rawValue, of: heard.rawValue)) %), brought back by FEC \(milliseconds(playout.recovered)) ms",
            "jitter      \(decimal(voice.jitter / .milliseconds(1), places: 1)) ms, playout delay \(milliseconds(playout.delay)) ms, drift \(decimal(Double(playout.driftPartsPerMillion), places: 0)) ppm",
        ]
    }

    private func milliseconds(_ frames: FrameCount) -> String {
        decimal(frames.duration() / .milliseconds(1), places: 1, trimming: true)
    }

    private func share(_ part: Int, of whole: Int) -> String {
        decimal(whole > 0 ? Double(part) / Double(whole) * 100 : 0, places: 1)
    }
}
