internal import TenfourAudioCore
import TenfourJSON
internal import TenfourJitterBuffer
internal import TenfourPackets

extension QualitySummary {
    /// The quality in a few lines for a person.
    public var text: String {
        var lines = [
            "lost        \(max(lost, 0)) of \(expected) packets\(percent(lostShare))"
                + (burstLength.map { ", \(rounded($0, 1)) in a row" } ?? "")
                + ", late \(playout.late)\(percent(lateShare))"
        ]
        if outage > .zero {
            let times = outageCount > 1 ? " in \(outageCount) outages" : ""
            lines.append(
                "not arrived \(rounded(outage / .seconds(1), 1)) s\(times): the other end was on the air, and nothing came"
            )
        }
        guard hasSound else {
            return (lines + ["played      nothing: the stream had no sound"]).joined(separator: "\n")
        }
        lines.append("concealed   \(seconds(playout.concealed))\(percent(concealedShare)), recovered \(recoveredText)")
        if playout.dropped > .zero {
            lines.append(
                "dropped     \(seconds(playout.dropped))\(percent(droppedShare)): it came faster than real time, or its "
                    + "packets did not fit the stream")
        }
        if playout.missing > .zero {
            lines.append(
                "not played  \(seconds(playout.missing))\(percent(unplayedShare)) in \(playout.holes) "
                    + "dropout\(playout.holes == 1 ? "" : "s"): the sound card or the program stood still")
        }
        if let mean = delays.mean, let p95 = delays.quantile(0.95), let most = delays.maximum {
            lines.append(
                "delay       \(milliseconds(mean)) on average, \(milliseconds(p95)) at 95%, \(milliseconds(most)) at most"
            )
            lines.append(
                "timeline    time-scaled \(seconds(playout.timeScaled))\(percent(stretchedShare)), restarted "
                    + "\(playout.resyncs) times, drift \(rounded(Double(playout.driftPartsPerMillion), 0)) ppm")
        }
        if let model {
            let best = rounded(EModel.bestScore, 2)
            lines.append("score       \(rounded(model.score, 2)) of \(best) (E-model, R \(rounded(model.rating, 0)))")
        }
        return lines.joined(separator: "\n")
    }

    /// The amount of recovered audio by method, for example `0.4 s by FEC (2.1 %), 0.2 s by copies (1.0 %)`.
    private var recoveredText: String {
        let ways = [
            ("FEC", playout.recovered, recoveredByFECShare), ("copies", playout.recoveredByCopy, recoveredByCopyShare),
            ("retransmission", playout.recoveredByRetransmission, recoveredByRetransmissionShare),
        ]
        let used = ways.filter { $0.1 > .zero }
        return used.isEmpty
            ? "nothing" : used.map { "\(seconds($0.1)) by \($0.0)\(percent($0.2))" }.joined(separator: ", ")
    }

    private func percent(_ share: Double?) -> String { share.map { " (\(rounded($0 * 100, 1))%)" } ?? "" }
    private func seconds(_ frames: FrameCount) -> String { rounded(frames.duration() / .seconds(1), 2) + " s" }
    private func milliseconds(_ duration: Duration) -> String { rounded(duration / .milliseconds(1), 0) + " ms" }
    private func rounded(_ number: Double, _ places: Int) -> String { JSON.decimal(number, places: places).line }
}
