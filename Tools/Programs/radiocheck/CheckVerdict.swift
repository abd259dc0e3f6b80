import TenfourAudioCore
import TenfourCallQuality
import TenfourCommandSupport
import TenfourJSON
import TenfourLinkTest
import TenfourPackets
import TenfourSession

/// A result as text, JSON and JUnit XML.
struct CheckVerdict {
    private let result: LinkTestResult
    /// The name of the host or the network, and the network's seed.
    private let name: String
    private let seed: UInt64?
    private let minimum: Double?

    init(_ result: LinkTestResult, of name: String, seed: UInt64?, minimum: Double?) {
        self.result = result
        self.name = name
        self.seed = seed
        self.minimum = minimum
    }

    /// Whether the score is unknown or below the required minimum.
    var isBelow: Bool { minimum.map { (result.score ?? 0) < $0 } ?? false }

    var text: String {
        var lines: [String] = []
        if let away = result.roundTrip, let least = away.quantile(0), let mean = away.mean, let most = away.maximum {
            lines.append(
                "round trip  \(milliseconds(least)) at least, \(milliseconds(mean)) on average, \(milliseconds(most)) at most"
            )
        }
        if let quality = result.quality {
            lines += quality.whole.text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("score") }
        } else if let view = result.view {
            lines.append(
                "lost        \(max(view.lostCount, 0)) of \(result.sentCount) packets"
                    + (view.burstLength.flatMap { view.lostCount > 0 ? $0 : nil }.map {
                        ", \(decimal($0, places: 1)) in a row"
                    } ?? ""))
            lines.append(
                "jitter      \(milliseconds(view.jitter))"
                    + (view.roundTrip.map { ", \(milliseconds($0)) round trip" } ?? ""))
        }
        lines.append("protection  \(result.lossProtection)")
        if let model = result.model {
            lines.append(
                "score       \(decimal(model.score, places: 2)) of 4.5 (E-model, R \(decimal(model.rating, places: 0)))"
            )
        }
        let advice = result.advice
        lines.append(
            "advice      \(advice.isEmpty ? "none: the connection is good" : advice.joined(separator: "\n            "))"
        )
        if isBelow, let minimum { lines.append("\(Check.name): the score is below \(decimal(minimum, places: 2))") }
        return lines.joined(separator: "\n")
    }

    private var place: [(String, JSON)] {
        seed.map { [("network", .text(name)), ("seed", .integer(Int(clamping: $0)))] } ?? [("host", .text(name))]
    }

    var json: JSON { .object(place + result.members) }

    /// The result as one test in JUnit's XML format, which Jenkins and GitLab read.
    var junit: String {
        let score = result.score.map { decimal($0, places: 2) } ?? "none"
        let properties = [
            ("score", score), ("defence", "\(result.lossProtection)"),
            ("advice", result.advice.joined(separator: "; ")),
        ]
        let failure =
            isBelow
            ? "\n      <failure message=\"\(escaped("the score is \(score), below \(decimal(minimum ?? 0, places: 2))"))\"/>"
            : ""
        let body = properties.map { "      <property name=\"\($0)\" value=\"\(escaped($1))\"/>" }.joined(
            separator: "\n")
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites>
              <testsuite name="radiocheck" tests="1" failures="\(isBelow ? 1 : 0)">
                <testcase classname="radiocheck" name="\(escaped(seed.map { "\(name) seed \($0)" } ?? name))" time="\(
                    decimal(Double(result.sentCount) * 0.02, places: 2))">
                  <properties>
            \(body)
                  </properties>\(failure)
                </testcase>
              </testsuite>
            </testsuites>

            """
    }

    private func milliseconds(_ duration: Duration) -> String {
        decimal(duration / .milliseconds(1), places: 1) + " ms"
    }

    /// Escapes an XML attribute and removes the characters that XML cannot represent.
    private func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case _ where scalar.value < 0x20: text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
