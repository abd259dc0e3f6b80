import ArgumentParser
import TenfourCommandSupport

/// The options of `tenfour play` for talks and for the night.
struct ListeningOptions: ParsableArguments {
    @Flag(help: "Shorten pauses of speech to 200 ms. A pause is half a second or more below -45 dBFS.")
    var skipSilence = false

    @Option(
        help: ArgumentHelp(
            "Stop after this time, such as 30m or 1h; the last 20 s fade out. A bare number is in seconds.",
            valueName: "time"))
    var sleep: Time<BareSeconds>?

    /// Throws if `--sleep` cannot be used. Called by `validate`.
    func check(writesFile: Bool) throws {
        guard let sleep else { return }
        if writesFile {
            throw ValidationError("--sleep is for playing on a card: write --duration to end a file.")
        }
        guard sleep.duration >= .seconds(1) else {
            throw ValidationError("--sleep is too short: write 1s or more.")
        }
    }
}
