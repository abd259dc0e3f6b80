import Glibc
import TenfourAudioCore
import TenfourChannelKeys

/// Options from environment variables: `TENFOUR_FRAME=10ms` means `--frame 10ms`. Typed options override variables.
/// Variables with links and secret keys are handled by `Secrets`.
enum Environment {
    private static let switches: Set = [
        "speech", "music", "oneshot", "open", "quiet", "verbose", "json", "levels", "dark", "blocks", "loop", "shuffle",
        "resume",
        "buffer-all", "allow-http", "anonymous", "vox", "duplex",
        "no-history", "plain", "no-mpris", "no-gain", "no-waveform", "normalize", "keep-format", "skip-silence",
        "echo-cancel", "no-echo-cancel", "denoise", "agc", "dtx", "floor", "floor-queue", "notify",
    ]
    /// The options that take several values. The variable contains the values separated by spaces.
    private static let lists: Set = ["rtp-in", "rtp-out", "web", "http-host", "web-proxy", "icecast", "ptt", "monitor"]
    /// The options of all sessions.
    private static let common: Set = [
        "profile", "quiet", "verbose", "levels", "plain", "name", "anonymous", "rtcp", "interface", "duration",
        "defence", "report", "metrics", "http-host",
    ]
    private static let coding: Set = [
        "codec", "bitrate", "frame", "fec", "expect-loss", "speech", "music", "capture-channel", "payload-type",
    ]
    /// The encoder's options that apply to Opus only.
    private static let opus: Set = ["bitrate", "fec", "expect-loss", "speech", "music"]
    private static let playing: Set = ["jitter", "period-time", "max-latency", "decoder"]
    private static let relaying: Set = [
        "config", "bind", "workers", "rtp-in", "rtp-out", "http", "web", "web-address", "icecast", "status-socket",
        "nats", "cluster-key", "metrics", "quiet", "http-host", "web-proxy",
    ]
    private static let recording: Set = ["record", "record-limit", "no-history"]
    private static let talking = common.union(coding).union(playing).union(recording).union([
        "clock", "device", "input", "output", "port", "open", "ptt", "time-out", "vox", "pre-roll", "duplex", "tones",
        "echo-cancel", "no-echo-cancel", "denoise", "agc", "microphone-gain", "dtx", "floor", "floor-queue",
    ])
    private static let fetching: Set = ["proxy", "timeout", "give-up-after", "allow-http", "ca-file"]
    private static let downloading = fetching.union(["buffer", "buffer-size", "buffer-all", "start-after"])
    /// The permitted options of each command.
    static let options: [String: Set<String>] = [
        "talk": talking.union(["monitor", "wait", "srtp-suite", "rate", "format", "notify"]),
        "pair": talking,
        "listen": common.union(playing).union(recording).union([
            "clock", "device", "output", "port", "oneshot", "channels", "wait",
        ]),
        "send": common.union(coding).union([
            "clock", "device", "input", "port", "sdp", "ttl", "channels", "rate", "format", "max-latency", "srtp-suite",
            "no-waveform", "wait",
        ]).union(downloading),
        "recv": common.union(playing).union(recording).union([
            "device", "output", "port", "oneshot", "channels", "payload-type", "srtp-suite",
        ]),
        "relay": relaying,
        "relay status": ["status-socket", "json"],
        "near": ["json"],
        "log": ["record", "json"],
        "doctor": ["device", "port", "clock", "json"],
        "log play": ["record", "device", "quiet", "rate", "pitch", "volume", "fade-in", "fade-out"],
        "plot": fetching.union([
            "channels", "rate", "format", "quiet", "bar-width", "spacing", "floor", "size", "dark", "blocks",
        ]),
        "play": downloading.union([
            "device", "output", "channels", "sample-rate", "quiet", "verbose", "levels", "rate", "pitch", "volume",
            "keep-format", "format", "track", "skip-silence", "sleep", "loop", "shuffle", "repeat", "crossfade",
            "resume", "no-mpris", "fade-in", "fade-out", "duration", "eq", "bass", "treble", "normalize", "gain",
            "no-gain", "no-waveform",
        ]),
    ]

