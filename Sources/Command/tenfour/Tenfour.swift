import ArgumentParser
import TenfourCommandSupport

/// The main command. Each subcommand turns arguments into a session and shows its state.
@main
struct Tenfour: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenfour",
        abstract: "Talk between Linux machines as with walkie-talkies.",
        discussion: """
            tenfour talk bob.local
            tenfour channel new family --relay radio.example.org
            tenfour talk --link-file family.link
            tenfour relay --config relay.conf

            Audio is sent as Opus in RTP. ffmpeg, mpv and GStreamer can play unencrypted streams; in a channel, audio is \
            encrypted end to end. Messages go to standard error; standard output carries only audio and data. \
            Options can also be set in the environment: TENFOUR_BITRATE=24k means --bitrate 24k.

            \(Console.exitCodes) play also ends with 3 if some of several files could not be played.
            """,
        version: "tenfour \(number)",
        subcommands: [
            Talk.self, PairCommand.self, NearCommand.self, Listen.self, Send.self, Recv.self, LogCommand.self,
            Play.self, PlotCommand.self,
            ChannelCommand.self, IDCommand.self, RelayCommand.self, RadioCommand.self, PTTCommand.self, Devices.self,
            DoctorCommand.self,
        ], helpNames: .help)

    /// The version number.
    static let number = "0.5"

    static func main() {
        // Removes the secrets first, because until then other users can see them in the arguments.
        Secrets.keepInThisProcess()
        let typed = Secrets.extractFromArguments()
        Secrets.extractFromEnvironment()
        if let script = CompletionScript.requested(by: typed) { return Console.write(script + "\n") }
        // Prints no warnings to a shell that asks for completions, which would show them in the middle of the typed
        // line.
        let isShell = typed.first == "---completion" || CompletionScript.isRequested(by: typed)
        if !typed.contains("-q"), !typed.contains("--quiet"), !isShell {
            for warning in Environment.warnings { Console.log("tenfour: \(warning)") }
        }
        runAndExit(
            named: "tenfour", LobbyOptions.withNames(PlottedPart.withCount(Environment.arguments(for: typed))),
            usual: UsualOptions.table,
            check: { try CommandNames.check(typed) },
            reminder: Environment.reminder(for: typed))
    }
}
