import Glibc
import TenfourAudioCore
import TenfourJitterBuffer
import Testing

/// A tone cut again and again is still that tone: its frequency stays and no seam clicks.
@Test(arguments: [120.0, 217.0, 389.0])
func aToneKeepsItsPitch(frequency: Double) {
    for shortens in [true, false] {
        var stretch = TimeScaler(channelCount: 1)
        var sound = FixedBuffer<Float>(repeating: 0, count: 6_000)
        let tone = { (frame: Int) in Float(0.5 * sin(2 * .pi * frequency * Double(frame) / 48_000)) }
        for frame in 0..<4_800 { sound[frame] = tone(frame) }
        let changed =
            shortens
            ? stretch.shorten(&sound, from: 1_000, to: 4_800, atMost: FrameCount(720))
            : stretch.lengthen(&sound, from: 1_000, to: 4_800, atMost: FrameCount(720))
        #expect(changed > .zero)
        let end = 4_800 + (shortens ? -changed.rawValue : changed.rawValue)
        // What lies behind the cut is the tone, shifted by what was cut.
        let seam = 1_000 + stretch.seam.rawValue
        let shift = shortens ? changed.rawValue : -changed.rawValue
        for frame in stride(from: seam + 800, to: end, by: 97) {
            #expect(abs(sound[frame] - tone(frame + shift)) < 1e-5)
        }
        // And on the way there it never jumps further than the tone does by itself.
        let steepest = Float(2 * .pi * frequency / 48_000 * 0.5) * 1.3
        for frame in 1_000..<seam + 800 { #expect(abs(sound[frame] - sound[frame - 1]) <= steepest) }
    }
}

@Test func anOnsetIsNotCutUntilItHasToBe() {
    var stretch = TimeScaler(channelCount: 1)
    var results: [FrameCount] = []
    for _ in 0..<30 {
        var sound = FixedBuffer<Float>(repeating: 0, count: 3_000)
        var noise: UInt32 = 1
        for frame in 0..<1_200 {
            noise = noise &* 1_664_525 &+ 1_013_904_223
            // Louder and louder: no piece is like another.
            sound[frame] = Float(Int32(bitPattern: noise)) / 2_147_483_648 * expf(Float(frame) / 200) / 50
        }
        results.append(stretch.shorten(&sound, from: 0, to: 1_200, atMost: FrameCount(720)))
    }
    #expect(results.first == .zero)
    #expect(results.contains { $0 > .zero })
}

/// Of two places that are as like themselves the quieter is cut, whichever comes first.
@Test(arguments: [true, false])
func aCutIsMadeWhereItIsQuiet(quietFirst: Bool) {
    var stretch = TimeScaler(channelCount: 1)
    for shortens in [true, false] {
        var sound = FixedBuffer<Float>(repeating: 0, count: 4_000)
        var noise: UInt32 = 1
        for frame in 0..<3_000 {
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let isQuiet = (frame < 1_800) == quietFirst
            let breath = Float(Int32(bitPattern: noise)) / 2_147_483_648 * 0.1
            sound[frame] = (sinf(Float(frame) * 2 * .pi / 240) + breath) * (isQuiet ? 0.02 : 0.5)
        }
        let changed =
            shortens
            ? stretch.shorten(&sound, from: 1_000, to: 3_000, atMost: FrameCount(600), loudness: 0.125)
            : stretch.lengthen(&sound, from: 1_000, to: 3_000, atMost: FrameCount(600), loudness: 0.125)
        #expect(changed > .zero)
        #expect((stretch.seam < FrameCount(800)) == quietFirst, "\(stretch.seam)")
    }
}

@Test func aPauseIsUsedWhileItLasts() {
    var stretch = TimeScaler(channelCount: 1)
    var cuts: [FrameCount] = []
    for isPause in [true, false] {
        var sound = FixedBuffer<Float>(repeating: 0, count: 3_000)
        for frame in 0..<2_400 { sound[frame] = 0.001 * sinf(Float(frame) * 2 * .pi / 150) }
        cuts.append(
            stretch.shorten(&sound, from: 0, to: 2_400, atMost: FrameCount(600), anywhere: isPause, loudness: 0.1))
    }
    #expect(cuts[0] == FrameCount(600))
    #expect(cuts[1] < FrameCount(200))
}

/// Whatever is asked for, of any second of speech no more than an eleventh goes.
@Test(arguments: [120, 200, 400, 720]) func theTempoStaysWithinTenPercent(period: Int) {
    var budget = TimeScaleBudget()
    var spent: [Int] = []
    for packet in 0..<3_000 {
        let wanted = packet % 700 < 100 ? 0 : period
        budget.add(FrameCount(960), isPause: false)
        let taken = budget.allowance >= FrameCount(wanted) ? wanted : 0
        budget.use(FrameCount(taken))
        spent.append(taken)
    }
    // 55 packets that sound in a second.
    let most = (55...3_000).map { spent[$0 - 55..<$0].reduce(0, +) }.max() ?? 0
    #expect(most <= 4_800)
    #expect(most > 4_800 - period, "and nearly all of it is used")
}

@Test func halfOfAPauseMayGoAndNothingOfItIsKeptForSpeech() {
    var budget = TimeScaleBudget()
    var spent = 0
    for _ in 0..<100 {
        budget.add(FrameCount(960), isPause: true)
        spent += budget.allowance.rawValue
        budget.use(budget.allowance)
    }
    #expect(spent == 48_000)
    budget.add(FrameCount(960), isPause: false)
    #expect(budget.allowance <= FrameCount(1_440))
}

@Test func aPauseIsQuietForThisTalkerAndLongerThanAConsonant() {
    for loudness: Float in [0.1, 0.001] {
        var level = TalkLevel()
        let hears = { (level: inout TalkLevel, share: Float) in
            level.isPause(meanSquare: loudness * share, lasting: FrameCount(960))
        }
        for _ in 0..<50 { #expect(!hears(&level, 1)) }
        #expect(!hears(&level, 1e-4), "a closed mouth")
        #expect(hears(&level, 1e-4))
        #expect(hears(&level, 1e-4))
        #expect(!hears(&level, 1e-2))
    }
}

@Test func aLatePacketIsNotCountedAsLost() {
    var missing = MissingPackets()
    missing.recordMissing(7...8, at: FrameCount(0))
    missing.recordArrival(7, at: FrameCount(960))
    let hasLossAtOnce = missing.hasLoss(at: FrameCount(960))
    #expect(!hasLossAtOnce, "it may still come")
    let hasLossLater = missing.hasLoss(at: FrameCount(48_000))
    #expect(hasLossLater)
    missing.recordArrival(8, at: FrameCount(960))
    let hasLossAfterAll = missing.hasLoss(at: FrameCount(48_000))
    #expect(!hasLossAfterAll)
}
