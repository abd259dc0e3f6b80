import ArgumentParser
import Glibc
import Radio

/// The command. Each subcommand turns arguments into a session and shows how it goes.
@main
struct Tenfour: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenfour",
        abstract: "Talk between Linux machines the way a walkie-talkie does.",
        discussion: """
            Sound is Opus in plain RTP, so that ffmpeg, mpv and GStreamer hear it too. What is printed for people goes to \
            standard error; standard output carries only sound and lists. Every option may also be given in the environment: \
            TENFOUR_BITRATE=24k is --bitrate 24k.

            Exit codes: 0 done, also by Ctrl-C; 1 it failed while it ran; 2 wrong use; 69 a device, file, port or host is \
            not to be had.
            """,
        version: "tenfour 0.1",
        subcommands: [Talk.self, Send.self, Recv.self, Devices.self])

    static func main() {
        do {
            var command = try parseAsRoot(Environment.arguments(for: Array(CommandLine.arguments.dropFirst())))
            try command.run()
        } catch let error as RadioError {
            Terminal.say("tenfour: \(error)")
            Glibc.exit(error.exitCode)
        } catch {
            let isUsage = exitCode(for: error) == .validationFailure
            let text = fullMessage(for: error)
            if isUsage { Terminal.say(text) } else if !text.isEmpty { Terminal.put(text + "\n") }
            Glibc.exit(isUsage ? 2 : exitCode(for: error).rawValue)
        }
    }
}

extension RadioError {
    /// As BSD's sysexits has it where it has one.
    var exitCode: Int32 {
        switch kind {
        case .usage: 2
        case .unavailable: EX_UNAVAILABLE
        case .failure: 1
        }
    }
}

/// Options from the environment: `TENFOUR_FRAME=10ms` stands for `--frame 10ms`, before those that were typed.
enum Environment {
    private static let switches: Set = ["speech", "music", "oneshot", "quiet", "verbose"]
    private static let common: Set = ["profile", "quiet", "verbose", "name", "rtcp", "interface", "duration"]
    private static let coding: Set = ["bitrate", "frame", "fec", "expect-loss", "speech", "music", "payload-type"]
    private static let playing: Set = ["jitter", "period-time", "max-latency"]
    private static let options: [String: Set<String>] = [
        "talk": common.union(coding).union(playing).union(["device", "input", "output", "port"]),
        "send": common.union(coding).union(["device", "input", "port", "sdp", "ttl", "channels", "rate", "format"]),
        "recv": common.union(playing).union(["device", "output", "port", "oneshot", "channels", "payload-type"]),
    ]

    static func arguments(for typed: [String]) -> [String] {
        guard let name = typed.first, let options = options[name] else { return typed }
        var given: [String] = []
        for option in options.sorted() {
            let variable = "TENFOUR_" + String(option.uppercased().map { $0 == "-" ? "_" : $0 })
            guard let value = unsafe getenv(variable).map({ unsafe String(cString: $0) }), !value.isEmpty else { continue }
            if switches.contains(option) {
                if value != "0" { given.append("--\(option)") }
            } else {
                given.append("--\(option)=\(value)")
            }
        }
        return [name] + given + typed.dropFirst()
    }
}
