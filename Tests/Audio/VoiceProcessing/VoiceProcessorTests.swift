import CAllocations
import Glibc
import TenfourAudioCore
import TenfourSeededRandom
import TenfourSystem
import TenfourVoiceProcessing
import Testing

/// Returns `samples` after a processor of one channel without a loudspeaker, in pieces of `piece` frames.
private func processed(
    _ samples: [Float], piece: Int = 960, _ change: (inout VoiceSettings) -> Void = { _ in }
) -> (samples: [Float], advice: LevelAdvice?) {
    var settings = VoiceSettings()
    change(&settings)
    var processor = VoiceProcessor(format: .mono, piece: FrameCount(piece), settings: settings)
    var sound = FixedBuffer<Float>(repeating: 0, count: piece)
    var result: [Float] = []
    for start in stride(from: 0, through: samples.count - piece, by: piece) {
        for index in 0..<piece { sound[index] = samples[start + index] }
        processor.process(&sound, frameCount: FrameCount(piece), capturedAt: nil)
        for index in 0..<piece { result.append(sound[index]) }
    }
    return (result, processor.levelAdvice)
}

private func noise(_ count: Int, level: Float, seed: UInt64 = 1) -> [Float] {
    var random = SeededRandom(seed: seed)
    return (0..<count).map { _ in Float(random.unit() - 0.5) * level }
}

@Test(arguments: [120, 441, 960])
func nothingAskedForChangesNothing(piece: Int) {
    let given = syllables(piece * 20, seed: 1)
    let isSame = processed(given, piece: piece).samples == given
    #expect(isSame)
}

@Test(arguments: [240, 441, 700])
func piecesThatAreNoWholeBlocksAreDelayedByABlock(piece: Int) {
    let given = syllables(48_000, seed: 1)
    let whole = processed(given) { $0.suppressesNoise = true }.samples
    let heard = processed(given, piece: piece) { $0.suppressesNoise = true }.samples
    let isSame = heard[480..<40_000].elementsEqual(whole[..<39_520])
    #expect(isSame)
}

@Test func theMicrophoneGainIsInDecibelsAndClips() {
    let given = syllables(9_600, seed: 1, level: 0.01)
    let heard = processed(given) { $0.microphoneGain = 20 }.samples
    let differences = zip(given, heard).map { abs($1 - $0 * 10) }
    #expect((differences.max() ?? 1) < 1e-4)
    let loud = processed([Float](repeating: 0.5, count: 960)) { $0.microphoneGain = 30 }.samples
    #expect(loud.min() == 1 && loud.max() == 1)
}

@Test func steadyNoiseIsAttenuated() {
    let given = noise(4 * 48_000, level: 0.02)
    let heard = processed(given) { $0.suppressesNoise = true }.samples
    #expect(decibels(given[96_000...]) - decibels(heard[96_000...]) >= 8)
}

@Test func quietSpeechIsAmplified() {
    let given = syllables(8 * 48_000, seed: 2, level: 0.005)
    let heard = processed(given) { $0.controlsGain = true }.samples
    #expect(decibels(heard[240_000...]) - decibels(given[240_000...]) >= 6)
    let loudest = heard.map(abs).max() ?? 2
    #expect(loudest <= 1)
}

@Test func theLevelOfSpeechIsJudged() {
    let room = noise(5 * 48_000, level: 0.000_2)
    func advice(_ level: Float) -> LevelAdvice? {
        processed(sum(room, syllables(5 * 48_000, seed: 3, level: level))).advice
    }
    #expect(advice(0.1) == nil)
    #expect(advice(0.003) == .tooQuiet)
    #expect(advice(3) == .tooLoud)
    #expect(processed(room).advice == nil, "nobody talks")
}

@Test func anEchoIsRemovedFromAStereoMicrophone() {
    let played = syllables(4 * 48_000, seed: 4)
    let echo = EchoPath(seed: 4).echo(of: played)
    let ring = RingBuffer(capacity: PlayedAudio.ringCapacity, filler: PlayedAudio())
    var writer = PlayedAudioWriter(ring.producer, format: .mono)
    let reference = EchoReference(ring.consumer, captureRate: .opus, playbackRate: .opus)
    var settings = VoiceSettings()
    settings.cancelsEcho = true
    var processor = VoiceProcessor(
        format: .stereo, piece: FrameCount(960), settings: settings, reference: reference)
    var sound = FixedBuffer<Float>(repeating: 0, count: 1_920)
    var piece = FixedBuffer<Float>(repeating: 0, count: 960)
    var rest: [Float] = []
    var allocationCount: UInt = 0
    for start in stride(from: 0, through: played.count - 960, by: 960) {
        let now = Instant(nanoseconds: Int64(start) * 1_000_000 / 48)
        for index in 0..<960 {
            piece[index] = played[start + index]
            sound[2 * index] = echo[start + index] * 1.5
            sound[2 * index + 1] = echo[start + index] * 0.5
        }
        let before = allocations_of_this_thread()
        writer.write(piece, playedAt: now)
        processor.process(&sound, frameCount: FrameCount(960), capturedAt: now)
        if start > 9_600 { allocationCount += allocations_of_this_thread() - before }
        for index in 0..<960 {
            if sound[2 * index] != sound[2 * index + 1] { Issue.record("both channels hold the mean") }
            rest.append(sound[2 * index])
        }
    }
    #expect(decibels(echo[96_000...]) - decibels(rest[96_000...]) >= 30)
    #expect(allocationCount == 0)
}

@Test func silenceNumbersAndFullScaleAreBearable() {
    let strange: [Float] = (0..<96_000).map { [0, .nan, .infinity, -.infinity, 1e30, -1e-37, 1, -1][$0 / 500 % 8] }
    let heard = processed(strange) {
        $0.suppressesNoise = true
        $0.controlsGain = true
        $0.cancelsEcho = true
    }
    let isBounded = heard.samples.allSatisfy { $0.isFinite && abs($0) <= 1 }
    #expect(isBounded)
}
