import ArgumentParser
import Console
import Keys
import Radio

struct Listen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Listen to a channel and play or write it.",
        discussion: """
            tenfour listen --link-file family.link -D default
            tenfour listen 'tenfour://radio.example.org/family#listen-…' -o heard.wav
            A talk link does as well.
            """)

    @Argument(help: ArgumentHelp("A listen link or a talk link.", valueName: "link"))
    var address: String?

    @OptionGroup var link: LinkOptions
    @OptionGroup var heard: HearingOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup(title: "Playing") var playout: PlayoutOptions

    func run() throws {
        try Console.checkStandardOutput([("--output", heard.output), ("--report", common.report)])
        let link = try link.link(typed: address)
        var configuration = try SessionConfiguration.joining(link, as: .listen, station: common.station())
        common.apply(to: &configuration)
        playout.apply(to: &configuration.playout)
        heard.apply(to: &configuration)
        try Conductor(quiet: common.quiet, verbose: common.verbose, keys: false, report: common.report)
            .run(configuration) { _ in "listening to the channel \(link.place)" }
    }
}
