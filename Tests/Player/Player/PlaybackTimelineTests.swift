import TenfourAudioCore
import TenfourSeededRandom
import Testing

@testable import TenfourPlayer

struct PlaybackTimelineTests {
    /// However seldom the timeline is asked, each item is found once, in its order.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func everyItemThatBeganSinceIsFound(seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        var timeline = PlaybackTimeline()
        var (first, recorded, moment) = (0, 0, Instant.start)
        var found: [Int] = []
        while recorded < 500 {
            // At most ten items of 40 ms are recorded before each question, some of which are not heard yet.
            for _ in 0..<Int.random(in: 1...10, using: &randomness) {
                let start = Instant.start + .milliseconds(40 * recorded)
                timeline.record(
                    .init(start: start, position: 0, rate: 1, item: recorded, generation: 1, isExact: true))
                recorded += 1
            }
            moment = max(moment, .start + .milliseconds(40 * recorded - Int.random(in: 1...240, using: &randomness)))
            let items = timeline.segments(from: &first, to: moment).map(\.item)
            #expect(items.last == timeline.segment(at: moment)?.item)
            found += items.first == found.last ? items.dropFirst() : items[...]
        }
        #expect(found == Array(0...(found.last ?? 0)) && found.count > 490)
    }

    @Test func nothingIsHeardBeforeTheFirstSegmentAndForgottenOnesAreLeftOut() {
        var timeline = PlaybackTimeline()
        var first = 0
        #expect(timeline.segments(from: &first, to: .start).isEmpty && first == 0)
        for item in 0..<100 {
            let start = Instant.start + .milliseconds(40 * item)
            timeline.record(.init(start: start, position: 0, rate: 1, item: item, generation: 1, isExact: true))
        }
        let moment = Instant.start + .seconds(10)
        #expect(timeline.segments(from: &first, to: moment).map(\.item) == Array(84...99))
        #expect(timeline.segments(from: &first, to: moment).map(\.item) == [99])
    }
}
