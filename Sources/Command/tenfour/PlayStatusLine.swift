import TenfourAudioCore
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourWaveform

/// The status line of a player, redrawn in place, with an optional level meter above it.
struct PlayStatusLine {
    private var screen = LiveLines()
    private var level: LevelView?
    private var meter = Meter()

    private static let barWidth = 24

    init(levels: Bool) { level = levels ? LevelView(name: "level") : nil }

    mutating func draw(_ streamer: Streamer) {
        let progress = streamer.progress
        var fields = Self.fields(streamer.state, progress)
        if streamer.rate != 1 { fields.add("×\(decimal(streamer.rate, places: 2))", rank: 1) }
        if streamer.pitch != 0 {
            fields.add("\(streamer.pitch > 0 ? "+" : "")\(decimal(streamer.pitch, places: 0)) ct", rank: 1)
        }
        if streamer.isMuted {
            fields.add("muted", rank: 1)
        } else if streamer.volume < 0.995 {
            fields.add("vol \(decimal(streamer.volume * 100, places: 0))%", rank: 2)
        }
        fields.add(meter.show(Level(decibels: progress.level)), rank: 4)
        if let title = streamer.track?.title { fields.add(title, rank: 5) }
        if streamer.isCardLost { fields.addPart("CARD LOST") }
        level?.append(streamer.levelHistory)
        screen.draw(level.map { [$0] } ?? []) { fields.text(width: $0) }
    }

    mutating func clear() { screen.clear() }

    /// Returns the fields of a status line such as `▶ 01:23 / 04:56  [━━━━●─── ]  28 s ahead  128 kbit/s`.
    static func fields(_ state: StreamState, _ progress: StreamProgress) -> StatusFields {
        var fields = StatusFields()
        fields.add(symbol(of: state))
        fields.add(clock(progress.position), after: " ")
        if let duration = progress.duration {
            fields.add(clock(duration), after: " / ")
            let whole = duration.value / .seconds(1)
            let played = whole > 0 ? progress.position.value / duration.value : 0
            fields.add(bar(played: played, downloaded: progress.downloaded), rank: 3)
        } else if progress.isLive {
            fields.add("live")
        }
        if let reconnections = progress.reconnections { fields.add("reconnecting (\(reconnections))", rank: 1) }
        if let buffered = progress.buffered {
            fields.add("\(decimal(buffered / .seconds(1), places: 0)) s ahead", rank: 6)
        }
        if let bitRate = progress.bitRate {
            fields.add("\(decimal(Double(bitRate) / 1_000, places: 0)) kbit/s", rank: 7)
        }
        return fields
    }

    private static func symbol(of state: StreamState) -> String {
        switch state {
        case .playing: "▶"
        case .paused: "⏸"
        case .buffering: "…"
        case .idle, .ended, .failed: "■"
        }
    }

    /// Formats a position, with `≈` before an estimate.
    static func clock(_ time: Estimate<Duration>) -> String { (time.isExact ? "" : "≈") + clock(time.value) }

    static func clock(_ time: Duration) -> String {
        let seconds = max(Int(time / .seconds(1)), 0)
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (seconds / 3_600, digits(seconds / 60 % 60))
        return (hours > 0 ? "\(hours):" : "") + "\(minutes):\(digits(seconds % 60))"
    }

    /// Returns a progress bar that shows the played part, the position and the buffered part.
    private static func bar(played: Double, downloaded: Range<Double>?) -> String {
        let place = min(max(Int(played * Double(barWidth)), 0), barWidth - 1)
        let here = downloaded.map {
            Int($0.lowerBound * Double(barWidth))..<Int(($0.upperBound * Double(barWidth)).rounded(.up))
        }
        let marks = (0..<barWidth).map { index in
            if index < place { return "━" }
            if index == place { return "●" }
            return here?.contains(index) == true || index < here?.lowerBound ?? 0 ? "─" : " "
        }
        return "[\(marks.joined())]"
    }
}
