import TenfourAudioCore
import TenfourJitterBuffer
import TenfourSeededRandom

/// A regular stream over a link without loss, whose delay changes a few times, and the playout of it. All is drawn
/// from a seed.
struct QuietLink: CustomStringConvertible {
    /// A change of the delay, in milliseconds. It takes `seconds`; zero is a step.
    struct Change {
        var at: Double
        var seconds: Double
        var milliseconds: Double
    }

    /// The duration of the talker's packets, in frames at 48 000 Hz.
    let packet: FrameCount
    /// The duration of a pull of the card, in frames at 48 000 Hz.
    let pull: Int
    /// The margin of the jitter buffer beyond one pull, in frames at 48 000 Hz.
    let spareMargin: Int
    let driftPartsPerMillion: Double
    /// The limit of the jitter, in milliseconds.
    let jitter: Double
    let isTriangular: Bool
    /// The transit time at the beginning, in milliseconds.
    let transit: Double
    private(set) var changes: [Change] = []
    private let seed: UInt64

    /// The time after the last change in which playout may still conceal.
    static let settling = 5.0
    /// The time for which playout is judged.
    static let judged = 20.0
    /// The age of the oldest packets that may determine the delay, in seconds: ten, and the time in which 150 ms are
    /// removed at a tempo that is 10 % faster.
    static let memory = 11.5

    init(seed: UInt64) {
        var chance = SeededRandom(seed: seed)
        self.seed = seed
        packet = FrameCount([120, 240, 480, 960, 960, 960, 1_920, 2_880].randomElement(using: &chance)!)
        pull = [120, 240].randomElement(using: &chance)!
        spareMargin = [0, 72].randomElement(using: &chance)!
        driftPartsPerMillion = chance.happens(0.3) ? 0 : .random(in: -200...200, using: &chance)
        let isWired = chance.happens(0.4)
        jitter = isWired ? [0, 0.05, 0.1, 0.5].randomElement(using: &chance)! : .random(in: 0...5, using: &chance)
        isTriangular = chance.happens(0.5)
        transit = .random(in: 1...40, using: &chance)
        var (now, delay) = (Double.random(in: 2...12, using: &chance), 0.0)
        for _ in 0..<Int.random(in: 0...4, using: &chance) {
            // A shorter route takes back at most what longer routes have added.
            let isDown = delay > 5 && chance.happens(0.4)
            let size = isDown ? -.random(in: 5...delay, using: &chance) : Double.random(in: 5...150, using: &chance)
            // A ramp of at most 20 ms in a second.
            let seconds = chance.happens(0.3) ? abs(size) / 20 * .random(in: 1...4, using: &chance) : 0
            changes.append(Change(at: now, seconds: seconds, milliseconds: size))
            delay += size
            now += seconds + .random(in: 0.5...8, using: &chance)
        }
    }

    var description: String {
        let text = changes.map { "\($0.milliseconds) ms at \($0.at) s in \($0.seconds) s" }.joined(separator: ", ")
        return
            "seed \(seed): packets of \(packet.rawValue) frames, pulls of \(pull) and \(spareMargin), \(driftPartsPerMillion) ppm, jitter \(jitter) ms \(isTriangular ? "triangular" : "uniform"), \(text)"
    }

    /// The time of the end of the last change, in seconds.
    var lastChange: Double { changes.last.map { $0.at + $0.seconds } ?? 5 }

    /// The delays of the packets, in frames at 48 000 Hz, from the end of each packet to its arrival.
    func delays() -> [Int] {
        var chance = SeededRandom(seed: ~seed)
        let seconds = lastChange + Self.settling + Self.judged + 1
        var previous = 0.0
        return (0..<Int(seconds * 48_000) / packet.rawValue).map { number in
            let now = Double((number + 1) * packet.rawValue) / 48_000
            var delay = transit
            for change in changes {
                let part = change.seconds > 0 ? min(max((now - change.at) / change.seconds, 0), 1) : 1
                if now >= change.at { delay += change.milliseconds * part }
            }
            let (one, other) = (chance.unit(), chance.unit())
            delay += jitter * (isTriangular ? (one + other) / 2 : one)
            // The link keeps the order of the packets.
            let arrival = max(now * 1_000 + delay, previous)
            previous = arrival
            return Int((arrival - now * 1_000) * 48)
        }
    }

    /// The time by which the delay of playout may exceed the largest delay of a packet in the last `memory`: the
    /// duration of one packet, at least 10 ms, the margin, and one pitch period, which is too short to be cut out.
    var tolerance: FrameCount {
        max(packet, FrameCount(480)) + FrameCount(pull + spareMargin) + TimeScaler.shortest
    }

    /// The concealed audio and the delay five seconds after the last change.
    struct Outcome {
        /// The number of concealed pieces.
        var concealments = 0
        /// The time by which the delay of playout exceeded the largest delay of a packet in the last `memory`, at most.
        var excess = FrameCount(.min)
    }

    /// Plays the stream.
    func play() -> Outcome {
        let delays = delays()
        var talk = SimulatedTalk(PlayoutConfiguration(margin: FrameCount(pull + spareMargin)))
        talk.frameCount = packet
        talk.pullLength = pull
        talk.quantum = pull
        talk.driftPartsPerMillion = driftPartsPerMillion
        talk.delay = { FrameCount(delays[$0]) }
        talk.run(seconds: lastChange + Self.settling)
        var outcome = Outcome()
        let before = talk.played.count
        for tenth in 0..<Int(Self.judged * 10) {
            talk.run(seconds: 0.1)
            let now = lastChange + Self.settling + Double(tenth + 1) / 10
            let newest = Int(now * 48_000) / packet.rawValue - 1
            let oldest = max(newest - Int(Self.memory * 48_000) / packet.rawValue, 0)
            // The largest delay of a packet from its first frame on, on the clock of the card. The drift adds to it.
            let drift = Double(newest * packet.rawValue) * driftPartsPerMillion * 1e-6
            let largest = packet.rawValue + delays[oldest...newest].max()! + Int(drift.rounded(.up))
            outcome.excess = max(outcome.excess, talk.buffer.playoutDelay - FrameCount(largest))
        }
        outcome.concealments = talk.played[before...].count { if case .concealed = $0 { true } else { false } }
        return outcome
    }
}
