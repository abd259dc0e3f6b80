import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourRadio

struct Play: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play URLs and files.",
        discussion: """
            tenfour play https://example.org/song.mp3
            tenfour play talk.opus --rate 1.5 --pitch -300
            tenfour play radio.m3u --proxy socks5h://127.0.0.1:1080
            tenfour play song.flac -o song.wav

            \(PlayKeys.help)
            """)

    @Argument(
        help: ArgumentHelp(
            "URLs, files, playlists (m3u, pls), or - for standard input, played one after the other.",
            valueName: "address"), completion: Completions.playable)
    var addresses: [String]

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to play on, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the audio to this WAV file, as fast as possible; - writes raw samples to standard output, alsa:NAME plays it on a sound card.",
            valueName: "destination"), completion: .file(extensions: ["wav"]))
    var output: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Channels: 1 or 2. Default: 2; in an output file, as many as the first item has.", valueName: "count"))
    var channels: Int?

    @Option(
        help: ArgumentHelp(
            "The sample rate of the output file, in hertz. Default: that of the first item.", valueName: "hertz"))
    var sampleRate: Int?

    @OptionGroup(title: "Playback") var playback: PlaybackOptions
    @OptionGroup(title: "Downloading") var download: DownloadOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Stop after this much audio; a bare number is in seconds.", valueName: "time"))
    var duration: Time<BareSeconds>?

    @Flag(help: "Repeat the queue without end.")
    var loop = false

    @Flag(name: [.customShort("V"), .long], help: "Show a live level meter of the last seconds.")
    var levels = false

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more messages.")
    var verbose = false

    func validate() throws {
        guard !addresses.isEmpty else { throw ValidationError("Nothing to play: name an address or a file.") }
        if let channels, !(1...2).contains(channels) {
            throw ValidationError("--channels \(channels) is not supported: write 1 or 2.")
        }
        if let sampleRate, !StreamerConfiguration.sampleRates.contains(sampleRate) {
            throw ValidationError("--sample-rate \(sampleRate) is out of range: write 8000 to 192000.")
        }
        if sampleRate != nil, !writesFile {
            throw ValidationError("--sample-rate is only for an output file: add -o FILE.")
        }
        try download.fetch.checkHeaders(for: addresses)
        if loop, writesFile {
            throw ValidationError("--loop never ends, so it cannot write a file: play on a card.")
        }
        if case .file(let path) = output.map({ AudioLocation($0) }), path != "-" {
            for address in addresses where Self.isSameFile(address, path) {
                throw ValidationError("\(path) is the input and would be overwritten: write to another file.")
            }
        }
    }

    /// Returns whether `address` and `path` name the same file, directly or through links.
    private static func isSameFile(_ address: String, _ path: String) -> Bool {
        guard case .file(let played) = try? Resource(address) else { return false }
        var (one, other) = (stat(), stat())
        guard unsafe stat(played, &one) == 0, unsafe stat(path, &other) == 0 else { return false }
        return one.st_mode & S_IFMT == S_IFREG && one.st_dev == other.st_dev && one.st_ino == other.st_ino
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
        configuration.sampleRate = sampleRate.map { SampleRate(hertz: $0) }
        configuration.loops = loop
        configuration.duration = duration?.duration
        configuration.startAfter = download.startAfter.duration
        download.apply(to: &configuration.download, waitsForLive: !writesFile)
        let typed = addresses.map(Secrets.reveal)
        let streamer: Streamer
        do throws(StreamError) {
            streamer = try Streamer(configuration, sampledLike: writesFile ? typed.first : nil)
        } catch {
            throw RadioError(.unavailable, error.description)
        }
        defer { streamer.close() }
        playback.apply(to: streamer)
        let runner = PlayRunner(
            quiet: quiet, verbose: verbose, levels: levels, rendersTo: writesFile ? output : nil,
            fadeOut: playback.fadeOut.duration,
            duration: duration?.duration)
        try runner.run(streamer, typed, at: playback.start?.duration)
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
        help: ArgumentHelp("Fade out over this time when you quit; a bare number is in seconds.", valueName: "time"))
    var fadeOut = Time<BareSeconds>(.milliseconds(500))

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
