import TenfourAudioCore
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourWaveform

/// The status line of a player, redrawn in place, with the waveform and an optional level meter above it.
struct PlayStatusLine {
    private var screen = LiveLines()
    private let panel: WaveformPanel?
    private var level: LevelView?
    private var meter = Meter()

    private static let barWidth = 24
    /// The distance from the edge of a live stream from which on it is shown. The edge moves by whole segments.
    private static let behindNoticed = Duration.seconds(30)

    init(levels: Bool, panel: WaveformPanel?) {
        level = levels ? LevelView(name: "level") : nil
        self.panel = panel
    }

    /// Draws the line. `left` is the time after which the sleep timer stops playback.
    mutating func draw(_ streamer: Streamer, sleepsIn left: Duration? = nil) {
        let progress = streamer.progress
        var fields = Self.fields(streamer.state, progress, hasBar: panel?.isShown != true)
        if streamer.rate != 1 { fields.add("×\(decimal(streamer.rate, places: 2))", rank: 1) }
        if streamer.pitch != 0 {
            fields.add("\(streamer.pitch > 0 ? "+" : "")\(decimal(streamer.pitch, places: 0)) ct", rank: 1)
        }
        for (name, gain) in [("bass", streamer.bass), ("treble", streamer.treble)] where gain != 0 {
            fields.add("\(name) \(gain > 0 ? "+" : "")\(decimal(gain, places: 0)) dB", rank: 1)
        }
        if streamer.isShuffled { fields.add("shuffled", rank: 2) }
        if streamer.repeats != .none { fields.add("repeats \(streamer.repeats.rawValue)", rank: 2) }
        if let left { fields.add("sleep in \(Self.clock(left))", rank: 1) }
        if streamer.isMuted {
            fields.add("muted", rank: StatusFields.essential)
        } else if streamer.volume < 0.995 {
            fields.add("vol \(decimal(streamer.volume * 100, places: 0))%", rank: 2)
        }
        fields.add("\(meter.show(Level(decibels: progress.level)))", rank: 4)
        if let chapter = ChapterListing.title(in: streamer) { fields.add("\(name: chapter)", rank: 5) }
        if let title = streamer.track?.title { fields.add("\(name: title)", rank: 5) }
        if streamer.isCardLost { fields.addPart("CARD LOST", rank: StatusFields.alert) }
        level?.append(streamer.levelHistory)
        screen.draw(
            level.map { [$0] } ?? [], beneath: { panel?.lines(width: $0) ?? [] },
            status: { width, _ in [panel?.typed?.cut(toColumns: width) ?? fields.text(width: width)] })
    }

    /// Returns the time until the position that the line shows changes, in milliseconds, at least 1.
    static func timeUntilChange(_ streamer: Streamer, atMost limit: Int32) -> Int32 {
        guard streamer.state == .playing else { return limit }
        let seconds = streamer.progress.position.value / .seconds(1)
        let left = (seconds.rounded(.down) + 1 - seconds) / max(streamer.rate, 0.01)
        return min(Int32((left * 1_000).rounded(.up)), limit)
    }

    mutating func clear() { screen.clear() }

    /// Returns the fields of a status line such as `▶ 01:23 / 04:56  [━━━━●─── ]  28 s ahead  128 kbit/s`. Without
    /// `hasBar` the progress bar is left out.
    static func fields(_ state: StreamState, _ progress: StreamProgress, hasBar: Bool = true) -> StatusFields {
        var fields = StatusFields()
        fields.add("\(symbol(of: state)) \(clock(progress.position))", rank: StatusFields.essential)
        if let duration = progress.duration {
            fields.add("\(clock(duration))", rank: 1, after: " / ")
            let whole = duration.value / .seconds(1)
            let played = whole > 0 ? progress.position.value / duration.value : 0
            if hasBar { fields.add("\(bar(played: played, downloaded: progress.downloaded))", rank: 3) }
        } else if progress.isLive {
            fields.add("live")
            if let window = progress.window {
                let behind = window.upperBound - progress.position.value
                if behind >= behindNoticed { fields.add("\(clock(behind)) behind", rank: 2) }
                fields.add("window \(clock(window.upperBound - window.lowerBound))", rank: 5)
            }
        }
        if let reconnections = progress.reconnections { fields.add("reconnecting (\(reconnections))", rank: 1) }
        if let buffered = progress.buffered {
            fields.add("\(decimal(buffered / .seconds(1), places: 0)) s ahead", rank: 6)
        }
        if let bitRate = progress.bitRate {
            fields.add("\(decimal(Double(bitRate.value) / 1_000, places: 0)) kbit/s", rank: 7)
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
        let seconds = max(Int(time.components.seconds), 0)
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
