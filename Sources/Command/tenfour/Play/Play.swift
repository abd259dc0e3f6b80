public import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourCommandSupport
public import TenfourMediaSource
import TenfourPlayer
import TenfourRadio

struct Play: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play URLs and files.",
        discussion: """
            tenfour play https://example.org/song.mp3
            tenfour play talk.opus --rate 1.5 --pitch -300
            tenfour play ~/Music/album --shuffle
            tenfour play song.flac --eq bass:+4,peak:1000:-3 --normalize
            tenfour play song.flac -o song.wav
            tenfour play podcast.mp3 --skip-silence --rate 1.5 --sleep 30m

            \(PlayKeys.help)
            """)

    @Argument(
        help: ArgumentHelp(
            "URLs, files, folders, playlists (m3u, pls, xspf, HLS), feeds of podcasts, CUE sheets, or - for standard input, played one after the other.",
            valueName: "address"), completion: Completions.playable)
    var addresses: [String]

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to play on, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the audio to this WAV, FLAC or Ogg Opus file, as fast as possible; - writes raw samples to standard output, alsa:NAME plays it on a sound card.",
            valueName: "destination"), completion: .file(extensions: ["wav", "flac", "opus", "ogg"]))
    var output: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Channels: 1 or 2. Default: 2; in an output file, as many as the first item has.", valueName: "count"))
    var channels: Int?

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "Read every input as this kind of file, such as mp3 or wav, instead of recognising it by its first bytes.",
            valueName: "ending"))
    var fileType: FileEnding?

    @Option(
        help: ArgumentHelp(
            "The audio track to play of a file with several: its number, from 1, or its language, such as de. Default: the one that the file marks. -v lists them.",
            valueName: "number|language"))
    var track: AudioTrackChoice?

    @OptionGroup(title: "Output file") var file: OutputFileOptions
    @OptionGroup(title: "Playback") var playback: PlaybackOptions
    @OptionGroup(title: "Listening") var listening: ListeningOptions
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Sound") var effects: EffectOptions
    @OptionGroup(title: "Downloading") var download: DownloadOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Stop after this much audio; a bare number is in seconds.", valueName: "time"))
    var duration: Time<BareSeconds>?

    @Flag(help: "Repeat the queue without end.")
    var loop = false

    @Flag(
        help: "Do not let media keys and other programs of the desktop control the player (MPRIS).")
    var noMpris = false

    @Flag(name: [.customShort("V"), .long], help: "Show a live level meter of the last seconds.")
    var levels = false

    @Flag(help: "Do not show the waveform above the status line, and leave the mouse to the terminal.")
    var noWaveform = false

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more messages.")
    var verbose = false

    func validate() throws {
        guard !addresses.isEmpty else { throw ValidationError("Nothing to play: name an address or a file.") }
        if let channels, !(1...2).contains(channels) {
            throw ValidationError("--channels \(channels) is not supported: write 1 or 2.")
        }
        try file.check(path: writesFile ? output : nil, channels: channels)
        try listening.check(writesFile: writesFile)
        if writesFile, playback.fadeOut.map({ $0.duration > .seconds(60) }) ?? false {
            throw ValidationError("--fade-out is too long for a file: write 60s or less.")
        }
        try download.fetch.checkHeaders(for: addresses)
        if loop, writesFile {
            throw ValidationError("--loop never ends, so it cannot write a file: leave out --loop, or -o.")
        }
        try queue.check(loop: loop, writesFile: writesFile)
        // The player looks for it in playlists and CUE sheets.
        if case .file(let path) = output.map({ AudioLocation($0) }), path != "-",
            let identity = FileIdentity(regularFileAt: path)
        {
            for file in addresses.flatMap(Self.files) where FileIdentity(regularFileAt: file) == identity {
                throw ValidationError("\(path) is the input and would be overwritten: write to another file.")
            }
        }
    }

    /// Returns the file at `address`, or those of a folder; none for a URL.
    private static func files(_ address: String) -> [String] {
        guard case .file(let path) = try? Resource(address) else { return [] }
        return FolderListing(of: path)?.paths ?? [path]
    }

    private var writesFile: Bool {
        if case .file = output.map({ AudioLocation($0) }) { true } else { false }
    }

    func run() throws {
        var configuration = StreamerConfiguration()
        configuration.output = .card(device.name)
        switch output.map({ AudioLocation($0) }) {
        case .none: break
        case .card(let name): configuration.output = .card(name)
        case .file(let path): configuration.output = .file(path)
        }
        configuration.channelCount = channels ?? (writesFile ? nil : 2)
        file.apply(to: &configuration)
        if writesFile { configuration.fadeOut = playback.fadeOut?.duration ?? .zero }
        queue.apply(to: &configuration, loop: loop)
        configuration.gain = effects.gainMode(writesFile: writesFile)
        let resume = queue.resume ? ResumeFile.usualPath.map { ResumeFile(path: $0) } : nil
        if let resume { configuration.startPosition = { resume.position(of: $0, duration: $1) } }
        configuration.fileType = fileType?.format
        configuration.track = track
        configuration.duration = duration?.duration
        configuration.startAfter = download.startAfter.duration
        download.apply(to: &configuration.download, waitsForLive: !writesFile)
        if !quiet, !noWaveform, !writesFile { WaveformPanel.configure(&configuration) }
        let typed = addresses.map(Secrets.reveal)
        // The output file takes its format from the first item, which is opened before anything is shown.
        let pipe = writesFile ? typed.first.flatMap { NamedPipe.waitForWriter($0, quiet: quiet) } : nil
        let streamer: Streamer
        do throws(StreamError) {
            streamer = try Streamer(configuration, sampledLike: typed.first)
        } catch {
            throw RadioError(.unavailable, error.description)
        }
        defer { streamer.close() }
        playback.apply(to: streamer)
        try effects.apply(to: streamer)
        streamer.skipsSilence = listening.skipSilence
        let runner = PlayRunner(
            quiet: quiet, verbose: verbose, levels: levels, rendersTo: writesFile ? output : nil,
            keepsFormat: file.keepFormat, fadeOut: playback.fadeOutOnQuit, sleep: listening.sleep?.duration,
            duration: duration?.duration,
            resume: resume,
            desktop: writesFile ? nil : PlayDesktop(streamer, isControlled: !noMpris))
        try runner.run(streamer, typed, at: playback.start?.duration)
        _ = consume pipe
    }
}

