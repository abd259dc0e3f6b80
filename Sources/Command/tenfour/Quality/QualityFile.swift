import TenfourCallQuality
import TenfourChannelKeys
import TenfourChannelMember
import TenfourCommandSupport
internal import TenfourJSON
import TenfourPackets
import TenfourRadio

/// Writes the file of `--report`: call quality of received audio, per second and in total, and the delivery of sent
/// audio.
struct QualityFile {
    private let file: OutputFile

    /// Throws `.unavailable` if the file cannot be written.
    init(path: String) throws(RadioError) { file = try OutputFile(path: path) }

    func write(_ monitor: QualityMonitor, _ names: TalkerNames, _ snapshot: RadioSnapshot) throws(RadioError) {
        var heard = monitor.heard.report
        let sent = snapshot.capture.map { _ in monitor.sent.members }
        // Adds an empty second to `heard` if `sent` has one more: both cover the same seconds, but `sent` may have been
        // updated once more.
        while let sent, heard.seconds.count < sent.seconds.count { heard.seconds.append(QualitySummary()) }
        let rows = heard.seconds.enumerated().map { second, summary in
            let own = sent.flatMap { $0.seconds.indices.contains(second) ? $0.seconds[second] : nil }
            return JSON.object([("second", .integer(second))] + members(summary, sent: own, snapshot))
        }
        let talkers = heard.members { [("name", .text(names[$0]))] }.filter { $0.0 == "talkers" }
        let json = JSON.object(
            [
                ("elapsed_s", .decimal(snapshot.elapsed / .seconds(1), places: 3)),
                ("decoder", snapshot.playback?.decoder.json ?? .null),
                ("relay_clock", snapshot.relayClock?.json ?? .null), ("refused_for_time", snapshot.refusedForTime.json),
                ("refused", snapshot.refusedByRelay.json), ("interference", .integer(snapshot.interferenceCount)),
                ("whole", .object(members(heard.whole, sent: sent?.whole, snapshot))), ("seconds", .list(rows)),
            ] + talkers)
        try file.write(json.text)
    }

    /// Returns the JSON members for received audio, followed by the members for sent audio. A session that only sends
    /// has no figures for received audio. Its members for received audio have the values of the members for sent audio
    /// with the same names, if these exist.
    private func members(
        _ summary: QualitySummary, sent: [(String, JSON)]?, _ snapshot: RadioSnapshot
    ) -> [(String, JSON)] {
        guard let sent else { return summary.members }
        let hears = snapshot.playback != nil
        let members = summary.members.map { name, value in
            (name, hears ? value : sent.first { $0.0 == name }?.1 ?? value)
        }
        return members + [("sent", .object(sent))]
    }
}

extension ClockDifference {
    fileprivate var json: JSON {
        .object([("ahead_s", .decimal(ahead / .seconds(1), places: 3)), ("own_clock_used", .boolean(isOwnUsed))])
    }
}

extension MediaRefusalCounts {
    fileprivate var json: JSON {
        .object(MediaRefusal.allCases.map { ($0.label, .integer(Int(self[$0]))) })
    }
}

extension TimeRefusalCounts {
    fileprivate var json: JSON {
        .object([
            ("announcements", .integer(announcementCount)), ("packets", .integer(packetCount)),
            ("delayed_packets", .integer(delayedCount)),
        ])
    }
}

extension DecoderSnapshot {
    fileprivate var json: JSON {
        .object([
            ("library", .text(library)), ("models", .text(models.rawValue)), ("setbacks", .integer(setbackCount)),
        ])
    }
}
