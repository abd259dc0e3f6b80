import BadLink

/// The counts of all paths, for people and for programs.
struct Report {
    /// The networks of the two ways, in words.
    var there: String
    var back: String
    var seed: UInt64
    var paths: [(name: String, tally: Tally)]

    /// A line for each path that saw a packet.
    var lines: [String] {
        let used = paths.filter { $0.tally.received > 0 || $0.tally.stray > 0 }
        return used.isEmpty ? ["no packet came"] : used.map { "\($0.name): " + line(of: $0.tally) }
    }

    private func line(of tally: Tally) -> String {
        var parts = ["\(tally.received) in", "\(tally.sent) out"]
        for (count, what) in [
            (tally.lost[.chance, default: 0], "lost by chance"),
            (tally.lost[.queueFull, default: 0], "lost to the full queue"),
            (tally.lost[.trace, default: 0], "lost by the trace"), (tally.doubled, "doubled"),
            (tally.reordered, "reordered"),
            (tally.overflowed, "dropped, too many in flight"), (tally.refused, "refused by the network"),
            (tally.stray, "stray"),
        ] where count > 0 {
            parts.append("\(count) \(what)")
        }
        if tally.sent > 0 {
            parts.append(
                "delay \(milliseconds(tally.delays.mean)) ms on average, \(milliseconds(tally.delays.quantile(0.95))) at 95 %, "
                    + "\(milliseconds(tally.delays.most)) at most")
        }
        return parts.joined(separator: ", ")
    }

    /// One JSON object. Delays are in milliseconds.
    var json: String {
        let paths = self.paths.map { "    \"\($0.name)\": {\n" + json(of: $0.tally) + "\n    }" }
        return """
            {
              "there": \(quotedJSON(there)),
              "back": \(quotedJSON(back)),
              "seed": \(seed),
              "paths": {
            \(paths.joined(separator: ",\n"))
              }
            }

            """
    }

    private func json(of tally: Tally) -> String {
        let lost = [("chance", LossReason.chance), ("queue_full", .queueFull), ("trace", .trace)]
            .map { "\"\($0)\": \(tally.lost[$1, default: 0])" }.joined(separator: ", ")
        return """
                  "in": \(tally.received), "out": \(tally.sent), "lost": { \(lost) },
                  "doubled": \(tally.doubled), "reordered": \(tally.reordered), "overflowed": \(tally.overflowed),
                  "refused": \(tally.refused), "stray": \(tally.stray),
                  "delay_ms": \(json(of: tally.delays)),
                  "own_lateness_ms": \(json(of: tally.lateness))
            """
    }

    private func json(of delays: Histogram) -> String {
        let values: [(String, Double)] = [
            ("min", Double(delays.least)), ("mean", delays.mean), ("p50", Double(delays.quantile(0.5))),
            ("p95", Double(delays.quantile(0.95))), ("p99", Double(delays.quantile(0.99))),
            ("max", Double(delays.most)),
        ]
        return "{ " + values.map { "\"\($0)\": \(milliseconds($1))" }.joined(separator: ", ") + " }"
    }
}

func milliseconds(_ microseconds: Int) -> Double { Double(microseconds) / 1000 }

func milliseconds(_ microseconds: Double) -> Double { microseconds.rounded() / 1000 }

/// A JSON string (RFC 8259 section 7).
private func quotedJSON(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": quoted += "\\\(scalar)"
        case _ where scalar.value < 0x20:
            let digits = String(scalar.value, radix: 16)
            quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}
