import ArgumentParser
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator

/// One receiver, one network, some seeds: a line of JSON for each, and what was heard as WAV.
struct Receive: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let one receiver hear speech through a network, and say how it went: one line of JSON a seed.")

    enum Receiver: String, ExpressibleByArgument, CaseIterable {
        case tenfour, ideal
    }

    @OptionGroup var trace: TraceOptions

    @Option(help: "Number of seeds from there on.")
    var seeds: UInt64 = 1

    @Option(help: "PACKET_LOSS_PERC; above zero in-band FEC is on.")
    var expectLoss = 0

    @Option(help: "Offset in packets of the copies that each packet carries (RFC 2198).")
    var copy: [Int] = []

    @Option(help: "Milliseconds after which a lost packet comes again (NACK).")
    var rtt: Double?

    @Option(help: "tenfour; ideal: libopus at a fixed depth.")
    var receiver = Receiver.tenfour

    @Option(help: "In milliseconds: the depth of ideal, the most that repair may raise ours to.")
    var depth = 20.0

    @Flag(help: "Keep ours at --depth, too.")
    var fixed = false

    @Option(help: "In milliseconds: what our card asks for at a time.")
    var period = 2.5

    @Option(name: .shortAndLong, help: "Where to write what was heard; %s stands for the seed.")
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
