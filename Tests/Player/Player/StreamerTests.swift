import Glibc
import TenfourAudioCore
import TenfourMediaSource
import TestSupport
import Testing

@testable import TenfourPlayer

/// A streamer on the real clock, with audio that arrives when the test lets it. Only waits for events that never
/// happen time out.
@Suite(.serialized, .onItsOwnThread, .inRealTime) struct StreamerTests {
    @Test func itPlaysToTheEndAndReportsProgress() async throws {
        let streamer = try streamer(CodedOpener(.mono))
        let events = streamer.events
        streamer.open("2")
        streamer.play()
        var states: [StreamState] = []
        var titles: [String] = []
        var positions: [Duration] = []
        for await event in events {
            switch event {
            // On a stalled machine playback may run dry and resume, so each state is recorded once.
            case .state(let state): if !states.contains(state) { states.append(state) }
            case .title(let title): titles.append(title)
            case .progress(let progress): positions.append(progress.position.value)
            case .item(let number, let track): #expect(number == 0 && track.codec == "coded")
            case .queue: break
            case .skipped, .seekRefused, .notice: Issue.record("unexpected skip or refused seek")
            }
            if streamer.state.isOver { streamer.close() }
        }
        #expect(streamer.state == .ended(.finished))
        #expect(streamer.progress.position.value == .seconds(2))
        #expect(states == [.idle, .paused, .buffering(.opening), .playing, .ended(.finished)])
        #expect(titles == ["A title"])
        #expect(positions.count > 2 && positions == positions.sorted())
    }

    @Test func itBuffersUntilEnoughIsThereAndWhenItRunsOut() throws {
        let opener = CodedOpener(.mono, held: 0.3)
        let streamer = try streamer(opener) {
            $0.startAfter = .milliseconds(500)
            $0.resumeAfter = .milliseconds(800)
        }
        streamer.open("30")
        streamer.play()
        try #require(waiting { opener.opened.count == 1 })
        usleep(300_000)
        #expect(streamer.state.isBuffering && streamer.progress.position.value == .zero)
        opener.opened[0].holdBack(after: 0.9)
        #expect(waiting { streamer.state == .playing })
        #expect(waiting { streamer.state.isBuffering }, "playback has run out of audio")
        // The audio already written to the output is still heard.
        usleep(200_000)
        let position = streamer.progress.position.value
        #expect(position > .milliseconds(800) && position <= .milliseconds(900))
        opener.opened[0].holdBack(after: 1.4)
        usleep(300_000)
        #expect(streamer.state.isBuffering, "half a second is too little to resume")
        #expect(streamer.progress.position.value == position)
        opener.opened[0].holdBack(after: 3)
        #expect(waiting { streamer.state == .playing })
        #expect(waiting { streamer.progress.position.value > position + .milliseconds(300) })
        streamer.close()
    }

    @Test func aSeekComesBetweenWhileItWaitsForBytes() throws {
        let opener = CodedOpener(.mono, held: 0.5)
        let streamer = try streamer(opener)
        streamer.open("30")
        streamer.play()
        #expect(waiting { streamer.state.isBuffering && streamer.progress.position.value > .milliseconds(400) })
        streamer.seek(to: .milliseconds(200))
        #expect(waiting { streamer.state == .playing })
        let position = streamer.progress.position.value
        #expect(position >= .milliseconds(200) && position < .milliseconds(500))
        streamer.close()
        #expect(opener.opened[0].isStopped)
    }

    @Test func aPauseHoldsThePositionAndTheClockOfTheDownload() throws {
        let opener = CodedOpener(.mono)
        let streamer = try streamer(opener)
        streamer.open("30")
        streamer.play()
        #expect(waiting { streamer.progress.position.value > .milliseconds(100) })
        streamer.pause()
        #expect(streamer.state == .paused)
        #expect(opener.opened[0].isPaused)
        usleep(100_000)
        let position = streamer.progress.position.value
        usleep(200_000)
        #expect(streamer.progress.position.value == position)
        streamer.play()
        #expect(streamer.state == .playing)
        #expect(!opener.opened[0].isPaused)
        #expect(waiting { streamer.progress.position.value > position })
        streamer.close()
    }

    @Test func seeksAddUpAndStayWithinTheSound() throws {
        let streamer = try streamer(CodedOpener(.mono))
        streamer.open("30")
        #expect(waiting { streamer.progress.duration != nil })
        for _ in 0..<5 { streamer.seek(by: .seconds(5)) }
        #expect(waiting { streamer.progress.position.value == .seconds(25) })
        streamer.seek(by: .seconds(60))
        #expect(waiting { streamer.progress.position.value == .seconds(30) })
        streamer.seek(by: .seconds(-100))
        #expect(waiting { streamer.progress.position.value == .zero })
        #expect(streamer.state == .paused)
        streamer.close()
    }

