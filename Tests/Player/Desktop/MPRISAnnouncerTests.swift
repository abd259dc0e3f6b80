import TenfourAudioCore
import TenfourDBus
import Testing

@testable import TenfourDesktop

/// When clients are told, on a clock of the test's own.
struct MPRISAnnouncerTests {
    private var state = ControlledPlayer().remoteState
    private var announcer = MPRISAnnouncer()
    private var now = Instant.start + .seconds(1_000)

    init() { #expect(pass(.zero) == []) }

    /// Lets time pass, and the position with it.
    private mutating func pass(_ time: Duration) -> [MPRISAnnouncer.Announcement] {
        now = now + time
        if state.status == .playing, !state.isBuffering { state.position += time * state.rate }
        return announcer.announcements(of: state, at: now)
    }

    @Test mutating func nothingIsToldWhilePlaybackGoesOn() {
        for _ in 0..<1_000 {
            let told = pass(.milliseconds(100))
            #expect(told == [])
        }
    }

    @Test mutating func onlyWhatChangedIsTold() {
        state.status = .paused
        state.volume = 0.5
        let told = pass(.milliseconds(100))
        #expect(told == [.changed(["PlaybackStatus": .text("Paused"), "Volume": .double(0.5)])])
        let later = pass(.seconds(5))
        #expect(later == [])
        state.status = .playing
        let again = pass(.milliseconds(100))
        #expect(again == [.changed(["PlaybackStatus": .text("Playing")])])
        let end = pass(.seconds(5))
        #expect(end == [])
    }

    @Test mutating func aJumpIsToldWhenItIsHeard() {
        state.isBuffering = true
        announcer.sought(at: now)
        let silent = pass(.milliseconds(200))
        #expect(silent == [])
        state.isBuffering = false
        state.position = .seconds(70)
        let told = pass(.milliseconds(100))
        #expect(told == [.sought(state.position)])
        let later = pass(.milliseconds(100))
        #expect(later == [])
        // Estimates of a position may be refined by less than a quarter of a second.
        _ = pass(.seconds(3))
        state.position += .milliseconds(200)
        let refined = pass(.milliseconds(100))
        #expect(refined == [])
    }

    @Test mutating func aSmallJumpOfAClientIsToldToo() {
        announcer.sought(at: now)
        state.position += .milliseconds(100)
        let told = pass(.milliseconds(100))
        #expect(told == [.sought(state.position)])
    }

    @Test mutating func aNewItemBeginsAtItsStart() throws {
        state.item?.id = "0_1"
        state.position = .zero
        let told = pass(.milliseconds(100))
        #expect(told.count == 1)
        // An item that begins elsewhere is told.
        state.item?.id = "0_2"
        state.position = .seconds(40)
        let jump = pass(.milliseconds(100))
        #expect(jump.count == 2 && jump.last == .sought(state.position))
    }

    @Test mutating func anUnderrunIsToldAsAJumpBack() {
        state.isBuffering = true
        let silent = pass(.seconds(2))
        #expect(silent == [])
        state.isBuffering = false
        let told = pass(.milliseconds(100))
        #expect(told == [.sought(state.position)])
    }

    /// However often a player changes, clients are told ten times a second at most, and the last value at the end.
    @Test mutating func theRateOfSignalsIsBounded() {
        var count = 0
        for number in 0..<10_000 {
            state.volume = number % 2 == 0 ? 0.25 : 0.75
            state.position = .seconds(number % 90)
            count += pass(.milliseconds(1)).isEmpty ? 0 : 1
        }
        #expect(count <= 101 && count >= 50)
        state.volume = 0.3
        let last = pass(.milliseconds(100))
        #expect(last.first == .changed(["Volume": .double(0.3)]))
    }
}
