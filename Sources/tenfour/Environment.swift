import Glibc

/// Options from the environment: `TENFOUR_FRAME=10ms` stands for `--frame 10ms`, before those that were typed. Links and keys
/// are not among them: see `Secrets`.
enum Environment {
    private static let switches: Set = ["speech", "music", "oneshot", "open", "quiet", "verbose", "loop", "buffer-all"]
    private static let common: Set = [
        "profile", "quiet", "verbose", "name", "rtcp", "interface", "duration", "defence", "report",
    ]
    private static let coding: Set = ["bitrate", "frame", "fec", "expect-loss", "speech", "music", "payload-type"]
    private static let playing: Set = ["jitter", "period-time", "max-latency"]
    private static let downloading: Set = ["proxy", "timeout", "buffer", "buffer-size", "buffer-all", "start-after"]
    private static let options: [String: Set<String>] = [
        "talk": common.union(coding).union(playing).union(["device", "input", "output", "port", "open", "srtp-suite"]),
        "listen": common.union(playing).union(["device", "output", "port", "oneshot", "channels"]),
        "send": common.union(coding).union([
            "device", "input", "port", "sdp", "ttl", "channels", "rate", "format", "max-latency", "srtp-suite",
        ]).union(downloading),
        "recv": common.union(playing).union([
            "device", "output", "port", "oneshot", "channels", "payload-type", "srtp-suite",
        ]),
        "play": downloading.union([
            "device", "output", "channels", "quiet", "verbose", "rate", "pitch", "volume", "loop", "fade-in",
            "fade-out", "duration",
        ]),
    ]

    /// Those that were typed, the first of them a command, with those from the environment before them.
    static func arguments(for typed: [String]) -> [String] {
        guard let command = typed.first else { return typed }
        var settings = settings(for: command)
        // A card that is named leaves no room for what the environment would have in its place.
        if typed.contains(where: { $0.hasPrefix("-D") || $0.hasPrefix("--device") }) {
            settings.removeAll { $0.option == "input" || $0.option == "output" }
        }
        return [command] + settings.compactMap(\.argument) + typed.dropFirst()
    }

    /// For one who wonders about an option that was never typed: a line for each that was found, or nothing.
    static func reminder(for typed: [String]) -> String {
        settings(for: typed.first ?? "").map { "\n  In the environment: \($0.variable)=\($0.value)" }.joined()
    }

    private struct Setting {
        var option: String
        var variable: String
        var value: String

        /// Nil for a switch that is off.
        var argument: String? {
            guard switches.contains(option) else { return "--\(option)=\(value)" }
            return value == "0" ? nil : "--\(option)"
        }
    }

    private static func settings(for command: String) -> [Setting] {
        (options[command] ?? []).sorted().compactMap { option in
            let variable = "TENFOUR_" + String(option.uppercased().map { $0 == "-" ? "_" : $0 })
            let value = unsafe getenv(variable).map { unsafe String(cString: $0) } ?? ""
            return value.isEmpty ? nil : Setting(option: option, variable: variable, value: value)
        }
    }
}
