import TenfourAudioCore
import Testing

@Test func twentyMillisecondsAre960FramesOfOpus() {
    #expect(FrameCount(.milliseconds(20)) == FrameCount(960))
    #expect(FrameCount(960).duration() == .milliseconds(20))
    #expect(FrameCount(.microseconds(2_500)) == FrameCount(120))
    #expect(FrameCount(.seconds(1), at: SampleRate(hertz: 44_100)) == FrameCount(44_100))
}

@Test func framesAreRoundedToTheNearestAlsoBelowZero() {
    #expect(FrameCount(.microseconds(10)) == FrameCount(0))
    #expect(FrameCount(.microseconds(11)) == FrameCount(1))
    #expect(FrameCount(.microseconds(-11)) == FrameCount(-1))
    #expect(FrameCount(.milliseconds(-20)) == FrameCount(-960))
}

@Test func anHourOfFramesIsExact() {
    let frames = FrameCount(48_000 * 3_600 + 1)
    #expect(FrameCount(frames.duration()) == frames)
}

@Test func instantsAndDurationsAddUp() {
    let later = Instant.start + .milliseconds(40)
    #expect(later - .start == .milliseconds(40))
    #expect(later - .milliseconds(40) == .start)
    #expect(Instant.start < later)
}

@Test func durationsNobodyMeantDoNotOverflow() {
    #expect(Instant.nanoseconds(in: .seconds(Int64.max)) == .max / 2)
    #expect(Instant.nanoseconds(in: .seconds(Int64.min + 1)) == -(.max / 2))
    #expect(Instant.start + .seconds(Int64.max) > .start)
}

@Test func aFullScaleSquareIsZeroDecibelsAndASineThreeBelow() {
    let square: [Float] = (0..<480).map { $0 % 2 == 0 ? 1 : -1 }
    #expect(abs(Level(rootMeanSquareOf: square.span).decibels) < 0.001)
    #expect(abs(Level(meanSquare: 0.5).decibels + 3.01) < 0.01)
}

@Test func silenceIsTheFloor() {
    let nothing: [Float] = []
    #expect(Level(rootMeanSquareOf: nothing.span) == .floor)
    #expect(Level(meanSquare: 0) == .floor)
    #expect(Level(meanSquare: 1e-30) == .floor)
}

@Test func preallocatedMemoryHoldsWhatIsPutIn() {
    var memory = FixedBuffer<Int>(repeating: 7, count: 4)
    memory[2] = 9
    let seen = [memory[1], memory[2], memory.count]
    #expect(seen == [7, 9, 4])
    var rest = memory.mutableSpan(in: 3..<4)
    rest[0] = 1
    let last = memory[3]
    #expect(last == 1)
}
