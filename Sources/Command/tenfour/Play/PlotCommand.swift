import ArgumentParser
import TenfourAudioCore
import TenfourAudioFile
import TenfourCommandSupport
import TenfourPackets
import TenfourRadio
import TenfourWaveform

struct PlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plot",
        abstract: "Draw the level of a recording over time, in decibels.",
        discussion: """
            tenfour plot song.flac               # in the terminal
            tenfour plot song.flac -o song.svg   # or song.png
            tenfour plot heard.wav               # written by recv -o: lost audio is red
            tenfour plot song.flac --json --bars 100
            tenfour plot song.flac --start 1:00 --duration 30s --channels --normalize

            Each bar stands for an equally long part of the recording and shows its mean level; the paler bar around it shows \
            the peak. Ctrl-C stops reading early and draws the part that was read.
            """)

    @Argument(
        help: ArgumentHelp("The audio file or URL to draw; - is standard input.", valueName: "file"),
        completion: Completions.soundFile)
    var file: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write a picture to FILE.svg or FILE.png; - writes SVG to standard output.", valueName: "file"),
        completion: .file(extensions: ["svg", "png"]))
    var output: String?

    @Flag(help: "Write the bars as JSON to standard output.")
    var json = false

    @Option(
        help: ArgumentHelp("Number of bars. Default: as many as fit.", valueName: "count"))
    var bars: Int?

    @Option(help: ArgumentHelp("Width of a bar in pixels.", valueName: "pixels"))
    var barWidth = 3.0

    @Option(help: ArgumentHelp("Space between two bars in pixels.", valueName: "pixels"))
    var spacing = 1.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The lowest level that is drawn, in decibels.", valueName: "decibels"))
    var floor: Float = -70

    @Option(
        help: ArgumentHelp(
            "Size of a picture in pixels, or in the terminal in characters and lines. Default for a picture: 1200x302.",
            valueName: "WxH"))
    var size: PictureSize?

    @Flag(exclusivity: .chooseLast, help: "Show only the mean of each bar, or only its peak. Default: both.")
    var shown: ShownChoice?

    @Option(
        help: ArgumentHelp("Mark this moment, such as 1:23 or 83.5; what comes after it is paler.", valueName: "time"))
    var position: Time<BareSeconds>?

    @Flag(help: "Draw on a dark background.")
    var dark = false

    @Flag(help: "In the terminal, draw with block characters, for fonts without braille.")
    var blocks = false

    @OptionGroup(title: "Part") var part: PlottedPart

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp("The channels of samples without a header, 1 to 8.", valueName: "count"))
    var rawChannels = 1

    @OptionGroup var rawAudio: RawAudioOptions
    @OptionGroup(title: "Downloading") var fetch: FetchOptions

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    func validate() throws {
        try fetch.checkHeaders(for: [file])
        guard AudioFileReader.channelCounts.contains(rawChannels) else {
            throw ValidationError("-c \(rawChannels) is out of range: write 1 to 8.")
        }
        if let bars, !BarReduction.barCounts.contains(bars) {
            throw ValidationError("--bars \(bars) is out of range: write 1 to \(BarReduction.barCounts.upperBound).")
        }
        guard (0.1...1_000).contains(barWidth), (0...1_000).contains(spacing) else {
            throw ValidationError(
                "--bar-width or --spacing is out of range: write 0.1 to 1000 pixels for --bar-width, 0 to 1000 for --spacing."
            )
        }
        guard BarReduction.floors.contains(floor) else {
            throw ValidationError("--floor \(floor) is out of range: write -120 to -1 decibels.")
        }
        if let output, output != "-", PictureFormat(path: output) == nil {
            throw ValidationError("-o \(output) is neither SVG nor PNG: choose a name that ends in .svg or .png.")
        }
        if let size {
            let (widths, heights) =
                drawsText ? (TerminalStyle.widths, TerminalStyle.heights) : (PictureStyle.widths, PictureStyle.heights)
            guard widths.contains(size.width), heights.contains(size.height) else {
                throw ValidationError(
                    "--size \(size.width)x\(size.height) is out of range: write a width from \(widths.lowerBound) to "
                        + "\(widths.upperBound) and a height from \(heights.lowerBound) to \(heights.upperBound).")
            }
        }
    }

    var drawsText: Bool { output == nil && !json }

    func run() throws {
        try Console.checkStandardOutput([("--output", output), ("--json", json ? "-" : nil)])
        let picture = try output.map { path throws(RadioError) in try OutputFile(path: path) }
        Signals.catchEnd()
        let reading = reading
        // Stays open, so that the writer always has a reader.
        let pipe = NamedPipe.waitForWriter(reading.path, quiet: quiet)
        let audio = try reading.run()
        _ = consume pipe
        let end = audio.start + audio.duration
        if let position, position.duration > end, audio.isExact {
            throw RadioError(
                .unavailable,
                "\(shownName) ends at \(exactTimecode(end)), before --position \(exactTimecode(position.duration)): mark an earlier moment"
            )
        }
        if !quiet, !audio.isExact, audio.failure == nil {
            Terminal.log(
                "tenfour: the bars are approximate, because the length of \(shownName) was not known in advance")
        }
        if let output, let picture { try picture.write(draw(audio, PictureFormat(path: output) ?? .svg)) }
        if json { Terminal.write(jsonText(audio)) }
        if drawsText { Terminal.write(text(audio)) }
        if let failure = audio.failure { throw RadioError(.failure, "\(shownName): \(failure)") }
    }

    /// The reader of the recording. It shows its progress if a status line may be drawn.
    private var reading: BarReader {
        let path = Secrets.reveal(AudioLocation(file).path)
        var reading = BarReader(path: path, barCount: barCount, floor: floor)
        reading.raw = rawAudio.raw(channelCount: rawChannels)
        (reading.start, reading.duration) = (part.start?.duration ?? .zero, part.duration?.duration)
        reading.separatesChannels = part.channels
        fetch.apply(to: &reading.download, waitsForLive: false)
        guard !quiet else { return reading }
        let name = shownName
        reading.reportEntry = { entry, count in
            Terminal.log(
                count == 1
                    ? "tenfour: \(name) is a playlist: drawing its only entry, \(entry)"
                    : "tenfour: \(name) is a playlist: drawing the first of its \(count) entries, \(entry)")
        }
        guard Terminal.showsStatus else { return reading }
        reading.reportProgress = { share in
            guard let share else { return }
            Terminal.draw("\r\u{1B}[Kreading \(decimal(share * 100, places: 0))%\r")
        }
        return reading
    }

    /// The number of bars. For output as text, the terminal's width limits it.
    private var barCount: Int {
        let fitting = drawsText ? terminalStyle().barCount : pictureStyle.barCount
        return drawsText ? min(bars ?? fitting, fitting) : bars ?? fitting
    }

    /// The last component of the file's name or address, safe to display.
    var shownName: String {
        file == "-"
            ? "standard input" : String(fromPeer: file.split(separator: "/").last.map(String.init) ?? file, limit: 80)
    }
}

extension PictureFormat {
    /// Derives the format from the file's extension; nil for an unknown extension.
    fileprivate init?(path: String) {
        guard let format = path.split(separator: ".").last.flatMap({ Self(rawValue: $0.lowercased()) }) else {
            return nil
        }
        self = format
    }
}

extension AudioLocation {
    /// The path to read. A card is refused when it is opened, since it has no end.
    var path: String {
        switch self {
        case .card(let name): "alsa:\(name)"
        case .file(let path): path
        }
    }
}

enum ShownChoice: String, EnumerableFlag {
    case average, peak

    var shown: PictureStyle.Shown { self == .average ? .average : .peak }
}

/// A size such as `1200x300`.
struct PictureSize: ExpressibleByArgument {
    var width: Int
    var height: Int

    init?(argument: String) {
        let numbers = argument.lowercased().split(separator: "x").map { Int($0) }
        guard numbers.count == 2, let width = numbers[0], let height = numbers[1] else { return nil }
        (self.width, self.height) = (width, height)
    }
}
