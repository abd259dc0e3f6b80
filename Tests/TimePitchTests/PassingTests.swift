import Sound
import Testing
import TimePitch

@Test(arguments: [1, 100, 480, 5_000])
func atRateOneAndPitchZeroEverySamplePassesAsItIsAndAtOnce(block: Int) {
    let sound = tone(440, seconds: 0.3)
    var bending = Bending(block: block)
    bending.bend(sound)
    #expect(bending.output == sound)
    #expect(bending.timePitch.latency == 0)
}