extension AudioTrackChoice: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

/// The ending of a kind of file, such as `mp3`.
struct FileEnding: ExpressibleByArgument {
    let format: ContainerFormat

    static var allValueStrings: [String] { ContainerFormat.knownNames }

    init?(argument: String) {
        guard let format = ContainerFormat(named: argument) else { return nil }
        self.format = format
    }
}

/// The options for the initial playback parameters.
struct PlaybackOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Playback speed: 0.25 to 32; above 4, parts are skipped.", valueName: "factor"))
    var rate = 1.0

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Pitch shift in cents: -2400 to 2400.", valueName: "cents"))
    var pitch = 0.0

    @Option(help: ArgumentHelp("Volume, in percent of the amplitude: 0 to 100.", valueName: "percent"))
    var volume = 100.0

    @Option(
        name: [.customLong("start"), .customLong("seek")],
        help: ArgumentHelp(
            "Where to begin in the first item: 1:23, 1:02:03, 83s, 1m; a bare number is in seconds.", valueName: "time")
    )
    var start: ClockTime?

    @Option(help: ArgumentHelp("Fade in over this time; a bare number is in seconds.", valueName: "time"))
    var fadeIn: Time<BareSeconds>?

    @Option(
        help: ArgumentHelp(
            "Fade out over this time when you quit, at the end of --duration, or at the end of an output file; a bare number is in seconds. Default: 500ms, and none in a file.",
            valueName: "time"))
    var fadeOut: Time<BareSeconds>?

    /// The duration of the fade-out of a card.
    var fadeOutOnQuit: Duration { fadeOut?.duration ?? .milliseconds(500) }

    func validate() throws {
        guard (0.25...32).contains(rate) else {
            throw ValidationError("--rate \(rate) is out of range: write 0.25 to 32.")
        }
        guard (-2_400...2_400).contains(pitch) else {
            throw ValidationError("--pitch \(pitch) is out of range: write -2400 to 2400.")
        }
        guard (0...100).contains(volume) else {
            throw ValidationError("--volume \(volume) is out of range: write 0 to 100.")
        }
    }

    func apply(to streamer: Streamer) {
        streamer.rate = rate
        streamer.pitch = pitch
        streamer.volume = volume / 100
        if let fadeIn { streamer.fadeIn(over: fadeIn.duration) }
    }
}

/// A position such as `83`, `83s`, `1m`, `1:23`, `1:02:03.5`.
struct ClockTime: ExpressibleByArgument {
    var duration: Duration

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count > 1 else {
            guard let time = Time<BareSeconds>(argument: argument) else { return nil }
            duration = time.duration
            return
        }
        guard parts.count <= 3, let seconds = Double(parts[parts.count - 1]), (0..<60).contains(seconds) else {
            return nil
        }
        var minutes = 0
        for part in parts.dropLast() {
            guard let number = Int(part), (0..<100_000).contains(number) else { return nil }
            minutes = minutes * 60 + number
        }
        duration = .seconds(minutes * 60) + .milliseconds(Int64((seconds * 1_000).rounded()))
    }
}
