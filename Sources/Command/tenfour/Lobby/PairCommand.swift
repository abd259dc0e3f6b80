import ArgumentParser
import TenfourCommandSupport
import TenfourPackets

/// `tenfour pair`: makes a channel for two, and talks in it.
struct PairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair", abstract: "Make an encrypted channel for two, from three words said aloud.",
        usage: """
            tenfour pair [<options>] [<host>] [<words> ...]
            tenfour pair [<options>] --relay <host[:port]> [<number> <words> ...]
            """,
        discussion: """
            tenfour pair                   # on both machines: each shows three words
            tenfour pair bob.local         # with a station that is not in the list
            tenfour pair --relay HOST      # the same for two behind routers
            tenfour pair bob.local acorn badger cabin

            One person says the words that are shown, and the other chooses the station and types them. Both then talk in the channel, \
            and each end saves it: under the name of the other station if it is known, otherwise as pair until the other station appears. tenfour talk NAME finds it.
            """)

    @Argument(
        help: ArgumentHelp(
            "The station that shows the words: a host name or address, with :PORT if the port is not \(RTPDefaults.port). Default: lists the stations nearby on which tenfour pair also runs.",
            valueName: "host"))
    var host: String?

    @Argument(
        help: ArgumentHelp("The three words that the other station shows. Default: they are typed.", valueName: "words")
    )
    var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Pair through this relay, which then forwards the channel's packets: both stations may be behind routers. Its operator has to allow it. The arguments are then the number and the words that the other station shows. Default: pairs with a station nearby.",
            valueName: "host[:port]"))
    var relay: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The port to receive on, and without --relay that of the channel, 1 to 65535. Default: \(RTPDefaults.port); with --relay, any that is free.",
            valueName: "port"))
    var port: UInt16?

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to capture from and to play on, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @Option(
        help: ArgumentHelp(
            "Send this sound file instead of the microphone; alsa:NAME is another card.", valueName: "source"),
        completion: Completions.soundFile)
    var input: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write audio to this WAV file instead of playing it; alsa:NAME plays it on another card.",
            valueName: "destination"), completion: .file(extensions: ["wav"]))
    var output: String?

    @OptionGroup(title: "Microphone") var microphone: MicrophoneOptions
    @OptionGroup(title: "Voice") var voice: VoiceOptions
    @OptionGroup(title: "Recording") var recording: RecordOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup(title: "Coding") var coding: CodingOptions
    @OptionGroup(title: "Playing") var playout: PlayoutOptions

    func validate() throws { try checkPort(port) }

    func run() throws {
        let request = try PairingRequest([host].compactMap { $0 } + words, relay: relay)
        try coding.checkChannel()
        try talk().pair(request)
    }

    /// The command that talks in the channel, with the options of this one.
    private func talk() throws -> Talk {
        var talk = try Talk.parse([])
        (talk.port, talk.device, talk.input, talk.output) = (port, device, input, output)
        (talk.microphone, talk.voice, talk.recording) = (microphone, voice, recording)
        (talk.clock, talk.common, talk.coding, talk.playout) = (clock, common, coding, playout)
        return talk
    }
}
