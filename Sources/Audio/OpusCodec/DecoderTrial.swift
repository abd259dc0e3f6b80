private import Glibc
private import TenfourAudioCore

/// A trial of the loaded libopus: its neural models, their processor time on this machine, and the stack that they
/// need. The trial also loads the models into memory, so that they cause no page fault later.
///
/// Two decoders that receive the same packets, with the same losses, return the same samples unless one of them uses a
/// model. So different samples show that the library has the model.
public struct DecoderTrial: Hashable, Sendable {
    public private(set) var models = DecoderModels()
    /// The processor time of each complexity. If a complexity is missing, it was too slow to be measured within
    /// `limit`.
    public private(set) var costs: [DecoderComplexity: DecoderCosts] = [:]
    /// The number of bytes that the trial used of its thread's stack.
    public private(set) var stackByteCount = 0

    /// The maximum processor time of a trial. After half of this time no further complexity is measured. So the maximum
    /// is exceeded only if the measurement of a single complexity takes more than the other half.
    public static let limit = Duration.milliseconds(100)

    /// Performs the trial on its own thread; allocates. Pass false for `measuresCosts` if the results must not depend
    /// on the machine's speed.
    public init(measuresCosts: Bool) throws(OpusError) {
        var result: Result<Self, OpusError> = .success(.none)
        let depth = StackDepth.measure {
            result = Result { () throws(OpusError) in try Self.run(measuresCosts: measuresCosts) }
        }
        self = try result.get()
        stackByteCount = depth
    }

    /// The result without a trial: no neural models and no costs.
    public static let none = Self()

    private init() {}

    private static func run(measuresCosts: Bool) throws(OpusError) -> Self {
        var trial = Self.none
        guard try takesComplexity() else { return trial }
        let start = ThreadTime.processor()
        let packets = try packets(.voip) + packets(.lowDelay)
        var sounds: [DecoderComplexity: TrialCall] = [:]
        for complexity in DecoderComplexity.allCases {
            // The first call loads the models into memory; the later calls are measured.
            sounds[complexity] = try TrialCall(packets, complexity)
            guard measuresCosts else { continue }
            guard .nanoseconds(ThreadTime.processor() - start) < limit / 2 else { break }
            // Measures twice, since other work of the machine may have delayed one of the calls.
            let calls = try (0..<2).map { (_: Int) throws(OpusError) in try TrialCall(packets, complexity) }
            trial.costs[complexity] = DecoderCosts(
                concealed: calls.map(\.costs.concealed).min() ?? .zero,
                decoded: calls.map(\.costs.decoded).min() ?? .zero)
        }
        trial.models.conceal = differ(sounds[.plain]?.concealed, sounds[.plc]?.concealed)
        // Compares LACE with no enhancement if there was no time to decode with NoLACE.
        trial.models.enhance = differ(sounds[.plc]?.decoded, (sounds[.noLACE] ?? sounds[.lace])?.decoded)
        return trial
    }

    private static func takesComplexity() throws(OpusError) -> Bool {
        var decoder = try OpusDecoder()
        return (try? decoder.setComplexity(.noLACE)) != nil
    }

    private static func differ(_ one: [Float]?, _ other: [Float]?) -> Bool {
        guard let one, let other else { return false }
        return one != other
    }

    /// Returns packets with a vowel (harmonics of 120 Hz with two formants): wideband SILK packets, or CELT packets for
    /// `.lowDelay`, so that the tables of CELT are loaded too.
    private static func packets(_ application: OpusEncoder.Application) throws(OpusError) -> [[UInt8]] {
        var settings = OpusEncoderSettings()
        settings.bitRate = 20_000
        settings.complexity = 0
        settings.signal = .speech
        settings.maximumBandwidth = .wide
        var encoder = try OpusEncoder(application: application, settings: settings)
        // Computed once, since it would take longer than the rest of the trial in a debug build.
        let period = (0..<SampleRate.opus.hertz / pitch).map(vowel)
        var packets: [[UInt8]] = []
        for number in 0..<TrialCall.packetCount {
            let samples = (0..<TrialCall.frameCount).map {
                period[(number * TrialCall.frameCount + $0) % period.count]
            }
            var packet = [UInt8](repeating: 0, count: 1_276)
            var room = packet.mutableSpan
            let byteCount = try encoder.encode(samples.span, into: &room)
            packets.append(Array(packet.prefix(byteCount)))
        }
        return packets
    }

    /// The pitch of the vowel in hertz. Its period is a whole number of frames.
    private static let pitch = 120

    private static func vowel(at frame: Int) -> Float {
        var sum = 0.0
        for harmonic in 1...20 {
            let frequency = Double(pitch * harmonic)
            let formants = 1 / (1 + pow((frequency - 600) / 200, 2)) + 0.5 / (1 + pow((frequency - 1_800) / 300, 2))
            sum += formants * sin(2 * .pi * frequency * Double(frame) / Double(SampleRate.opus.hertz))
        }
        return Float(0.1 * sum)
    }
}

/// The processor time of a decoder for 20 ms of audio.
public struct DecoderCosts: Hashable, BitwiseCopyable, Sendable {
    /// The longest time to conceal a lost frame. The first lost frame of a burst takes longest.
    public var concealed: Duration
    /// The longest time to decode a received frame.
    public var decoded: Duration

    public init(concealed: Duration = .zero, decoded: Duration = .zero) {
        self.concealed = concealed
        self.decoded = decoded
    }
}

/// The decoding of the trial's packets, some of them lost, at one complexity.
private struct TrialCall {
    static let frameCount = 960
    /// The number of packets of each kind, SILK and CELT.
    static let packetCount = 10
    /// The index of the first lost packet in each burst; the packet after it is lost too. Two bursts are in SILK
    /// packets, the third is in CELT packets.
    private static let bursts = [3, 7, 14]

    private(set) var decoded: [Float] = []
    private(set) var concealed: [Float] = []
    /// The longest times to conceal a lost frame and to decode a received frame.
    private(set) var costs = DecoderCosts()

    init(_ packets: [[UInt8]], _ complexity: DecoderComplexity) throws(OpusError) {
        var decoder = try OpusDecoder()
        try decoder.setComplexity(complexity)
        var samples = [Float](repeating: 0, count: Self.frameCount)
        for (number, packet) in packets.enumerated() {
            var room = samples.mutableSpan
            let start = ThreadTime.processor()
            if Self.bursts.contains(number) || Self.bursts.contains(number - 1) {
                try decoder.conceal(FrameCount(Self.frameCount), into: &room)
                costs.concealed = max(costs.concealed, .nanoseconds(ThreadTime.processor() - start))
                concealed += samples
            } else {
                _ = try decoder.decode(packet.span, into: &room)
                costs.decoded = max(costs.decoded, .nanoseconds(ThreadTime.processor() - start))
                // Keeps only frames before the first loss for the comparison: later frames depend on the concealment.
                if concealed.isEmpty { decoded += samples }
            }
        }
    }
}