    /// Returns the typed arguments with the options from the environment inserted after the command.
    static func arguments(for typed: [String]) -> [String] {
        let command = command(in: typed)
        var settings = settings(for: command.joined(separator: " "))
        // A typed card overrides an input or output from the environment.
        if typed.contains(where: { $0.hasPrefix("-D") || $0.hasPrefix("--device") }) {
            settings.removeAll { $0.option == "input" || $0.option == "output" }
        }
        // A typed `--name` overrides `--anonymous` from the environment, and a typed `--anonymous` overrides `--name`.
        for (option, other) in [("--name", "anonymous"), ("--anonymous", "name")]
        where typed.contains(where: { $0 == option || $0.hasPrefix(option + "=") }) {
            settings.removeAll { $0.option == other }
        }
        // With a typed G.711 codec, Opus options from the environment are ignored.
        let pairs = zip(typed, typed.dropFirst()).map { "\($0)=\($1)" } + typed
        if pairs.contains("--codec=pcmu") || pairs.contains("--codec=pcma") {
            settings.removeAll { opus.contains($0.option) }
        }
        return command + settings.flatMap(\.arguments) + typed.dropFirst(command.count)
    }

    /// Returns the command: one word, or two if the subcommand has options of its own.
    private static func command(in typed: [String]) -> [String] {
        let isLonger = options[typed.prefix(2).joined(separator: " ")] != nil
        return Array(typed.prefix(isLonger ? 2 : 1))
    }

    /// Returns a list of the options from the environment, to be appended to an error message; empty if there are none.
    static func reminder(for typed: [String]) -> String {
        let found = settings(for: command(in: typed).joined(separator: " ")).map {
            "\($0.variable)=\(Secrets.shown($0.value, of: $0.option))"
        }
        return found.isEmpty ? "" : "; in the environment: \(found.joined(separator: ", "))"
    }

    /// Returns a warning for each variable `TENFOUR_…` that belongs to no option.
    static var warnings: [String] {
        let known = Set(options.values.joined().map(variable(of:))).union(others)
        let words = known.map { $0.lowercased() }.sorted()
        return names.filter { !known.contains($0) }.sorted().map { name in
            let nearest = Spelling.nearest(to: name, among: words).map { $0.uppercased() }
            let list = "tenfour COMMAND --help lists the options"
            let remedy = nearest.isEmpty ? list : "did you mean \(nearest.joined(separator: " or "))?"
            return "\(String(fromPeer: name)) in the environment has no effect: \(remedy)"
        }
    }

    /// Known variables that set no option: secrets, the clock's state, and settings of tests and tools.
    private static let others: Set = [
        Secrets.link, Secrets.key, "TENFOUR_CLOCK", "TENFOUR_LABCARD", "TENFOUR_LONG", "TENFOUR_HOURS", "TENFOUR_FUZZ",
        "TENFOUR_FUZZ_TARGET",
    ]

    /// The names of all variables that begin with `TENFOUR_`.
    private static var names: [String] {
        var names: [String] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let name = unsafe String(cString: text).prefix { $0 != "=" }
            if name.hasPrefix("TENFOUR_") { names.append(String(name)) }
            unsafe entry += 1
        }
        return names
    }

    private static func variable(of option: String) -> String {
        "TENFOUR_" + String(option.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    private struct Setting {
        var option: String
        var variable: String
        var value: String

        /// The option as arguments; empty for a switch that is off.
        var arguments: [String] {
            if switches.contains(option) { return value == "0" ? [] : ["--\(option)"] }
            let values = lists.contains(option) ? value.split(separator: " ").map(String.init) : [value]
            return values.map { "--\(option)=\($0)" }
        }
    }

    private static func settings(for command: String) -> [Setting] {
        (options[command] ?? []).sorted().compactMap { option in
            let variable = variable(of: option)
            let value = unsafe getenv(variable).map { unsafe String(cString: $0) } ?? ""
            return value.isEmpty ? nil : Setting(option: option, variable: variable, value: value)
        }
    }
}
