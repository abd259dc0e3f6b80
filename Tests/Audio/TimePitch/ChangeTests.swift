import Glibc
import TenfourAudioCore
import TenfourTimePitch
import Testing

/// Returns `input` processed with the rates and pitches of `changes`, one for each `frames` input frames.
private func process(_ input: [Float], through changes: [(rate: Double, pitch: Double)], every frames: Int)
    -> TimePitchRun
{
    var run = TimePitchRun()
    for (index, change) in changes.enumerated() {
        run.timePitch.rate = change.rate
        run.timePitch.pitch = change.pitch
        run.process(Array(input[index * frames..<(index + 1) * frames]))
    }
    run.finish()
    return run
}

@Test func changesOfRateDoNotClick() {
    let input = tone(330, seconds: 1.5)
    let rates = [1, 1.5, 0.7, 1, 2, 0.25, 4, 1, 8, 1, 32, 1.1, 0.9, 1, 3].map { (rate: $0, pitch: 0.0) }
    let run = process(input, through: rates, every: 4_800)
    let sharpest = sharpness(run.output[...])
    #expect(sharpest < 1.3 * sharpness(input[...]))
}

@Test func changesOfPitchDoNotClick() {
    let input = tone(330, seconds: 1.5)
    let pitches = [0.0, 100, -100, 0, 700, -2_400, 600, 0, 1, -1, 0, 300, -300, 3, 0].map { (rate: 1.0, pitch: $0) }
    let run = process(input, through: pitches, every: 4_800)
    let sharpest = sharpness(run.output.dropLast(32))
    // Audio seven semitones higher is 2.25 times as sharp.
    #expect(sharpest < 1.3 * 2.25 * sharpness(input[...]))
}

@Test func aSliderThatNeverRestsDoesNotClickAndMovesTheSound() {
    let input = tone(330, seconds: 0.8)
    let slide = (0..<80).map { (index: Int) -> (rate: Double, pitch: Double) in
        let time = Double(index)
        return (1.5 + 0.4 * sin(time / 15), 50 * sin(time / 7))
    }
    let run = process(input, through: slide, every: 480)
    // Skips the last samples, which are interpolated between the end of the audio and silence.
    let sharpest = sharpness(run.output.dropLast(32))
    #expect(sharpest < 1.4 * sharpness(input[...]))
    let average: Double = slide.reduce(0.0) { $0 + 1 / $1.rate } / 80
    let error = Double(run.output.count) / Double(input.count) / average - 1
    #expect(abs(error) < 0.05)
}

@Test func samplesAreExactAgainAfterRateAndPitchReturnTo1() {
    let input = (0..<96_000).map { (index: Int) -> Float in
        let noise = sin(Double(index * index % 4_801))
        return Float(0.3 * sin(Double(index) * 0.01) + 0.1 * noise)
    }
    var run = TimePitchRun(rate: 1.3, pitch: 250)
    run.process(Array(input[..<48_000]))
    run.timePitch.rate = 1
    run.timePitch.pitch = 0
    run.process(Array(input[48_000...]))
    run.finish()
    let end = run.output.suffix(40_000)
    #expect(Array(end) == Array(input.suffix(40_000)))
}

@Test(arguments: [0.5, 1.5, 4, 16])
func theLastSampleOfTheInputIsTheLastOfTheOutput(rate: Double) {
    var input = [Float](repeating: 0, count: 48_000)
    for index in 47_900..<48_000 { input[index] = Float(index - 47_899) / 100 }
    var run = TimePitchRun(rate: rate)
    run.process(input)
    run.finish()
    let (last, position) = (run.output.last, run.timePitch.position)
    #expect(last == 1)
    #expect(position == 0)
}

@Test func nothingOfWhatWasBeforeASeekIsHeardAfterIt() {
    var run = TimePitchRun(rate: 1.5, pitch: 200)
    run.process(tone(440, seconds: 0.5))
    run.timePitch.clear()
    let before = run.output.count
    run.process([Float](repeating: 0, count: 24_000))
    run.finish()
    let output = run.output
    #expect(output.count > before)
    #expect(output[before...].allSatisfy { $0 == 0 })
}

@Test(arguments: [1, 37, 480, 4_096])
func outputDoesNotDependOnTheBlockSize(block: Int) {
    let input = tone(200, seconds: 0.4).enumerated().map { $1 * Float($0 % 7_000) / 7_000 }
    var run = TimePitchRun(rate: 1.4, pitch: -150, block: block)
    run.process(input)
    run.finish()
    var other = TimePitchRun(rate: 1.4, pitch: -150, block: 960)
    other.process(input)
    other.finish()
    let (one, two) = (run.output, other.output)
    #expect(one == two)
}
