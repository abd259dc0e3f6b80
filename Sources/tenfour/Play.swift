import ArgumentParser
import Console
import Feed
import Glibc
import Player
import Radio

struct Play: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play what lies at addresses or in files.",
        discussion: """
            tenfour play https://example.org/song.mp3
            tenfour play talk.opus --rate 1.5 --pitch -300
            tenfour play radio.m3u --proxy socks5h://127.0.0.1:1080
            tenfour play song.flac -o song.wav

            \(PlayKeys.help)
            """)

    @Argument(help: ArgumentHelp("URLs, files, playlists (m3u, pls), or -, one after the other.", valueName: "address"))
    var addresses: [String]

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to play on, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write it to a WAV file or, raw, to - instead, faster than it sounds; or alsa:NAME.", valueName: "place"))
    var output: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Channels: 1 or 2.", valueName: "count"))
    var channels: Int?

    @OptionGroup(title: "Sound") var sound: PlayedSoundOptions
    @OptionGroup(title: "Downloading") var download: DownloadOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("End after so much sound; a bare number is in seconds.", valueName: "time"))
    var duration: Time<BareSeconds>?

    @Flag(help: "Begin again at the end.")
    var loop = false

    @Flag(name: [.customShort("V"), .long], help: "Show live how loud it is, over the last seconds.")
    var levels = false

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say more.")
    var verbose = false

    func validate() throws {
        guard !addresses.isEmpty else { throw ValidationError("Nothing to play: name an address or a file.") }
        if let channels, !(1...2).contains(channels) {
            throw ValidationError("--channels \(channels) is not played: write 1 or 2.")
        }
        if loop, writesFile {
            throw ValidationError("--loop never ends, and a file would not: play it on a card.")
        }
        if case .file(let path) = output.map({ Place($0) }), path != "-" {
            for address in addresses where Self.isSameFile(address, path) {
                throw ValidationError("\(path) is played and would be written over: write to another file.")
            }
        }
    }

    /// By whatever names and links.
    private static func isSameFile(_ address: String, _ path: String) -> Bool {
        guard case .file(let played) = try? Resource(address) else { return false }
        var (one, other) = (stat(), stat())
        guard unsafe stat(played, &one) == 0, unsafe stat(path, &other) == 0 else { return false }
        return one.st_mode & S_IFMT == S_IFREG && one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    private var writesFile: Bool {
        if case .file = output.map({ Place($0) }) { true } else { false }
    }

    func run() throws {
        var configuration = StreamerConfiguration()
        configuration.output = .card(device.name)
        switch output.map({ Place($0) }) {
        case .none: break
        case .card(let name): configuration.output = .card(name)
        case .file(let path): configuration.output = .file(path)
        }
        if let channels { configuration.channelCount = channels }
        configuration.loops = loop
        configuration.duration = duration?.duration
        download.apply(to: &configuration)
        let streamer: Streamer
        do throws(StreamError) {
            streamer = try Streamer(configuration)
        } catch {
            throw RadioError(.unavailable, error.description)
        }
        defer { streamer.close() }
        sound.apply(to: streamer)
        let conductor = PlayConductor(
            quiet: quiet, verbose: verbose, levels: levels, rendersTo: writesFile ? output : nil,
            fadeOut: sound.fadeOut.duration,
            duration: duration?.duration)
        try conductor.run(streamer, addresses, at: sound.start?.duration)
    }
}

/// How it sounds at first.
struct PlayedSoundOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How fast: 0.25 to 4, to 32 to skim through.", valueName: "factor"))
    var rate = 1.0

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How much higher, in cents: -2400 to 2400.", valueName: "cents"))
    var pitch = 0.0

    @Option(help: ArgumentHelp("How loud, in percent of the amplitude: 0 to 100.", valueName: "percent"))
    var volume = 100.0

    @Option(
        name: [.customLong("start"), .customLong("seek")],
        help: ArgumentHelp(
            "Where the first begins: 1:23, 1:02:03, 83s; a bare number is in seconds.", valueName: "time"))
    var start: ClockTime?

    @Option(help: ArgumentHelp("Come up from silence over so long; a bare number is in seconds.", valueName: "time"))
    var fadeIn: Time<BareSeconds>?

    @Option(help: ArgumentHelp("Fade over so long when you quit; a bare number is in seconds.", valueName: "time"))
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

/// How bytes are fetched.
struct DownloadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A proxy for HTTP: http://HOST:PORT, socks5h://HOST:PORT; unless told, as the environment has it.",
            valueName: "address"))
    var proxy: String?

    @Option(help: ArgumentHelp("Sound to keep ahead; a bare number is in seconds.", valueName: "time"))
    var buffer = Time<BareSeconds>(.seconds(30))

    @Option(help: ArgumentHelp("Bytes to keep ahead, whatever they sound like: 2M, 500k.", valueName: "size"))
    var bufferSize: ByteCount?

    @Flag(help: "Fetch all of it as fast as it comes, onto the disk.")
    var bufferAll = false

    @Option(help: ArgumentHelp("Begin when so much is here; a bare number is in seconds.", valueName: "time"))
    var startAfter = Time<BareSeconds>(.zero)

    @Option(
        help: ArgumentHelp(
            "Wait so long for a connection, or for the next byte; a bare number is in seconds.", valueName: "time"))
    var timeout = Time<BareSeconds>(.seconds(10))

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("A line that goes with every request, such as 'Authorization: Bearer …'.", valueName: "line")
    )
    var header: [String] = []

    func validate() throws {
        if startAfter.duration > buffer.duration, bufferSize == nil, !bufferAll {
            throw ValidationError("--start-after is more than --buffer keeps: write a longer --buffer.")
        }
        // What it says may be a secret, and is not said again.
        if header.contains(where: { !$0.contains(":") || $0.hasPrefix(":") }) {
            throw ValidationError("--header has no name before a colon: write 'Name: value'.")
        }
        guard timeout.duration > .zero else { throw ValidationError("--timeout 0 leaves no time: write 1s or more.") }
    }

    func apply(to configuration: inout StreamerConfiguration) {
        configuration.startAfter = startAfter.duration
        configuration.download.proxy = proxy
        configuration.download.timeout = timeout.duration
        configuration.download.bufferedDuration = buffer.duration
        configuration.download.bufferedByteCount = bufferSize?.byteCount
        configuration.download.buffersAll = bufferAll
        configuration.download.headers = header
    }
}

/// A position as players show it: `83`, `83s`, `1:23`, `1:02:03.5`.
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

/// `500k`, `2M`, or bytes.
struct ByteCount: ExpressibleByArgument {
    var byteCount: Int

    init?(argument: String) {
        let units: [Character: Double] = ["k": 1_024, "K": 1_024, "M": 1_048_576, "G": 1_073_741_824]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Double(unit == nil ? argument : String(argument.dropLast())), number > 0, number < 1e9 else {
            return nil
        }
        byteCount = Int(min(number * (unit ?? 1), 1e12))
    }
}
