import ArgumentParser
import BadLink
import Playout
import Sound

/// One receiver, one network, some seeds: a line of JSON for each, and what was heard as WAV.
struct Receive: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let one receiver hear speech through a network, and say how it went: one line of JSON a seed.")

    enum Receiver: String, ExpressibleByArgument, CaseIterable {
        case tenfour, ideal, quantile
    }

    @Argument(help: "The speech: a sound file of 48 kHz mono.")
    var speech: String

    @Option(help: "A network by name, such as b5, g10, j30, gam, par, wifi-lab, step.")
    var network = "b5"

    @Option(help: "What chance begins with.")
    var seed: UInt64 = 1

    @Option(help: "So many seeds from there on.")
    var seeds: UInt64 = 1

    @Option(help: "Of the encoder, in bit/s.")
    var bitrate = 24_000

    @Option(help: "PACKET_LOSS_PERC; above zero in-band FEC is on.")
    var expectLoss = 0

    @Option(help: "Each packet carries copies of those so many packets before it (RFC 2198).")
    var copy: [Int] = []

    @Option(help: "Lost packets are asked for and come again after so many milliseconds.")
    var rtt: Double?

    @Option(help: "tenfour; ideal: libopus at a fixed depth; quantile: the plain causal quantile, without sound.")
    var receiver = Receiver.tenfour

    @Option(help: "In milliseconds: the depth of ideal, the most that repair may raise ours to.")
    var depth = 20.0

    @Flag(help: "Keep ours at --depth, too.")
    var fixed = false

    @Option(help: "In milliseconds: what our card asks for at a time.")
    var period = 2.5

    @Option(help: "So much of the speech.")
    var seconds = 60.0

    @Option(name: .shortAndLong, help: "Where to write what was heard; %s stands for the seed.")
    var output: String?

    func run() throws {
        guard let model = NetworkModel(named: network) else { throw ValidationError("no network is called \(network)") }
        let packets = try EncodedSpeech(path: speech, seconds: seconds, bitRate: bitrate, expectedLoss: expectLoss)
        let depth = FrameCount(Int(depth * 48))
        let repair = Deliveries.Repair(
            copyDistances: copy, roundTrip: rtt.map { FrameCount(Int($0 * 48)) }, patience: depth)
        for seed in seed..<seed + seeds {
            let deliveries = Deliveries(of: packets, through: model, seed: seed, repair: repair)
            let outcome = try outcome(of: deliveries, packets)
            if let output { try outcome.write(to: output, seed: seed) }
            print(
                outcome.line(
                    [("network", network), ("seed", "\(seed)"), ("receiver", receiver.rawValue)],
                    bitRate: deliveries.bitRate))
        }
    }

    private func outcome(of deliveries: Deliveries, _ packets: EncodedSpeech) throws -> Outcome {
        let depth = FrameCount(Int(depth * 48))
        switch receiver {
        case .quantile:
            return PlainQuantile().receive(deliveries, of: packets)
        case .ideal:
            return try IdealReceiver(depth: depth).receive(deliveries, of: packets)
        case .tenfour:
            let frames = Int(period * 48)
            var own = OwnReceiver(
                configuration: PlayoutConfiguration(
                    depth: fixed ? .fixed(depth) : .adaptive, margin: FrameCount(frames)))
            own.period = frames
            own.repair = RepairNeeds(
                lookAhead: FrameCount((copy.max() ?? 0) * EncodedSpeech.frame),
                resendTime: rtt == nil ? FrameCount(0) : depth, limit: depth)
            return try own.receive(deliveries, of: packets)
        }
    }
}
