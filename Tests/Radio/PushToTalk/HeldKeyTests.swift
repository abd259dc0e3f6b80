import TenfourAudioCore
import TenfourPushToTalk
import Testing

struct HeldKeyTests {
    private var key = HeldKey(reportsReleases: true)

    @Test mutating func itIsHeldFromThePressToTheRelease() {
        #expect(key.pressed(at: ms(0)) == .press)
        #expect(key.repeated(at: ms(660)) == nil && key.repeated(at: ms(690)) == nil)
        #expect(key.pressed(at: ms(720)) == nil, "some terminals report a repeat as a press")
        #expect(key.isHeld && key.nextDeadline == ms(2_220))
        #expect(key.released() == .release)
        #expect(!key.isHeld && key.released() == nil && key.nextDeadline == nil)
    }

    @Test mutating func aKeyThatNoLongerRepeatsIsReleased() {
        #expect(key.pressed(at: ms(0)) == .press)
        #expect(key.timeElapsed(at: ms(1_499)) == nil)
        #expect(key.timeElapsed(at: ms(1_500)) == .release)
        #expect(key.timeElapsed(at: ms(9_000)) == nil)
        #expect(key.repeated(at: ms(9_000)) == .press, "it is still down: the connection had stalled")
        #expect(key.released() == .release)
        #expect(key.repeated(at: ms(9_100)) == nil, "a repeat that was overtaken by the release")
    }

    @Test mutating func losingTheFocusReleases() {
        #expect(key.pressed(at: ms(0)) == .press)
        #expect(key.lostFocus() == .release)
        #expect(key.repeated(at: ms(30)) == nil)
        #expect(key.released() == nil)
        #expect(key.pressed(at: ms(1_000)) == .press)
    }

    /// kitty 0.26.5 sends CSI 32;1:2 u for such a press.
    @Test mutating func afterTheFocusAPressThatIsReportedAsARepeatCounts() {
        #expect(key.pressed(at: ms(0)) == .press)
        #expect(key.lostFocus() == .release)
        #expect(key.released() == nil, "kitty reports it when the focus is lost")
        key.gainedFocus(at: ms(600))
        #expect(key.repeated(at: ms(1_600)) == .press)
        #expect(key.repeated(at: ms(2_260)) == nil && key.isHeld)
        #expect(key.released() == .release)
    }

    @Test mutating func aKeyThatWasHeldInAnotherWindowDoesNotTalk() {
        key.gainedFocus(at: ms(600))
        for time in stride(from: 640, to: 3_000, by: 40) { #expect(key.repeated(at: ms(time)) == nil) }
        #expect(key.released() == nil)
        #expect(key.pressed(at: ms(3_100)) == .press)
    }

    @Test mutating func withoutReportsOfReleasesItToggles() {
        key.reportsReleases = false
        #expect(key.pressed(at: ms(0)) == .toggle && key.nextDeadline == nil)
        #expect(key.lostFocus() == nil)
        #expect(key.pressed(at: ms(500)) == .toggle)
    }
}
