public import ArgumentParser
import TenfourAudioCore
import TenfourAudioFile
import TenfourCallQuality
import TenfourCommandSupport
import TenfourJSON
import TenfourLinkTest
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRadio
public import TenfourSession
import TenfourUV

@main struct Check: ParsableCommand {
    static let name = ToolName.shown("radiocheck")

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Sends speech to another station and back, measures the link, and says what to change.",
        usage: """
            \(name) bob.local    # bob runs \(name) --answer, or tenfour talk
            \(name) --answer     # sends back the speech of others
            \(name) --network wifi-bad --seed 7
            \(name) --network lte --json --min-score 3.5
            """,
        discussion: """
            With \(name) --answer at the other end, speech and NACKs travel in both directions, and losses, bursts, jitter, \
            delay and drift are those of the round trip. With tenfour talk, they come from its reports about the outward path. \
            --network simulates the same network in both directions, faster than real time and with the same result each time; \
            \(ToolName.shown("badlink")) --list shows the networks. The score is that of the E-model (ITU-T G.107), 1 to 4.5; \
            in --json it is `score`; `whole` repeats it if the speech came back.

            --answer returns each packet that it receives at most once, and only to an address that has \
            proved that it can receive.

            \(Console.exitCodes) It also ends with 1 if the score is below --min-score, and with 69 if nobody answers.
            """, helpNames: .help)

    @Argument(
        help: ArgumentHelp(
            "The station to check: a host name or address, with :PORT if the port is not \(RTPDefaults.port).",
            valueName: "host"))
    var host: String?

    @Flag(help: "Answer other stations' checks instead of checking one.") var answer = false

    @Option(
        help: ArgumentHelp(
            "Check a simulated network instead of a station: a name or a description as for badlink.",
            valueName: "network"), completion: .list(NamedNetwork.all.map(\.name)))
    var network: String?

    @Option(help: ArgumentHelp("The random seed of the simulated network.", valueName: "number")) var seed: UInt64 = 1

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The port to use. Default: \(RTPDefaults.port) with --answer, otherwise any.", valueName: "port"))
    var port: UInt16?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("How long to send speech; a bare number is in seconds.", valueName: "time"))
    var duration = Time<BareSeconds>(.seconds(10))

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Bit rate of Opus, 6k to 510k; a bare number is in kbit/s.", valueName: "rate"))
    var bitrate = BitRate(32_000)

    @Option(help: ArgumentHelp("Loss protection: \(modes).", valueName: "mode"))
    var defence: LossProtectionConfiguration.Mode = .auto

    @Option(
        help: ArgumentHelp(
            "Maximum depth of the jitter buffer; a bare number is in milliseconds. Default: 1 s; waiting for retransmissions raises the depth to 100 ms at most.",
            valueName: "time"))
    var maxLatency: Time<BareMilliseconds>?

    @Option(
        help: ArgumentHelp(
            "The speech to send: a sound file, mono at 48 kHz. Default: the voice samples of the package alsa-utils.",
            valueName: "file"), completion: .file(extensions: ["wav"]))
    var speech: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Write the received speech to a WAV file.", valueName: "file"),
        completion: .file(extensions: ["wav"]))
    var output: String?

    @Flag(help: "Write the result to standard output as JSON.") var json = false

    @Option(
        help: ArgumentHelp("Write the result to this file as a JUnit report.", valueName: "file"),
        completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(help: ArgumentHelp("Exit with 1 if the score is below this.", valueName: "score")) var minScore: Double?

    private static var modes: String {
        LossProtectionConfiguration.Mode.allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// The options that --help shows; --help-all shows all.
    static let usual = [
        "answer", "network", "seed", "port", "duration", "bitrate", "defence", "output", "json", "min-score",
    ]

    static func main() { runAndExit(named: name, usual: [_commandName: usual]) }

    func validate() throws {
        let ways = (host == nil ? 0 : 1) + (answer ? 1 : 0) + (network == nil ? 0 : 1)
        guard ways == 1 else {
            throw ValidationError("Write one of these: a host, --answer, or --network with a name.")
        }
        guard duration.duration >= .milliseconds(100), duration.duration <= .seconds(3_600) else {
            throw ValidationError("--duration \(text(of: duration.duration)) is out of range: write 0.1s to 60min.")
        }
        if let minScore, !(1...4.5).contains(minScore) {
            throw ValidationError("--min-score \(minScore) is not on the scale: write 1 to 4.5.")
        }
        try checkDepth(maxLatency?.duration, of: "--max-latency")
    }

    func run() throws {
        guard !answer else { return try answerOthers() }
        try Console.checkStandardOutput([("--output", output), ("--json", json ? "-" : nil), ("--junit", junit)])
        let report = try junit.map { path throws(RadioError) in try OutputFile(path: path) }
        let heard = Heard()
        let verdict: CheckVerdict
        if let network {
            let (result, state) = try simulate(network, heard)
            verdict = CheckVerdict(result, of: network, seed: seed, minimum: minScore)
            if state != .over(.heard) {
                throw RadioError(.unavailable, "no packet comes through \(network): choose a network with less loss")
            }
        } else {
            verdict = CheckVerdict(try ask(heard), of: host ?? "", seed: nil, minimum: minScore)
        }
        if let output { try heard.write(to: output) }
        Console.log(verdict.text)
        if json { Console.write(verdict.json.text) }
        try report?.write(verdict.junit)
        if verdict.isBelow { throw ExitCode.failure }
    }

    private func simulate(_ network: String, _ heard: Heard) throws -> (LinkTestResult, LinkTestClient.State) {
        let model = try NetworkModel(parsing: network)
        let configuration = try configuration(for: Endpoint(.anyV4, port: 1))
        var check = try SimulatedLinkTest(configuration, there: model, back: model, seed: seed) { sound, _ in
            heard.add(sound)
        }
        let result = check.run()
        return (result, check.state)
    }

    private func configuration(for host: Endpoint) throws(RadioError) -> LinkTestClient.Configuration {
        var configuration = LinkTestClient.Configuration(host: host, speech: try SpeechFile.samples(speech))
        configuration.duration = duration.duration
        configuration.coding.bitRate = bitrate.bitsPerSecond
        configuration.lossProtection.mode = defence
        if let maxLatency {
            configuration.lossProtection.maximumDelay = maxLatency.duration
            configuration.playout.maximumDelay = maxLatency.duration
        }
        return configuration
    }

    private func ask(_ heard: Heard) throws -> LinkTestResult {
        let address = try StreamAddress(parsing: host ?? "")
        guard !address.host.isEmpty else {
            throw RadioError(.usage, "the station to check is missing: write a host, such as bob.local")
        }
        let endpoint = try Resolver.resolve(address.host, port: address.port)[0]
        let conversation = try Conversation(configuration(for: endpoint), localPort: port ?? 0) { sound, _ in
            heard.add(sound)
        }
        Console.log(
            "\(Self.name): testing the connection to \(endpoint) for \(decimal(duration.duration / .seconds(1), places: 1, trimming: true)) s"
        )
        return try judged(conversation.run(), endpoint)
    }

    private func judged(
        _ end: (result: LinkTestResult, state: LinkTestClient.State, isCutShort: Bool), _ host: Endpoint
    ) throws(RadioError) -> LinkTestResult {
        if end.isCutShort {
            Console.log("\(Self.name): the test has ended early, because another station waits for \(host)")
        }
        switch end.state {
        case .over(.heard): return end.result
        case .over(.reported):
            Console.log(
                "\(Self.name): \(host) does not send speech back; the result is estimated from its RTCP reports"
            )
            return end.result
        case .over(.busy): throw RadioError(.unavailable, "\(host) is answering another station: try again in a moment")
        default:
            throw RadioError(
                .unavailable,
                "\(host) does not answer: start \(Self.name) --answer there, or tenfour talk with this machine, and let UDP through"
            )
        }
    }

    private func answerOthers() throws {
        let endpoint = Endpoint(.anyV6, port: port ?? RTPDefaults.port)
        try Responder(on: endpoint) { Console.log("\(Self.name): \($0)") }.run()
    }
}

extension LossProtectionConfiguration.Mode: ExpressibleByArgument {}
