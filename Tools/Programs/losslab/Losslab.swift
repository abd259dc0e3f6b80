import ArgumentParser
import BadLink
import Playout
import Radio
import Sound
import SoundFile

/// Speech through a trace and a receiver, on a simulated clock: what was heard as a WAV, and how it went as JSON.
@main
struct Losslab: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send speech through a network by seed and write what a receiver makes of it, faster than real time.")

    @Argument(help: "The speech: a sound file of 48 kHz mono.")
    var speech: String

    @Option(help: "A network by name, such as b5, g10, j30, gam, par, wifi-lab, step.")
    var network = "b5"

    @Option(help: "What chance begins with, and how many seeds from there on.")
    var seed: UInt64 = 1

    @Option var seeds: UInt64 = 1

    @Option(help: "Bit rate in bit/s.")
    var bitrate = 24_000

    @Option(help: "PACKET_LOSS_PERC; above zero in-band FEC is on.")
    var expectLoss = 0

    @Option(help: "tenfour, ideal (fixed --depth) or quantile (the plain causal quantile, no sound).")
    var receiver = "tenfour"

    @Option(help: "In milliseconds, for a fixed depth.")
    var depth: Double?

    @Option(help: "In milliseconds.")
    var seconds = 60.0

    @Option(name: .shortAndLong, help: "Where to write what was heard; %s stands for the seed.")
    var output: String?

    func run() throws {
        let packets = try EncodedSpeech(path: speech, seconds: seconds, bitRate: bitrate, expectedLoss: expectLoss)
        for seed in seed..<seed + seeds {
            guard let model = NetworkModel(named: network) else { throw ValidationError("no network is called \(network)") }
            let trace = Arrivals(of: packets, through: model, seed: seed)
            let result: Result
            if receiver == "quantile" {
                result = PlainQuantile.receive(trace)
            } else {
                var heard: [Float] = []
                result = try Simulation.receive(packets, trace, fixedDepth: depth, into: &heard)
                if let output {
                    let path = output.split(separator: "%s", omittingEmptySubsequences: false).joined(separator: "\(seed)")
                    var writer = try SoundFileWriter(path: path, format: .mono)
                    try writer.write(heard.span)
                    try writer.close()
                }
            }
            print(
                "{\"network\": \"\(network)\", \"seed\": \(seed), \"receiver\": \"\(receiver)\", \"kbits\": \(packets.bitRate / 1_000), \"delay_ms\": \(result.meanDelay), \"p95_ms\": \(result.p95), \"concealed_percent\": \(result.concealedShare * 100), \"stretched_percent\": \(result.stretchedShare * 100), \"late\": \(result.late), \"resyncs\": \(result.resyncs)}"
            )
        }
    }
}

/// How a receiver did. Delays in milliseconds.
struct Result {
    var delays: [Double] = []
    var concealedShare = 0.0
    var stretchedShare = 0.0
    var late = 0
    var resyncs = 0

    var meanDelay: Double { delays.isEmpty ? 0 : delays.reduce(0, +) / Double(delays.count) }
    var p95: Double { delays.isEmpty ? 0 : delays.sorted()[Int(Double(delays.count - 1) * 0.95)] }
}
