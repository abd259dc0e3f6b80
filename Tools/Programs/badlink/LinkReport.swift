import TenfourCallQuality
import TenfourJSON
import TenfourNetworkEmulator

/// The counts of all paths, as text and as JSON.
struct LinkReport {
    /// The emulated network in each direction, as text.
    var there: String
    var back: String
    var seed: UInt64
    var paths: [(name: String, tally: LinkTally)]

    /// One line for each path on which a packet arrived.
    var lines: [String] {
        let used = paths.filter { $0.tally.received > 0 || $0.tally.stray > 0 }
        return used.isEmpty ? ["no packets received"] : used.map { "\($0.name): " + line(of: $0.tally) }
    }

    private func line(of tally: LinkTally) -> String {
        var parts = ["\(tally.received) in", "\(tally.sent) out"]
        for (count, what) in [
            (tally.lost[.chance, default: 0], "lost by chance"),
            (tally.lost[.queueFull, default: 0], "dropped by the full queue"),
            (tally.lost[.trace, default: 0], "lost by the trace"), (tally.doubled, "duplicated"),
            (tally.reordered, "reordered"),
            (tally.overflowed, "dropped, too many in flight"), (tally.refused, "refused by the network"),
            (tally.stray, "stray"),
        ] where count > 0 {
            parts.append("\(count) \(what)")
        }
        if tally.sent > 0 {
            parts.append(
                "delay \(milliseconds(tally.delays.mean)) ms on average, \(milliseconds(tally.delays.quantile(0.95))) at 95%, "
                    + "\(milliseconds(tally.delays.most)) at most")
        }
        return parts.joined(separator: ", ")
    }

    /// One JSON object. Delays are in milliseconds.
    var json: String {
        JSON.object([
            ("there", .text(there)), ("back", .text(back)),
            ("seed", Int(exactly: seed).map(JSON.integer) ?? .text("\(seed)")),
            ("paths", .object(paths.map { ($0.name, json(of: $0.tally)) })),
        ]).text
    }

    private func json(of tally: LinkTally) -> JSON {
        let lost = [("chance", LossReason.chance), ("queue_full", .queueFull), ("trace", .trace)]
            .map { ($0, JSON.integer(tally.lost[$1, default: 0])) }
        return .object([
            ("in", .integer(tally.received)), ("out", .integer(tally.sent)), ("lost", .object(lost)),
            ("doubled", .integer(tally.doubled)), ("reordered", .integer(tally.reordered)),
            ("overflowed", .integer(tally.overflowed)), ("refused", .integer(tally.refused)),
            ("stray", .integer(tally.stray)), ("delay_ms", json(of: tally.delays)),
            ("own_lateness_ms", json(of: tally.lateness)),
        ])
    }

    private func json(of delays: Histogram) -> JSON {
        let values: [(String, Double)] = [
            ("min", Double(delays.least)), ("mean", delays.mean), ("p50", Double(delays.quantile(0.5))),
            ("p95", Double(delays.quantile(0.95))), ("p99", Double(delays.quantile(0.99))),
            ("max", Double(delays.most)),
        ]
        return .object(values.map { ($0, .decimal($1 / 1_000, places: 3)) })
    }
}

func milliseconds(_ microseconds: Int) -> Double { Double(microseconds) / 1000 }

func milliseconds(_ microseconds: Double) -> Double { microseconds.rounded() / 1000 }
