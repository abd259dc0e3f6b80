import ArgumentParser
import TenfourAudioCore
import TenfourAudioFile
import TenfourNetworkEmulator
import TenfourSession

/// Simulates a call with a return path, once for each seed. Prints a line of JSON for each run and writes the
/// received audio as WAV.
struct Call: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let two stations talk over a simulated network, with loss protection as in a call.")

    @OptionGroup var trace: TraceOptions

    @Option(help: "Number of runs, each with its own seed: --seed, --seed + 1 and so on.")
    var seeds: UInt64 = 1

    @Option(help: "Round-trip time in milliseconds.")
    var rtt = 40.0

    @Option(help: "Loss protection: auto, off, copy or nack.")
    var defence = "auto"

    @Option(help: "Longest playout delay to wait for lost packets, in milliseconds.")
    var maxLatency = 100.0

    @Option(help: "Time in seconds after which the network loses no more packets. Default: never.")
    var lossEnd: Double?

    @Flag(help: "Let the playout delay follow the round trip, as --profile quality does.")
    var quality = false

    @Option(name: .shortAndLong, help: "The WAV file to write; %s stands for the seed.")
    var output: String?

    func run() throws {
        let model = try trace.model()
        guard let mode = LossProtectionConfiguration.Mode(rawValue: defence) else {
            throw ValidationError("--defence takes auto, off, copy or nack")
        }
        var reader = try AudioFileReader(path: trace.speech)
        var sound = [Float](repeating: 0, count: Int(trace.seconds * 48_000))
        var room = sound.mutableSpan
        let count = try reader.read(into: &room).rawValue
        sound.removeSubrange(count...)
        var configuration = LossProtectionConfiguration()
        configuration.mode = mode
        configuration.bitRate = trace.bitrate
        configuration.maximumDelay = .microseconds(Int(maxLatency * 1_000))
        configuration.followsRoundTrip = quality
        for seed in trace.seed..<trace.seed + seeds {
            var call = try TwoStations(
                network: model, roundTrip: .microseconds(Int(rtt * 1_000)), seed: seed, lossProtection: configuration,
                decoder: trace.decoder,
                lossEnd: lossEnd.map { .microseconds(Int($0 * 1e6)) })
            try call.run(sound)
            if let output { try call.outcome.write(to: output, seed: seed) }
            print(
                call.outcome.line(
                    [
                        ("network", trace.network), ("seed", "\(seed)"), ("receiver", "call"),
                        ("defence", "\(call.lossProtection)"),
                    ], bitRate: call.bitRate))
        }
    }
}
