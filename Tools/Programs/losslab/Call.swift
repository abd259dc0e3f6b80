import ArgumentParser
import BadLink
import Engine
import Sound
import SoundFile

/// A call over a network with a way back, some seeds: a line of JSON for each, and what was heard as WAV.
struct Call: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let two stations talk over a network with a way back, the defence doing what it does in a call.")

    @Argument(help: "The speech: a sound file of 48 kHz mono.")
    var speech: String

    @Option(help: "The network there, by name; the way back loses nothing.")
    var network = "b5"

    @Option(help: "What chance begins with.")
    var seed: UInt64 = 1

    @Option(help: "So many seeds from there on.")
    var seeds: UInt64 = 1

    @Option(help: "Of all payload, in bit/s.")
    var bitrate = 24_000

    @Option(help: "There and back, in milliseconds.")
    var rtt = 40.0

    @Option(help: "auto, off, copy or nack.")
    var defence = "auto"

    @Option(help: "How deep repair may make playout, in milliseconds.")
    var maxLatency = 100.0

    @Option(help: "The network loses nothing any more from so many seconds on.")
    var lossEnd: Double?

    @Flag(help: "Depth follows the round trip: --profile quality.")
    var quality = false

    @Option(help: "So much of the speech.")
    var seconds = 60.0

    @Option(name: .shortAndLong, help: "Where to write what was heard; %s stands for the seed.")
    var output: String?

    func run() throws {
        guard let model = NetworkModel(named: network) else { throw ValidationError("no network is called \(network)") }
        guard let mode = DefenceConfiguration.Mode(rawValue: defence) else {
            throw ValidationError("a defence is auto, off, copy or nack")
        }
        var reader = try SoundFileReader(path: speech)
        var sound = [Float](repeating: 0, count: Int(seconds * 48_000))
        var room = sound.mutableSpan
        let count = try reader.read(into: &room).rawValue
        sound.removeSubrange(count...)
        var configuration = DefenceConfiguration()
        configuration.mode = mode
        configuration.bitRate = bitrate
        configuration.maximumDepth = .microseconds(Int(maxLatency * 1_000))
        configuration.followsRoundTrip = quality
        for seed in seed..<seed + seeds {
            var call = try TwoStations(
                network: model, roundTrip: .microseconds(Int(rtt * 1_000)), seed: seed, defence: configuration,
                lossEnd: lossEnd.map { .microseconds(Int($0 * 1e6)) })
            try call.run(sound)
            if let output { try call.outcome.write(to: output, seed: seed) }
            print(
                call.outcome.line(
                    [
                        ("network", network), ("seed", "\(seed)"), ("receiver", "call"), ("defence", "\(call.defence)"),
                    ], bitRate: call.bitRate))
        }
    }
}
