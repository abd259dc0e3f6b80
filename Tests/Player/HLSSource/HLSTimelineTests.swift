import TenfourAudioCore
import TenfourMediaSource
import Testing

@testable import TenfourHLSSource

/// Reloads of a live playlist keep positions, and lead to the next segment.
struct HLSTimelineTests {
    /// A playlist of segments of 2 s.
    private func list(_ numbers: Range<Int>, ended: Bool = false, dates: Int? = nil) throws -> HLSMediaPlaylist {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        if let dates { text += "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:\(dates)Z\n" }
        for number in numbers { text += "#EXTINF:2,\n\(number).ts\n" }
        if ended { text += "#EXT-X-ENDLIST\n" }
        let parsed = try HLSPlaylist(parsing: Array(text.utf8).span, from: .http(address: "http://host/l"))
        guard case .media(let media) = parsed else { throw HLSPlaylistError.nested }
        return media
    }

    private func place(_ number: Int, epoch: Int = 0) -> HLSTimeline.Place { .init(epoch: epoch, number: number) }

    @Test func playbackStartsThreeTargetDurationsBeforeTheEdge() throws {
        #expect(try HLSTimeline(list(10..<20)).startPlace == place(17))
        #expect(try HLSTimeline(list(10..<12)).startPlace == place(10))
        #expect(try HLSTimeline(list(10..<20, ended: true)).startPlace == place(10))
        let live = try HLSTimeline(list(10..<20))
        #expect(live.window == .zero ..< .seconds(20) && live.edge == .seconds(14))
    }

    /// `EXT-X-START`. The playlist lasts 20 s.
    @Test(arguments: [(3.5, 3.5, 3.5), (-5, 14, 15), (-1000, 0, 0), (1000, 14, 20), (0, 0, 0)])
    func playbackStartsWhereThePlaylistSays(offset: Double, live: Double, ended: Double) throws {
        for (isEnded, start) in [(false, live), (true, ended)] {
            var list = try list(10..<20, ended: isEnded)
            list.start = HLSStart(offset: .seconds(offset), isPrecise: true)
            let timeline = HLSTimeline(list)
            #expect(timeline.startPosition == .seconds(start))
            #expect(timeline.startPlace == place(10 + min(Int(start / 2), 9)))
        }
    }

    @Test func segmentsKeepTheirPositionsWhenOthersVanish() throws {
        var live = try HLSTimeline(list(10..<15))
        #expect(try live.update(list(12..<17)) == .changed)
        #expect(live.window == .seconds(4) ..< .seconds(14))
        #expect(live.entry(at: place(11)) == .vanished)
        #expect(live.entry(at: place(12)) == .segment(0))
        #expect(live.entry(at: place(17)) == .notYet)
        #expect(try live.update(list(12..<17)) == .unchanged)
        #expect(try live.update(list(12..<17, ended: true)) == .changed)
        #expect(live.entry(at: place(17)) == .ended)
    }

    @Test func aGapBetweenTwoPlaylistsTakesItsTime() throws {
        var live = try HLSTimeline(list(0..<5))
        #expect(try live.update(list(8..<10)) == .changed)
        #expect(live.window == .seconds(16) ..< .seconds(20))
        var dated = try HLSTimeline(list(0..<1, dates: 10))
        #expect(try dated.update(list(8..<10, dates: 40)) == .changed)
        #expect(dated.window.lowerBound == .seconds(30), "the date says more than the number of segments")
        var huge = try HLSTimeline(list(0..<5))
        #expect(try huge.update(list(1 << 50..<(1 << 50) + 1)) == .changed)
        #expect(huge.window.lowerBound == .seconds(10 + 86_400))
    }

    @Test func anOlderPlaylistOfACacheIsIgnored() throws {
        var live = try HLSTimeline(list(10..<15))
        #expect(try live.update(list(9..<14)) == .stale)
        #expect(live.window == .zero ..< .seconds(10))
        #expect(try live.update(list(11..<16)) == .changed)
        #expect(live.window == .seconds(2) ..< .seconds(12))
        // A cache that never recovers is the broadcast.
        #expect(try live.update(list(10..<15)) == .stale)
        #expect(try live.update(list(10..<15)) == .stale)
        #expect(try live.update(list(10..<15)) == .restarted)
    }

