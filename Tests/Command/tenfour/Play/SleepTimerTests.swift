import TenfourAudioCore
import Testing

@testable import tenfour

struct SleepTimerTests {
    private let start = Instant.start + .seconds(100)

    @Test func theFadeOutBeginsOnceAndEndsWithTheTime() {
        var timer = SleepTimer(.seconds(1_800), from: start)
        #expect(timer.fadeOut(at: start + .seconds(1_779)) == nil)
        #expect(timer.left(at: start + .seconds(1_779)) == .seconds(21))
        #expect(timer.fadeOut(at: start + .milliseconds(1_780_050)) == .milliseconds(19_950))
        #expect(timer.fadeOut(at: start + .seconds(1_790)) == nil)
        #expect(!timer.isOver(at: start + .seconds(1_799)) && timer.isOver(at: start + .seconds(1_800)))
        #expect(timer.left(at: start + .seconds(2_000)) == .zero)
    }

    @Test func aShortTimeFadesForHalfOfIt() {
        var timer = SleepTimer(.seconds(4), from: start)
        #expect(timer.fadeOut(at: start + .milliseconds(1_900)) == nil)
        #expect(timer.fadeOut(at: start + .seconds(2)) == .seconds(2))
    }
}
