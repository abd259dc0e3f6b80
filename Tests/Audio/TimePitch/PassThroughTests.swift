import TenfourAudioCore
import TenfourTimePitch
import Testing

@Test(arguments: [1, 100, 480, 5_000])
func atRateOneAndPitchZeroEverySamplePassesAsItIsAndAtOnce(block: Int) {
    let sound = tone(440, seconds: 0.3)
    var run = TimePitchRun(block: block)
    run.process(sound)
    let (output, latency) = (run.output, run.timePitch.latency)
    #expect(output == sound)
    #expect(latency == 0)
}