    @Test func afterTheEndASeekIsAPauseThere() throws {
        let streamer = try streamer(CodedOpener(.mono))
        try streamer.playToEnd("0.3")
        streamer.seek(to: .milliseconds(100))
        #expect(streamer.state == .paused)
        #expect(waiting { streamer.progress.position.value == .milliseconds(100) })
        usleep(100_000)
        #expect(streamer.state == .paused && streamer.progress.position.value == .milliseconds(100))
        streamer.play()
        try streamer.wait()
        #expect(streamer.state == .ended(.finished))
        #expect(streamer.progress.position.value == .milliseconds(300))
        streamer.close()
    }

    @Test func aSeekWhileItIsStoppedIsReportedAndIsWherePlayBegins() throws {
        let streamer = try streamer(CodedOpener(.mono))
        streamer.open("30")
        streamer.play()
        #expect(waiting { streamer.state == .playing })
        streamer.stop()
        streamer.seek(to: .seconds(29))
        #expect(streamer.state == .ended(.stopped) && streamer.progress.position.value == .seconds(29))
        streamer.play()
        try streamer.wait()
        #expect(streamer.state == .ended(.finished))
        #expect(streamer.progress.played < .seconds(10), "playback did not restart from the beginning")
        streamer.close()
    }

    @Test func theNextIsFetchedBeforeItsTurn() throws {
        let opener = CodedOpener(.mono)
        let streamer = try streamer(opener)
        streamer.open(["10", "0.3"])
        try #require(waiting { opener.opened.count == 2 })
        #expect(streamer.progress.item == 0)
        streamer.play()
        streamer.next()
        try streamer.wait()
        #expect(streamer.progress.item == 1)
        #expect(opener.opened.count == 2, "the item was fetched again")
        streamer.close()
    }

    @Test func aDownloadForAnotherQueueIsNotPlayed() throws {
        let opener = CodedOpener(.mono)
        let streamer = try streamer(opener)
        streamer.open(["10", "3"])
        try #require(waiting { opener.opened.count == 2 })
        streamer.open(["10", "5"])
        try #require(waiting { opener.opened.count == 4 })
        streamer.next()
        #expect(waiting { streamer.progress.duration?.value == .seconds(5) })
        #expect(opener.opened[1].isStopped)
        streamer.close()
    }

    @Test func aSeekThatLeadsNowhereIsReportedAndItPlaysOn() async throws {
        let streamer = try streamer(CodedOpener(.mono, .straight))
        let events = streamer.events
        streamer.open("2")
        streamer.play()
        #expect(waiting { streamer.progress.position.value > .milliseconds(200) })
        streamer.seek(to: .milliseconds(1_900))
        streamer.seek(to: .zero)
        #expect(waiting { streamer.state == .playing && streamer.progress.position.value > .milliseconds(600) })
        #expect(streamer.progress.position.value < .milliseconds(1_900))
        try streamer.wait()
        #expect(streamer.state == .ended(.finished))
        streamer.close()
        var refusals: [StreamError] = []
        for await case .seekRefused(let error) in events { refusals.append(error) }
        #expect(refusals.last == .read(.demuxer(.malformed("no way"))))
    }

    @Test func anEstimatedDurationBecomesExactDuringPlayback() throws {
        let streamer = try streamer(CodedOpener(.mono, .guessing))
        streamer.open("30")
        #expect(waiting { streamer.progress.duration == Estimate(.seconds(30), isExact: true) })
        streamer.close()
    }

