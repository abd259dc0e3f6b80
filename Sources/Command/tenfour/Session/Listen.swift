import ArgumentParser
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourRadio

struct Listen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Listen to a channel.",
        discussion: """
            tenfour listen LINK
            tenfour listen --link-file family.link -o heard.wav
            """)

    @Argument(
        help: ArgumentHelp(
            "The channel's link (a listen link is enough), or the name of a saved channel.", valueName: "link"),
        completion: Completions.channel)
    var link: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The port to receive on, 1 to 65535. Default: any.", valueName: "port"))
    var port: UInt16?

    @OptionGroup var links: LinkOptions
    @OptionGroup var wait: HostWaitOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var outputs: OutputOptions
    @OptionGroup(title: "Recording") var recording: RecordOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup(title: "Playing") var playout: PlayoutOptions

    func validate() throws {
        try links.checkPresence(of: link, named: "<link>")
        try checkPort(port)
    }

    func run() throws {
        try Console.checkStandardOutput([("--output", outputs.output), ("--report", common.report)])
        let channel = try links.link(typed: link, quiet: common.quiet)
        let name = links.name(of: channel, typed: link)
        let host = HostWait(isPatient: wait.wait || links.isSaved(link), limit: common.duration?.duration)
        var configuration = try host.find { () throws(RadioError) in
            try RadioConfiguration.entering(channel, as: .listen, rtpSession: common.rtpSession(), localPort: port)
        }
        common.apply(to: &configuration)
        clock.apply(to: &configuration)
        playout.apply(to: &configuration.playout)
        outputs.apply(to: &configuration)
        let recording = try recording.start(&configuration, channel: name)
        try SessionRunner(
            quiet: common.quiet, verbose: common.verbose, display: common.display, report: common.report,
            metrics: common.metricsSettings, recording: recording
        )
        .run(configuration) { _ in "listening to channel \(name)\(configuration.meetingPlace)" }
    }
}
