import ArgumentParser
import Console

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

            \(Console.exitCodes)
            """,
        version: "tenfour 0.1",
        subcommands: [
            Talk.self, Listen.self, Send.self, Recv.self, ChannelCommand.self, RelayCommand.self, Devices.self,
        ])

    static func main() {
        // Before anything else: until then others can see them.
        Secrets.keepOutOfCoreFiles()
        let typed = Secrets.takeFromArguments()
        Secrets.takeFromEnvironment()
        runAndExit(
            named: "tenfour", Environment.arguments(for: typed), reminder: Environment.reminder(for: typed))
    }
}
