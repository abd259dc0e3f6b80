import TenfourAudioCore
import TenfourCommandSupport
internal import TenfourJSON
import TenfourRadio
import TenfourWaveform

/// The output of `tenfour plot`: pictures, text and JSON.
extension PlotCommand {
    // MARK: Pictures

    var pictureStyle: PictureStyle {
        var style = PictureStyle()
        (style.barWidth, style.spacing, style.isDark) = (barWidth, spacing, dark)
        style.shows = shown?.shown ?? .both
        if let size { (style.width, style.height) = (size.width, size.height) }
        return style
    }

    func draw(_ audio: BarReader.Result, _ format: PictureFormat) throws(RadioError) -> [UInt8] {
        let rows = zip(titles(audio), audio.rows).map { title, bars in
            var row = WaveformPicture.Row(title: title, bars: bars, rate: audio.format.rate)
            row.start = audio.start
            row.markedRanges = audio.markedRanges
            row.position = position(in: audio)
            return row
        }
        var picture = WaveformPicture(title: shownName, note: note(audio), rows: rows, style: pictureStyle)
        picture.highestLevel = highestLevel(audio)
        do { return try picture.file(format) } catch { throw RadioError(.failure, error.description) }
    }

    /// The names of the rows: empty if there is one row for all channels.
    private func titles(_ audio: BarReader.Result) -> [String] {
        guard part.channels else { return [""] }
        switch audio.format.channelCount {
        case 1: return ["mono"]
        case 2: return ["left", "right"]
        case let count: return (1...count).map { "channel \($0)" }
        }
    }

    /// The level at the top of the scale: full scale, or with `--normalize` the loudest bar of all rows.
    private func highestLevel(_ audio: BarReader.Result) -> Float {
        guard part.normalize else { return 0 }
        return audio.rows.map { $0.highest(shown?.shown ?? .both) }.max() ?? 0
    }

    /// The marked moment, counted from the start of the part.
    private func position(in audio: BarReader.Result) -> Duration? { position.map { $0.duration - audio.start } }

    private func note(_ audio: BarReader.Result) -> String {
        let seconds = audio.duration / .seconds(1)
        let length = seconds < 60 ? "\(decimal(seconds, places: 1)) s" : timecode(audio.duration)
        let rate = decimal(Double(audio.format.rate.hertz) / 1_000, places: 2, trimming: true)
        let channels = [1: "mono", 2: "stereo"][audio.format.channelCount] ?? "\(audio.format.channelCount) channels"
        let lost = audio.markedRanges.reduce(Duration.zero) { $0 + $1.range.upperBound - $1.range.lowerBound }
        let levels =
            audio.frameCount == .zero
            ? []
            : [
                "peak \(decimal(Double(audio.peak), places: 1)) dB",
                "average \(decimal(Double(audio.average), places: 1)) dB",
            ]
        let begin = audio.start > .zero ? ["from \(timecode(audio.start))"] : []
        let share = seconds > 0 ? lost / .seconds(1) / seconds * 100 : 0
        let made = lost > .zero ? ["\(decimal(share, places: 1))% concealed"] : []
        return (begin + [length, "\(rate) kHz", channels] + levels + made).joined(separator: " · ")
    }

    // MARK: Text

    /// The style of one of `rowCount` rows.
    func terminalStyle(rowCount: Int = 1) -> TerminalStyle {
        var style = TerminalStyle()
        let screen = Terminal.dataSize
        style.width = size?.width ?? min(max(screen?.columns ?? 80, TerminalStyle.widths.lowerBound), 1_000)
        // Leaves space for the axis, the heading and the prompt.
        let lines = size?.height ?? min(max((screen?.lines ?? 24) - 5, 4), 20)
        // Rows of channels have a heading each.
        style.height = max((lines / rowCount - (rowCount > 1 ? 1 : 0)) / 2 * 2, 2)
        style.shows = shown?.shown ?? .both
        style.usesBlocks = blocks
        style.hasColours = Terminal.takesColours
        return style
    }

    func text(_ audio: BarReader.Result) -> String {
        let style = terminalStyle(rowCount: audio.rows.count)
        var text = "\(shownName) · \(note(audio))\n"
        for (index, (title, bars)) in zip(titles(audio), audio.rows).enumerated() {
            var picture = TerminalPicture(bars: bars, rate: audio.format.rate, style: style)
            picture.start = audio.start
            picture.highestLevel = highestLevel(audio)
            picture.markedRanges = audio.markedRanges
            picture.position = position(in: audio)
            picture.hasTimeAxis = index == audio.rows.count - 1
            if !title.isEmpty { text += title + "\n" }
            text += picture.text
        }
        return text
    }

    // MARK: JSON

    func jsonText(_ audio: BarReader.Result) -> String {
        let levels = { (levels: [Float]) in JSON.list(levels.map { .decimal(Double($0), places: 2) }) }
        let seconds = { (duration: Duration) in JSON.decimal(duration / .seconds(1), places: 4) }
        let bars = { (bars: Bars) -> [(String, JSON)] in
            [("average_db", levels(bars.averages)), ("peak_db", levels(bars.peaks))]
        }
        let rows = zip(titles(audio), audio.rows).map { title, row in
            JSON.object([("channel", JSON.text(title))] + bars(row))
        }
        let properties: [(String, JSON)] = [
            ("start_s", seconds(audio.start)), ("duration_s", seconds(audio.duration)),
            ("rate", .integer(audio.format.rate.hertz)), ("channels", .integer(audio.format.channelCount)),
            ("frames", .integer(audio.frameCount.rawValue)),
            ("frames_per_bar", .integer(audio.rows[0].framesPerBar.rawValue)), ("exact", .boolean(audio.isExact)),
            ("floor_db", .decimal(Double(floor), places: 2)),
            ("top_db", .decimal(Double(highestLevel(audio)), places: 2)),
            (
                "concealed",
                .list(audio.markedRanges.map { .list([seconds($0.range.lowerBound), seconds($0.range.upperBound)]) })
            ),
        ]
        return JSON.object(properties + (part.channels ? [("rows", JSON.list(rows))] : bars(audio.rows[0]))).text
    }
}