    @Test func aSeekComesBetweenWhereTheNextDoesNotCome() throws {
        let opener = CodedOpener(.mono, .lateAgain)
        let streamer = try streamer(opener) { $0.loops = true }
        streamer.open("0.5")
        streamer.play()
        #expect(
            waiting { streamer.state.isBuffering && streamer.progress.position.value > .milliseconds(400) },
            "playback has run out of audio")
        streamer.seek(by: .seconds(-5))
        let early = Duration.milliseconds(100)..<Duration.milliseconds(400)
        #expect(waiting { streamer.state == .playing && early.contains(streamer.progress.position.value) })
        streamer.close()
    }

    @Test func afterAQueueThatEndsInWhatCannotBePlayedASeekPlaysWhatWasHeard() throws {
        let streamer = try streamer(CodedOpener(.mono))
        streamer.open(["0.3", "none"])
        streamer.play()
        try streamer.wait()
        streamer.seek(to: .milliseconds(100))
        #expect(waiting { streamer.state == .paused })
        streamer.play()
        try streamer.wait()
        #expect(streamer.progress.item == 0 && streamer.progress.position.value == .milliseconds(300))
        streamer.close()
    }

    @Test func anItemOpenedDuringAPauseIsPaused() throws {
        let opener = CodedOpener(.mono)
        let streamer = try streamer(opener)
        streamer.open(["10", "10"])
        try #require(waiting { opener.opened.count == 2 && opener.opened.allSatisfy { $0.isPaused } })
        streamer.play()
        #expect(opener.opened.allSatisfy { !$0.isPaused })
        streamer.close()
    }

    @Test func aQueueIsReplacedAtAnyTimeAndByNone() throws {
        let streamer = try streamer(CodedOpener(.mono))
        for _ in 0..<300 {
            streamer.open(["9", "9", "9"])
            streamer.next()
            streamer.next()
            streamer.open(["9"])
        }
        #expect(waiting { streamer.progress.duration != nil })
        streamer.open([])
        #expect(streamer.state == .ended(.stopped) && streamer.queue.isEmpty)
        streamer.close()
    }

    @Test func aLateListenerGetsTheStateAndTheEnd() async throws {
        let streamer = try streamer(CodedOpener(.mono))
        streamer.open("none")
        streamer.play()
        #expect(waiting { streamer.state.isOver })
        for await case .state(let state) in streamer.events {
            #expect(state == .failed(.unusable("no number")))
            break
        }
        streamer.close()
        var events: [StreamEvent] = []
        for await event in streamer.events { events.append(event) }
        #expect(events == [.state(.failed(.unusable("no number")))])
    }

    @Test func closingIsAnEndThatObserversSee() async throws {
        let streamer = try streamer(CodedOpener(.mono))
        let events = streamer.events
        streamer.open("30")
        streamer.play()
        #expect(waiting { streamer.state == .playing })
        streamer.close()
        #expect(streamer.state == .ended(.closed))
        var states: [StreamState] = []
        for await case .state(let state) in events { states.append(state) }
        #expect(states.last == .ended(.closed))
    }

    @Test func theBitRateIsExactWhenAllHasBeenRead() throws {
        let streamer = try streamer(CodedOpener(.mono))
        streamer.open("30")
        streamer.play()
        #expect(waiting { streamer.progress.bitRate != nil })
        #expect(streamer.progress.bitRate == Estimate(384_000, isExact: false))
        try streamer.playToEnd("0.3")
        #expect(streamer.progress.bitRate == Estimate(384_000, isExact: true))
        streamer.close()
    }

    @Test func aCardThatIsNotThereIsOfThatKind() {
        var configuration = StreamerConfiguration()
        configuration.output = .card("nosuchcard")
        let error = #expect(throws: StreamError.self) { _ = try Streamer(configuration) }
        #expect(error?.kind == .noCard, "\(String(describing: error))")
    }

    @Test func aFadeEndsWithWhatIsPlayed() throws {
        let streamer = try streamer(CodedOpener(.mono))
        streamer.open("30")
        streamer.play()
        #expect(waiting { streamer.progress.level > -30 })
        streamer.fadeOut(over: .milliseconds(50))
        #expect(waiting { streamer.progress.level < -90 })
        streamer.stop()
        streamer.play()
        #expect(waiting { streamer.progress.level > -30 })
        streamer.close()
    }

    @Test func anEmptyTitleOfAStationIsNone() throws {
        let streamer = try streamer(CodedOpener(.mono, .untitled))
        streamer.open("30")
        #expect(waiting { streamer.track != nil })
        #expect(streamer.track?.title == "A title")
        streamer.close()
    }

    @Test func itStopsAndBeginsAgain() throws {
        let streamer = try streamer(CodedOpener(.mono))
        streamer.open("30", at: .seconds(3))
        streamer.play()
        #expect(waiting { streamer.progress.position.value > .milliseconds(3_100) })
        streamer.stop()
        #expect(streamer.state == .ended(.stopped))
        #expect(waiting { streamer.progress.position.value == .zero })
        streamer.play()
        #expect(waiting { streamer.state == .playing && streamer.progress.position.value > .milliseconds(50) })
        #expect(streamer.progress.position.value < .seconds(3))
        streamer.close()
    }

    @Test func settingsStayWithinTheirBounds() throws {
        let streamer = try streamer(CodedOpener(.mono))
        streamer.rate = 99
        streamer.pitch = -9_999
        streamer.volume = 3
        #expect(streamer.rate == 32 && streamer.pitch == -2_400 && streamer.volume == 1)
        streamer.rate = .nan
        streamer.pitch = .infinity
        streamer.volume = .nan
        #expect(streamer.rate == 1 && streamer.pitch == 0 && streamer.volume == 1)
        streamer.close()
    }

    private func streamer(
        _ opener: CodedOpener, _ configure: (inout StreamerConfiguration) -> Void = { _ in }
    ) throws -> Streamer {
        var configuration = StreamerConfiguration()
        configuration.output = .clock
        configuration.channelCount = 1
        configure(&configuration)
        return try Streamer(configuration, opener: opener)
    }
}

/// Waits until `isSo` is true. Returns false after `seconds`, which are far more than a slow machine needs.
func waiting(_ seconds: Double = 20, until isSo: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while !isSo() {
        guard ContinuousClock.now < end else { return false }
        usleep(2_000)
    }
    return true
}
