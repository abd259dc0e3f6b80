import Glibc
import TenfourAudioCore
import TenfourClocks
import TestSupport
import Testing

/// A click in the waveform of a local file, on a sound card with a clock: `TENFOUR_LABCARD=1 Tools/labcard run --private --
/// swift test`.
@Suite(.serialized, .onItsOwnThread, .inRealTimeOnACard, .needsLabcard) struct WaveformClickTests {
    private let folder = Folder()

    /// Each column of the picture stands for 1.25 s.
    private static let columnSeconds = 1.25

    init() {
        let samples = (0..<100 * 48_000).map { CodedPosition.value(at: $0, rate: 48_000) }
        folder.write(Recording(channels: [samples]).wav(), to: "coded.wav")
    }

    /// The sound is that of the new place soon after the report of the mouse, and the position that is shown is the one that is
    /// heard.
    @Test func aClickIsHeardAndShownInTime() throws {
        try expectNoFailure {
            let ear = try LoopbackEar("labcard:click")
            let terminal = Terminal(columns: 81)
            let player = try Program(
                "tenfour", ["play", "--no-mpris", "-D", "labcard:click", "--channels", "1", folder("coded.wav")],
                environment: ["XDG_CACHE_HOME": folder("cache"), "TERM": "xterm-256color", "NO_COLOR": ""],
                terminal: terminal)
            guard player.says("\u{1B}[?1006h") && player.says("▶ 00:01") else { return "nothing is played" }
            var clicks: [(moment: Instant, column: Int)] = []
            var shown: [(moment: Instant, text: String)] = []
            for column in [16, 41, 30, 63, 8, 50] {
                let count = terminal.shown.split(separator: "\u{1B}[6n").count
                clicks.append((MonotonicClock.now, column))
                terminal.type("\u{1B}[<0;\(column + 1);5M\u{1B}[<0;\(column + 1);5m")
                guard player.wait(.seconds(5), until: { terminal.shown.split(separator: "\u{1B}[6n").count > count })
                else { return "the place of the cursor was not asked for" }
                terminal.type("\u{1B}[3;1R")
                player.wait(.milliseconds(1_700)) {
                    let text = String(terminal.statuses.last?.prefix(7) ?? "")
                    if text.hasPrefix("▶"), text != shown.last?.text { shown.append((MonotonicClock.now, text)) }
                    return false
                }
            }
            terminal.type("q")
            player.wait(.seconds(10))
            let heard = ear.finish()
            return Self.judgement(heard, clicks) ?? Self.judgement(heard, clicks, shown)
                ?? Self.placeJudgement(clicks, shown)
        }
    }

    /// The time for a click on a busy machine. `Tools/benchmark play` measures how fast it is.
    private static let limit = Duration.milliseconds(700)

    private static func judgement(
        _ heard: LoopbackEar.Heard, _ clicks: [(moment: Instant, column: Int)]
    ) -> String? {
        var misses: [String] = []
        var unchangedCount = 0
        for (moment, column) in clicks {
            let target = (Double(column) + 0.5) * columnSeconds
            guard let after = heard.fraction(at: moment + limit) else {
                misses.append("silence \(limit) after the click on column \(column)")
                continue
            }
            // The time from the click until the new place is heard, if it is.
            let delay = fraction(target + limit / .seconds(1) - after)
            if let before = heard.fraction(at: moment), abs(fraction(delay - target + before + 0.5) - 0.5) < 0.03 {
                unchangedCount += 1
            } else if delay > limit / .seconds(1) {
                misses.append("heard \(after) \(limit) after the click on column \(column), which stands for \(target)")
            }
        }
        // A new place may fit to the old one by chance.
        guard unchangedCount <= 2 else { return "the sound went on after \(unchangedCount) clicks" }
        // A stall of the machine delays one of the six.
        return misses.count > 1 ? misses.joined(separator: "; ") : nil
    }

    private static func fraction(_ value: Double) -> Double { value - value.rounded(.down) }

    /// Compares the changes of the clock with what was heard then. Those at a seek are left out.
    private static func judgement(
        _ heard: LoopbackEar.Heard, _ clicks: [(moment: Instant, column: Int)],
        _ shown: [(moment: Instant, text: String)]
    ) -> String? {
        var compared = 0
        var misses: [String] = []
        for (moment, text) in shown
        where clicks.allSatisfy({ !($0.moment...$0.moment + .milliseconds(400)).contains(moment) }) {
            guard let fraction = heard.fraction(at: moment) else { continue }
            compared += 1
            // A busy machine shows it later.
            if fraction > 0.3, fraction < 0.95 { misses.append("\(text) was shown when \(fraction) was heard") }
        }
        guard compared >= 4 else { return "only \(compared) changes of the clock were seen" }
        return misses.count > compared / 4 ? misses.joined(separator: "; ") : nil
    }

    /// Compares the minutes and seconds that are shown after each click with its place in the whole file.
    private static func placeJudgement(
        _ clicks: [(moment: Instant, column: Int)], _ shown: [(moment: Instant, text: String)]
    ) -> String? {
        for (index, click) in clicks.enumerated() {
            let end = index + 1 < clicks.count ? clicks[index + 1].moment : click.moment + .seconds(2)
            let after = shown.filter { (click.moment + .milliseconds(400)..<end).contains($0.moment) }
            guard let first = after.first else { return "no position was shown after the click on \(click.column)" }
            let passed = (first.moment - click.moment) / .seconds(1)
            let expected = (Double(click.column) + 0.5) * columnSeconds + passed
            let digits = first.text.dropFirst(2).split(separator: ":").compactMap { Int($0) }
            guard digits.count == 2 else { return "\(first.text) was shown" }
            let seconds = Double(digits[0] * 60 + digits[1])
            guard seconds > expected - 1.5, seconds < expected + 0.5 else {
                return "\(first.text) was shown \(passed) s after the click on \(expected - passed) s"
            }
        }
        return nil
    }
}
