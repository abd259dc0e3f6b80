import ArgumentParser
import TenfourAudioCore
import TenfourCommandSupport
import TenfourRadio

/// `tenfour radio --config FILE`: talks without a terminal, until it is stopped.
struct RadioCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "radio", abstract: "Talk without a terminal, as a service.",
        usage: "tenfour radio [--config <file>] [--check]\ntenfour radio --example",
        discussion: """
            tenfour radio --example > radio.conf
            tenfour radio --config radio.conf --check
            systemctl --user enable --now tenfour-radio

            The keys of radio.conf are options of tenfour talk. The station starts without a card, a network or the right \
            time, and tries again until it has them. tenfour ptt opens its microphone; so do keys, pedals and GPIO lines (ptt).
            """)

    @Option(
        help: ArgumentHelp("The configuration file. Default: ~/.config/tenfour/radio.conf.", valueName: "file"),
        completion: .file(extensions: ["conf"]))
    var config: String?

    @Flag(help: "Check the configuration, and end.")
    var check = false

    @Flag(help: "Print a configuration with all keys and their defaults, and end.")
    var example = false

    func run() throws {
        TalkSignals.begin()
        if example { return Terminal.write(RadioFile.example) }
        guard let path = config ?? SavedLink.folder.map({ $0 + "/radio.conf" }) else {
            throw RadioError(.usage, "there is no configuration: write --config FILE")
        }
        let file = try RadioFile(path: path)
        try file.talk.checkService()
        if check {
            return Terminal.write("\(String(fromPeer: path)): no errors in \(file.count) settings\n")
        }
        try RadioService(file.talk).run()
    }
}
