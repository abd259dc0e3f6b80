import ArgumentParser
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator

/// Runs one receiver over one network, once for each seed. Prints a line of JSON for each run and writes the received
/// audio as WAV.
struct Receive: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let one receiver play speech from a simulated network, and print one line of JSON for each seed.")

    enum Receiver: String, ExpressibleByArgument, CaseIterable {
        case tenfour, ideal
    }

    @OptionGroup var trace: TraceOptions

    @Option(help: "Number of runs, each with its own seed: --seed, --seed + 1 and so on.")
    var seeds: UInt64 = 1

    @Option(
        help:
            "Loss that the encoder expects, in percent (OPUS_SET_PACKET_LOSS_PERC); above 0, the encoder adds in-band FEC."
    )
    var expectLoss = 0

    @Option(help: "Each packet also carries a copy of the packet this many packets earlier (RFC 2198).")
    var copy: [Int] = []

    @Option(
        help: "Retransmit lost packets (NACK); they arrive this many milliseconds later. Default: no retransmission.")
    var rtt: Double?

    @Option(help: "The receiver: tenfour, or ideal, which is libopus with a fixed playout delay.")
    var receiver = Receiver.tenfour

    @Option(
        help:
            "Playout delay of the receiver ideal, or how long the receiver tenfour waits for lost packets, in milliseconds."
    )
    var depth = 20.0

    @Flag(help: "Use a fixed playout delay of --depth for the receiver tenfour, too.")
    var fixed = false

    @Option(help: "Period of the simulated card in milliseconds.")
    var period = 2.5

    @Option(name: .shortAndLong, help: "The WAV file to write; %s stands for the seed.")
    var output: String?

    func run() throws {
        let model = try trace.model()
        let packets = try trace.packets(expectLoss: expectLoss)
        let depth = FrameCount(Int(depth * 48))
        let repair = Deliveries.Repair(
            copyDistances: copy, roundTrip: rtt.map { FrameCount(Int($0 * 48)) }, patience: depth)
        for seed in trace.seed..<trace.seed + seeds {
            let deliveries = Deliveries(of: packets, through: model, seed: seed, repair: repair)
            let outcome = try outcome(of: deliveries, packets)
            if let output { try outcome.write(to: output, seed: seed) }
            print(
                outcome.line(
                    [("network", trace.network), ("seed", "\(seed)"), ("receiver", receiver.rawValue)],
                    bitRate: deliveries.bitRate))
        }
    }

    private func outcome(of deliveries: Deliveries, _ packets: EncodedSpeech) throws -> Outcome {
        let depth = FrameCount(Int(depth * 48))
        switch receiver {
        case .ideal:
            return try IdealReceiver(depth: depth, decoder: trace.decoder).receive(deliveries, of: packets)
        case .tenfour:
            let frames = Int(period * 48)
            var own = OwnReceiver(
                configuration: PlayoutConfiguration(
                    playoutDelay: fixed ? .fixed(depth) : .adaptive, margin: FrameCount(frames)))
            own.period = frames
            own.decoder = trace.decoder
            own.recovery = RecoveryDemand(
                lookAhead: FrameCount((copy.max() ?? 0) * EncodedSpeech.frame),
                retransmissionTime: rtt == nil ? FrameCount(0) : depth, limit: depth)
            return try own.receive(deliveries, of: packets)
        }
    }
}
