import ArgumentParser
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourRadio
import TenfourTransmissions

/// `tenfour log play`.
struct LogPlay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play recorded transmissions, one after the other.",
        usage: "tenfour log play [<number> ...] [--record <directory>] [<options>]",
        discussion: """
            tenfour log play                     # the last one
            tenfour log play 17 18 --rate 1.5

            \(PlayKeys.help)
            """)

    @Argument(
        help: ArgumentHelp("The numbers of the recordings in the log. Default: the last one.", valueName: "number"))
    var numbers: [Int] = []

    /// The parent command, which has the option `--record`.
    @ParentCommand var log: LogCommand

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to play on, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @OptionGroup(title: "Playback") var playback: PlaybackOptions

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    func run() throws {
        let entries = try entries()
        var configuration = StreamerConfiguration()
        configuration.output = .card(device.name)
        configuration.download.endsGrowingFiles = true
        if !quiet { WaveformPanel.configure(&configuration) }
        let streamer: Streamer
        do throws(StreamError) { streamer = try Streamer(configuration) } catch {
            throw RadioError(.unavailable, error.description)
        }
        defer { streamer.close() }
        playback.apply(to: streamer)
        if !quiet { for entry in entries where !entry.isComplete { Terminal.log(Self.notice(about: entry)) } }
        // A path that begins with a hyphen or looks like an address is still a file.
        let paths = entries.map { $0.path.hasPrefix("/") ? $0.path : "./" + $0.path }
        let runner = PlayRunner(quiet: quiet, verbose: false, fadeOut: playback.fadeOutOnQuit)
        try runner.run(streamer, paths, at: playback.start?.duration)
    }

    private static func notice(about entry: TransmissionLog.Entry) -> String {
        "tenfour: recording \(entry.number) is being written, or was cut off: what it has now is played"
    }

    /// Returns the wanted recordings.
    private func entries() throws(RadioError) -> [TransmissionLog.Entry] {
        let recordings = try LogCommand.open(log.directory)
        let count = recordings.count
        guard count > 0 else { throw RadioError(.unavailable, "there are no recordings in \(log.directory)") }
        let wanted = numbers.isEmpty ? [count] : numbers
        let entries = recordings.entries(wanted)
        if let missing = wanted.first(where: { number in !entries.contains { $0.number == number } }) {
            throw RadioError(
                .unavailable,
                "there is no recording \(missing) in \(log.directory), which has \(count); tenfour log lists them")
        }
        return entries
    }
}
