import ArgumentParser
import Foundation
import TenfourAudioCore
import TenfourSystem
import TenfourVoiceProcessing

/// Processes a recording of a simulated microphone as `tenfour talk` would, for `Tools/benchmark echo`.
@main
struct Voicelab: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Processes a simulated microphone's audio.",
        discussion: """
            MICROPHONE, REFERENCE and OUTPUT are raw mono float32 at 48 kHz. The playback card plays REFERENCE by a clock \
            that is right, and says that a frame is heard --delay (in milliseconds) after it was written. The capture \
            card's clock is faster by --drift (in parts per million). Both say the time with an error of up to --jitter \
            (in milliseconds), from --seed. Prints the processor time in milliseconds, the drift that was measured, the \
            delay in frames, and how often the reference was moved.
            """)

    @Argument var microphone: String
    @Argument var reference: String
    @Argument var output: String
    @Option var delay = 0.0
    @Option var drift = 0.0
    @Option var jitter = 0.2
    @Option var seed: UInt64 = 1
    @Flag var echoCancel = false
    @Flag var denoise = false
    @Flag var agc = false

    func run() throws {
        let near = try Self.read(microphone)
        let far = try Self.read(reference)
        var settings = VoiceSettings()
        settings.cancelsEcho = echoCancel
        settings.suppressesNoise = denoise
        settings.controlsGain = agc
        let ring = RingBuffer(capacity: PlayedAudio.ringCapacity, filler: PlayedAudio())
        var writer = PlayedAudioWriter(ring.producer, format: .mono)
        let source = EchoReference(ring.consumer, captureRate: .opus, playbackRate: .opus)
        let (piece, period) = (960, 240)
        var processor = VoiceProcessor(
            format: .mono, piece: FrameCount(piece), settings: settings, reference: source)
        var random = CardTimes(seed: seed, milliseconds: jitter)
        var sound = FixedBuffer<Float>(repeating: 0, count: piece)
        var played = FixedBuffer<Float>(repeating: 0, count: period)
        var result: [Float] = []
        result.reserveCapacity(near.count)
        var written = 0
        var begin = clock()
        var spent = 0
        for start in stride(from: 0, through: near.count - piece, by: piece) {
            let now = Double(start + piece) / (48_000 * (1 + drift * 1e-6))
            begin = clock()
            while Double(written) / 48_000 <= now {
                for index in 0..<period { played[index] = written + index < far.count ? far[written + index] : 0 }
                let heard = Double(written) / 48_000 + delay / 1_000
                writer.write(played, playedAt: random.instant(heard))
                written += period
            }
            for index in 0..<piece { sound[index] = near[start + index] }
            processor.process(
                &sound, frameCount: FrameCount(piece),
                capturedAt: random.instant(Double(start) / (48_000 * (1 + drift * 1e-6))))
            spent += clock() - begin
            for index in 0..<piece { result.append(sound[index]) }
        }
        try unsafe Data(result.withUnsafeBytes { unsafe Array($0) }).write(to: URL(fileURLWithPath: output))
        Self.report(processor, spent: spent)
    }

    /// A function of its own, since Swift 6.3 cannot compile it optimized as a part of `run` where tests are enabled.
    @inline(never)
    private static func report(_ processor: borrowing VoiceProcessor, spent: Int) {
        print(
            Double(spent) * 1_000 / Double(CLOCKS_PER_SEC), processor.driftPartsPerMillion ?? 0,
            processor.delay.rawValue,
            processor.referenceJumpCount)
    }

    private static func read(_ path: String) throws -> [Float] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return unsafe data.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
    }
}

/// The error of the times that cards say.
struct CardTimes {
    private var state: UInt64
    private let nanoseconds: Double

    init(seed: UInt64, milliseconds: Double) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        nanoseconds = milliseconds * 1e6
    }

    mutating func instant(_ seconds: Double) -> Instant {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let share = Double(state >> 40) / Double(1 << 24) * 2 - 1
        return Instant(nanoseconds: 10_000_000_000 + Int64(seconds * 1e9 + share * nanoseconds))
    }
}
