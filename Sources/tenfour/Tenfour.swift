import ArgumentParser
import Console
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
        let typed = Array(CommandLine.arguments.dropFirst())
        do {
            var command = try parseAsRoot(Environment.arguments(for: typed))
            try command.run()
        } catch let error as RadioError {
            Terminal.say("tenfour: \(error)")
            Glibc.exit(error.exitCode)
        } catch {
            let isUsage = exitCode(for: error) == .validationFailure
            let text = fullMessage(for: error)
            if isUsage {
                Terminal.say(text + Environment.reminder(for: typed))
            } else if !text.isEmpty {
                Terminal.put(text + "\n")
            }
            Glibc.exit(isUsage ? 2 : exitCode(for: error).rawValue)
        }
    }
}
