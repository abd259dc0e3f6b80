import TenfourAudioCore
import TenfourJitterBuffer
import Testing

@Suite struct CardClockTests {
    private let start = Instant.start + .seconds(5)
    private let period = FrameCount(240)

    @Test func beforeTheFirstRequestThereIsNoTime() {
        let clock = CardClock()
        #expect(clock.position == .zero)
        #expect(clock.position(at: start) == .zero)
    }

    @Test func requestsAreTheTicks() {
        var clock = CardClock()
        for tick in 0..<1_000 { #expect(request(&clock, at: start + .milliseconds(5 * tick)) == .zero) }
        #expect(clock.position == FrameCount(240_000))
        #expect(clock.position(at: start + .milliseconds(2_500)) == FrameCount(120_000))
        #expect(clock.position(at: start - .milliseconds(10)) == FrameCount(-480), "what came before the start, too")
    }

    @Test func aThreadThatWakesUpLateIsNoise() {
        var clock = CardClock()
        var chance = Chance(state: 3)
        for tick in 0..<2_000 {
            let late = Int.random(in: 0...4_000, using: &chance)
            #expect(request(&clock, at: start + .milliseconds(5 * tick) + .microseconds(late)) == .zero)
            guard tick > 200 else { continue }
            // Late by 2 ms in the mean; what a single request adds is a twentieth.
            let now = clock.position(at: start + .milliseconds(5 * tick)).rawValue
            #expect(abs(now - (240 * tick - 96)) < 48, "at \(tick)")
        }
    }

    @Test func aCardThatStoodStillHasLostTime() {
        var clock = CardClock()
        for tick in 0..<100 { _ = request(&clock, at: start + .milliseconds(5 * tick)) }
        let lost = request(&clock, at: start + .milliseconds(500 + 300))
        #expect(lost == FrameCount(14_400))
        #expect(clock.position == FrameCount(100 * 240 + 14_400 + 240))
        // An arrival of now is where the card is now.
        #expect(clock.position(at: start + .milliseconds(800)) == FrameCount(38_400))
        #expect(request(&clock, at: start + .milliseconds(805)) == .zero)
    }

    @Test func aShortStandstillThatTheCardTellsOfIsNoNoise() {
        var clock = CardClock()
        clock.recordLoss(FrameCount(480))
        #expect(clock.position == .zero, "nothing was asked for yet")
        for tick in 0..<100 { _ = request(&clock, at: start + .milliseconds(5 * tick)) }
        clock.recordLoss(FrameCount(960))
        #expect(request(&clock, at: start + .milliseconds(500 + 20)) == .zero)
        #expect(clock.position == FrameCount(100 * 240 + 960 + 240))
        #expect(clock.position(at: start + .milliseconds(520)) == FrameCount(24_960), "arrivals are read as before")
    }

    @Test func aClockThatJumpsBackLosesNothing() {
        var clock = CardClock()
        for tick in 0..<100 { _ = request(&clock, at: start + .milliseconds(5 * tick)) }
        #expect(request(&clock, at: start + .milliseconds(400)) == .zero)
        #expect(clock.position == FrameCount(101 * 240))
        #expect(clock.position(at: start + .milliseconds(400)) == FrameCount(24_000))
    }

    @Test func aCardThatRunsFastIsFollowed() {
        var clock = CardClock()
        // 300 ppm for ten minutes is 180 ms by the end, and never seen at once.
        for tick in 0..<120_000 {
            let due = start + .nanoseconds(Int64(Double(tick) * 5e6 / 1.000_3))
            #expect(request(&clock, at: due) == .zero)
        }
        let end = start + .nanoseconds(Int64(120_000 * 5e6 / 1.000_3))
        #expect(abs(clock.position(at: end).rawValue - 120_000 * 240) < 10)
    }

    private func request(_ clock: inout CardClock, at now: Instant) -> FrameCount {
        let lost = clock.request(at: now)
        clock.advance(by: period)
        return lost
    }
}

/// A card that asks for the same sound later than before, since its queue needs to be no longer, is no jitter and no drift.
@Suite struct ShiftTests {
    @Test func theStepOfTheClockIsNotCountedAsLoss() {
        var clock = CardClock()
        for tick in 0..<100 {
            #expect(clock.request(at: .start + .milliseconds(5 * tick)) == .zero)
            clock.advance(by: FrameCount(240))
        }
        let before = clock.position(at: .start + .milliseconds(500))
        clock.shift(by: FrameCount(1_920))
        #expect(clock.position(at: .start + .milliseconds(500)) == before - FrameCount(1_920))
        #expect(clock.request(at: .start + .milliseconds(540)) == .zero)
    }

    @Test(arguments: [-1_920, 1_920]) func arrivalsOnAClockThatIsSetAreNoJitter(frames: Int) {
        var estimate = DelayEstimate()
        var drift = DriftEstimate()
        var shift = 0
        for packet in 0..<500 {
            if packet == 250 {
                shift = frames
                estimate.shift(by: FrameCount(frames))
                drift.shift(by: FrameCount(frames))
            }
            let arrival = FrameCount(packet * 960 + 5_000 + packet * 7 % 5 * 48 + shift)
            estimate.insert(arrival - FrameCount(packet * 960), at: arrival)
            drift.insert(arrival - FrameCount(packet * 960), at: arrival)
        }
        let base = estimate.base ?? .zero
        #expect(abs(base.rawValue - 5_000 - frames) <= 12)
        let spread = (estimate.delay(exceptFor: 0.05) ?? .zero) - base
        #expect(spread < FrameCount(480), "4 ms of jitter and its reserve, not \(spread)")
        #expect(abs(drift.partsPerMillion) < 20)
    }
}
