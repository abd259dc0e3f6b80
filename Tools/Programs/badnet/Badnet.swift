import ArgumentParser
import TenfourAudioCore
import TenfourCallQuality
import TenfourCommandSupport
import TenfourJitterBuffer
import TenfourLinkTest
import TenfourNetworkEmulator
import TenfourRadio
import TenfourSession
import TenfourWaveform

@main struct Badnet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "badnet",
        abstract:
            "Plays a sentence through a bad network without and with loss protection: two WAV files, one picture, two scores.",
        discussion: """
            On a simulated clock, another station sends back the sentence as received; only the path to that station loses \
            packets. Both runs use the same seed. The picture shows levels over time, lost packets, concealed and recovered \
            audio, and the delay. The two scores go to standard output.

            \(Console.exitCodes)
            """)

    @Argument(help: ArgumentHelp("The folder for off.wav, on.wav and badnet.svg.", valueName: "folder")) var folder:
        String
    @Option(help: ArgumentHelp("The network: a name or a description as for badlink.", valueName: "network"))
    var network = Self.usual
    @Option(help: "The random seed.") var seed: UInt64 = 1
    @Option(help: ArgumentHelp("The sentence: a sound file, mono at 48 kHz.", valueName: "file")) var speech: String?

    /// The style of the picture: one bar for each pixel, so that a single lost packet is visible.
    private static var style: PictureStyle {
        var style = PictureStyle()
        (style.barWidth, style.spacing) = (1, 0)
        return style
    }
    private static let usual = "b10 delay=20ms jitter=exponential:3ms"

    static func main() { runAndExit(named: "badnet") }

    func run() throws {
        let speech = try SpeechFile.samples(speech)
        let off = try Take(.off, speech, network, seed)
        let on = try Take(.auto, speech, network, seed)
        for (take, name) in [(off, "off"), (on, "on")] {
            try Console.write(take.samples, asSoundTo: "\(folder)/\(name).wav")
            Console.log("badnet: loss protection \(name), score \(take.score): \(folder)/\(name).wav")
            Console.log(take.text)
        }
        let picture = WaveformPicture(
            title: "\(network), seed \(seed)",
            rows: [
                off.row(titled: "loss protection off", Self.style), on.row(titled: "loss protection on", Self.style),
            ],
            style: Self.style)
        do {
            try OutputFile(path: "\(folder)/badnet.svg").write(picture.file(.svg))
        } catch let error as PictureError {
            throw RadioError(.failure, error.description)
        }
        Console.log("badnet: picture of both runs: \(folder)/badnet.svg")
        Console.write("\(off.score) \(on.score)\n")
    }
}

/// The speech after one run through the network.
private struct Take {
    let samples: [Float]
    private let tape: Tape
    private let losses: [Duration]
    let score: String
    private let title: String
    let text: String

    /// The number of packets of 20 ms in ten minutes.
    private static let slotCount = 30_000

    init(_ mode: LossProtectionConfiguration.Mode, _ speech: [Float], _ network: String, _ seed: UInt64) throws {
        let model = try NetworkModel(parsing: network)
        var configuration = LinkTestClient.Configuration(host: Endpoint(.anyV4, port: 1), speech: speech)
        configuration.duration = FrameCount(speech.count).duration()
        configuration.lossProtection.mode = mode
        // Losses depend on the sending time, so that extra packets of loss protection do not change the network.
        let there = NetworkModel(trace: Trace(of: model, seed: seed, count: Self.slotCount))
        let tape = Tape()
        var check = try SimulatedLinkTest(
            configuration, there: there, back: NetworkModel(delay: model.delay), seed: seed
        ) { sound, pull in tape.record(sound, pull) }
        let result = check.run()
        tape.cut()
        guard let quality = result.quality?.whole, let first = check.firstSent else {
            throw RadioError(.unavailable, "no packet comes through \(network): choose a network with less loss")
        }
        samples = tape.samples
        self.tape = tape
        losses = check.losses.map { $0 - first }
        score = quality.score.map { decimal($0, places: 2) } ?? "–"
        let share = { (share: Double?) in decimal((share ?? 0) * 100, places: 1) }
        title =
            "score \(score), \(share(quality.lostShare))% lost, \(share(quality.concealedShare))% concealed, "
            + "\(share(quality.recoveredShare))% recovered"
        text = quality.text
    }

    /// Returns the picture's row for this run.
    func row(titled words: String, _ style: PictureStyle) -> WaveformPicture.Row {
        var reduction = BarReduction(barCount: style.barCount, expecting: FrameCount(samples.count))
        reduction.append(samples.span)
        var row = WaveformPicture.Row(title: "\(words): \(title)", bars: reduction.bars())
        row.markedRanges = tape.markedRanges
        row.losses = losses
        row.delays = tape.delays
        return row
    }
}

/// Records the played audio, its concealed and recovered ranges, and the delays.
private final class Tape {
    private(set) var samples: [Float] = []
    private(set) var markedRanges: [MarkedRange] = []
    private(set) var delays: [(at: Duration, delay: Duration)] = []
    private var before = PlayoutStatistics()
    private var end = 0

    /// The number of frames kept after the last packet, for its concealment and some silence.
    private static let tail = FrameCount(.milliseconds(300)).rawValue

    func cut() { samples.removeLast(max(samples.count - end - Self.tail, 0)) }

    func record(_ sound: Span<Float>, _ pull: SimulatedReceiver.Pull) {
        let start = FrameCount(samples.count)
        for index in sound.indices { samples.append(sound[index]) }
        let now = pull.counts.playout
        let recovered = { (statistics: PlayoutStatistics) in
            statistics.recovered + statistics.recoveredByCopy + statistics.recoveredByRetransmission
        }
        let late = now.concealedInHindsight - before.concealedInHindsight
        note(late, .concealed, from: start - late)
        note(now.concealed - before.concealed - late, .concealed, from: start)
        note(recovered(now) - recovered(before), .recovered, from: start)
        if now.decoded > before.decoded {
            delays.append((start.duration(), now.delay.duration()))
            end = samples.count
        }
        before = now
    }

    private func note(_ frames: FrameCount, _ kind: MarkedRange.Kind, from start: FrameCount) {
        guard frames > .zero else { return }
        markedRanges.append(MarkedRange(start.duration()..<(start + frames).duration(), kind))
    }
}
