import ArgumentParser
import Console
import Keys
import RTP
import Radio
import SoundFile

struct Talk: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Talk and listen, with one other station or in a channel.",
        discussion: """
            On one machine: tenfour talk bob.local; on the other: tenfour talk alice.local. In a channel: tenfour talk LINK \
            (tenfour channel new makes one), or with --link-file. The microphone begins closed, since \
            two open ones with loudspeakers howl. Keys: space opens and closes it, m silences the speaker, q quits, ? helps.
            """)

    @Argument(
        help: ArgumentHelp(
            "Who to talk with: a name or address, with :PORT where it is not \(RTPDefaults.port); or a channel's link.",
            valueName: "host|link"))
    var partner: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The port to receive on, unless told \(RTPDefaults.port).", valueName: "port"))
    var port: UInt16?

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card, for both ways, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @Option(
        help: ArgumentHelp("Where your sound comes from instead: alsa:NAME, a sound file, or -.", valueName: "place"))
    var input: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Where theirs goes instead: alsa:NAME, a WAV file, or -.", valueName: "place"))
    var output: String?

    @Flag(help: "Begin with the microphone open.")
    var open = false

    @OptionGroup var link: LinkOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup(title: "Coding") var coding: CodingOptions
    @OptionGroup(title: "Playing") var playout: PlayoutOptions

    func run() throws {
        try Console.checkStandardOutput([("--output", output), ("--report", common.report)])
        var (configuration, title) = try conversation()
        common.apply(to: &configuration)
        coding.apply(to: &configuration.coding)
        playout.apply(to: &configuration.playout)
        configuration.beginsOpen = open
        configuration.input = input.map { Place($0).input(raw: $0 == "-" ? RawFormat() : nil) } ?? .card(device.name)
        configuration.output = .card(device.name)
        if let output { Place(output).apply(to: &configuration) }
        try Conductor(quiet: common.quiet, verbose: common.verbose, keys: true, report: common.report).run(
            configuration
        ) { _ in title }
    }

    /// With whom, and how that is said.
    private func conversation() throws -> (SessionConfiguration, title: String) {
        let station = common.station(payloadType: coding.payloadType)
        switch try link.address(typed: partner, quiet: common.quiet) {
        case .rtp(let address):
            let configuration = try SessionConfiguration.talking(
                with: address, station: station, localPort: port ?? RTPDefaults.port)
            return (configuration, "talking with \(partner ?? address.host)")
        case .channel(let link):
            return (
                try .joining(link, as: .talk, station: station, localPort: port), "in the channel \(link.place)"
            )
        case .srtp: throw RadioError(.usage, "srtp:// is not talked with")
        case nil:
            throw RadioError(
                .usage, "there is nobody to talk with: write a host, a channel's link, or --link-file with one")
        }
    }
}

extension Place {
    func input(raw: RawFormat?) -> SessionConfiguration.Input {
        switch self {
        case .card(let name): .card(name)
        case .file(let path): .file(path, raw: raw)
        }
    }

    /// As the only output: a file has no card beside it.
    func apply(to configuration: inout SessionConfiguration) {
        switch self {
        case .card(let name): configuration.output = .card(name)
        case .file(let path):
            configuration.output = .clock
            configuration.recording = .file(path)
        }
    }
}