    @Test func aBroadcastThatStartsAgainIsFollowed() throws {
        var live = try HLSTimeline(list(100..<105))
        #expect(try live.update(list(0..<2)) == .restarted)
        #expect(live.epoch == 1 && live.window == .seconds(10) ..< .seconds(14))
        #expect(live.entry(at: place(104)) == .vanished)
        #expect(live.startPlace == place(0, epoch: 1))
    }

    @Test func aPositionIsInOneSegment() throws {
        let list = try HLSTimeline(list(0..<5, ended: true))
        #expect(list.index(at: .zero) == 0 && list.index(at: .milliseconds(1_999)) == 0)
        #expect(list.index(at: .seconds(2)) == 1 && list.index(at: .seconds(99)) == 4)
        #expect(list.index(at: .seconds(-5)) == 0)
        #expect(list.edge == .seconds(10))
    }

    @Test func anEmptyLivePlaylistFills() throws {
        var live = try HLSTimeline(list(0..<0))
        #expect(live.index(at: .zero) == nil && live.entry(at: live.startPlace) == .notYet)
        #expect(try live.update(list(0..<0)) == .unchanged)
        #expect(try live.update(list(0..<3)) == .changed)
        #expect(live.entry(at: place(0)) == .segment(0))
        #expect(try live.update(list(3..<3, ended: true)) == .changed)
        #expect(live.isEnded && live.segments.count == 3)
    }

    // MARK: Reloads

    @Test func aPlaylistIsLoadedAgainAfterItsTargetDuration() throws {
        var schedule = HLSReloadSchedule()
        let start = Instant.start + .seconds(100)
        try schedule.loaded(list(0..<5), isChanged: true, requestedAt: start)
        #expect(schedule.deadline == start + .seconds(2))
        try schedule.loaded(list(0..<5), isChanged: false, requestedAt: start)
        #expect(schedule.deadline == start + .seconds(1), "half a target duration if nothing has changed")
        #expect(!schedule.isDue(at: start + .milliseconds(999)) && schedule.isDue(at: start + .seconds(1)))
        try schedule.loaded(list(0..<5, ended: true), isChanged: true, requestedAt: start)
        #expect(schedule.deadline == nil && !schedule.isDue(at: start + .seconds(1_000_000)))
    }

    @Test func aPlaylistWithoutDurationIsNotRequestedAllTheTime() throws {
        var list = try list(0..<1)
        list.targetDuration = .zero
        var schedule = HLSReloadSchedule()
        schedule.loaded(list, isChanged: false, requestedAt: .start)
        #expect(schedule.deadline == .start + .milliseconds(500))
        list.targetDuration = .seconds(3_600)
        schedule.loaded(list, isChanged: true, requestedAt: .start)
        #expect(schedule.deadline == .start + .seconds(60))
    }

    @Test func failedReloadsBackOffAndAreGivenUp() throws {
        var schedule = HLSReloadSchedule()
        var now = Instant.start
        var pauses: [Duration] = []
        for _ in 0..<8 {
            schedule.failed(at: now)
            let deadline = try #require(schedule.deadline)
            pauses.append(deadline - now)
            now = deadline
        }
        #expect(pauses.prefix(3) == [.milliseconds(500), .seconds(1), .seconds(2)] && pauses.last == .seconds(30))
        #expect(schedule.failureCount == 8)
        #expect(!schedule.isGivenUp(at: now, after: nil) && !schedule.isGivenUp(at: now, after: .seconds(3_600)))
        #expect(schedule.isGivenUp(at: now, after: .seconds(60)))
        try schedule.loaded(list(0..<5), isChanged: true, requestedAt: now)
        #expect(schedule.failureCount == 0 && !schedule.isGivenUp(at: now + .seconds(90), after: .seconds(60)))
    }

    @Test func aSegmentIsRequestedFourTimes() {
        var attempts = HLSAttempts()
        #expect(attempts.isDue(at: .start))
        var now = Instant.start
        for pause in [500, 1_000, 2_000] {
            attempts.failed(at: now, isFirst: false)
            #expect(!attempts.isDue(at: now) && attempts.isDue(at: now + .milliseconds(pause)))
            now = now + .milliseconds(pause)
            attempts.requested()
        }
        attempts.failed(at: now, isFirst: false)
        #expect(attempts.isGivenUp && !attempts.isDue(at: now + .seconds(100)))
        var first = HLSAttempts()
        first.failed(at: now, isFirst: true)
        first.failed(at: now, isFirst: true)
        #expect(first.isGivenUp)
    }
}
