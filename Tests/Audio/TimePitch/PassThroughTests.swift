import TenfourAudioCore
import TenfourTimePitch
import Testing

@Test(arguments: [1, 100, 480, 5_000])
func atRateOneAndPitchZeroEverySamplePassesAsItIsAndAtOnce(block: Int) {
    let sound = tone(440, seconds: 0.3)
    var bending = TimePitchRun(block: block)
    bending.process(sound)
    let (output, latency) = (bending.output, bending.timePitch.latency)
    #expect(output == sound)
    #expect(latency == 0)
}
