import ArgumentParser
import TenfourRadio

/// The options for the output of received audio.
struct OutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to play on, by its ALSA name.", valueName: "name"))
    var device: CardName?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write received audio to this WAV file; - writes raw samples to standard output, alsa:NAME plays it on a sound card. With -D, it is also played.",
            valueName: "destination"), completion: .file(extensions: ["wav"]))
    var output: String?

    @Flag(name: [.customShort("1"), .long], help: "End when every talker has left.")
    var oneshot = false

    @Option(name: .shortAndLong, help: ArgumentHelp("1 for mono, 2 for stereo.", valueName: "count"))
    var channels: Int?

    func validate() throws {
        if let channels, !(1...2).contains(channels) {
            throw ValidationError("--channels \(channels) is not supported: write 1 or 2.")
        }
    }

    func apply(to configuration: inout RadioConfiguration) {
        if let channels { configuration.playout.channelCount = channels }
        configuration.endsWithLastSource = oneshot
        configuration.output = .card(device?.name ?? "default")
        if let output {
            AudioLocation(output).apply(to: &configuration)
            if let device { configuration.output = .card(device.name) }
        }
    }
}
