import Testing

@testable import TenfourSoundCard

private let millisecond: Int64 = 1_000_000
private let second: Int64 = 1_000_000_000

@Suite struct QuantumEstimatorTests {
    /// Returns the estimate for a sound server that takes `quantum` frames at a time, polled every `interval`
    /// nanoseconds for two seconds.
    private func estimate(quantum: Int, every interval: Int64, days: Int = 0) -> QuantumEstimator {
        var estimator = QuantumEstimator(rate: 48_000)
        for passed in stride(from: 0, to: 2 * second, by: Int64.Stride(interval)) {
            let position = days * 86_400 * 48_000 + frames(in: passed, at: 48_000) / quantum * quantum
            estimator.record(position: position, at: Int64(days) * 86_400 * second + passed)
        }
        return estimator
    }

    @Test(arguments: [128, 256, 512, 1_024, 2_048, 4_096])
    func theStepsOfTheHardwarePointerAreTheQuantum(_ quantum: Int) {
        #expect(estimate(quantum: quantum, every: 4_700_000).quantum == quantum)
    }

    @Test func aCardThatMovesFrameByFrameHasNone() {
        #expect(estimate(quantum: 1, every: 5_000_000).quantum == 0)
        #expect(estimate(quantum: 32, every: 5_000_000).quantum == 0)
    }

    @Test func theOriginIsWhereTheStepsBegin() {
        let origin = estimate(quantum: 1_024, every: 1_300_000).origin
        #expect(origin.map { abs($0) < 2 * millisecond } == true)
    }

    @Test func aShorterQuantumIsKnownAfterTwoSeconds() {
        var estimator = estimate(quantum: 2_048, every: 5_000_000)
        for now in stride(from: 2 * second, to: 4 * second + 100 * millisecond, by: Int64.Stride(5_000_000)) {
            estimator.record(position: frames(in: now, at: 48_000) / 256 * 256, at: now)
        }
        #expect(estimator.quantum == 256)
    }

    @Test func theEarliestOriginIsKeptAsLongAsThatIsAskedFor() throws {
        var estimator = estimate(quantum: 1_024, every: 5_000_000)
        let early = try #require(estimator.origin)
        func move(from start: Int64, to end: Int64, keepsOrigin: Bool) {
            for now in stride(from: start, to: end, by: Int64.Stride(5_000_000)) {
                // A quantum of 128 frames is taken 896 frames later than one of 1024.
                let position = frames(in: now, at: 48_000) / 128 * 128 - 896
                estimator.record(position: position, at: now, keepsOrigin: keepsOrigin)
            }
        }
        estimator.record(position: 96_000, at: 2 * second, keepsOrigin: true)
        move(from: 2 * second + 20 * millisecond, to: 9 * second, keepsOrigin: true)
        #expect(estimator.origin.map { $0 <= early } == true)
        move(from: 9 * second, to: 10 * second, keepsOrigin: false)
        #expect(estimator.origin.map { $0 > early + 15 * millisecond } == true)
    }

    @Test func daysDoNotOverflow() {
        let estimator = estimate(quantum: 512, every: 5_000_000, days: 400)
        #expect(estimator.quantum == 512)
    }
}

@Suite struct PlaybackQueueTests {
    private func queue() -> PlaybackQueue {
        PlaybackQueue(requestedQueue: 480, period: 240, buffer: 8_160, rate: 48_000)
    }

    @Test func aCardThatMovesFrameByFrameKeepsTheQueueThatWasAskedFor() {
        var queue = queue()
        for tick in 0..<600 { queue.adapt(toQuantum: 0, largestStep: 240, at: Int64(tick) * second / 10) }
        #expect(queue.target == 480 && queue.lead == 480)
    }

    @Test(arguments: [128, 256, 1_024, 2_048])
    func aQuantumAPeriodAndAReserveAreQueued(_ quantum: Int) {
        var queue = queue()
        queue.adapt(toQuantum: quantum, largestStep: quantum, at: 0)
        #expect(queue.target == max(480, quantum + 360))
        #expect(queue.lead == 360)
        #expect(queue.most >= queue.target + 240)
    }

    @Test func anUnderrunBeforeWeWereLateIsFollowedByAQueueBeyondTheLongestQuantum() {
        var queue = queue()
        queue.adapt(toQuantum: 128, largestStep: 128, at: 0)
        queue.underrun(isLate: false, at: 0)
        #expect(queue.generous == 2_048 + 360)
        queue.adapt(toQuantum: 1_024, largestStep: 1_024, at: second)
        queue.quantumLearned(at: second)
        #expect(queue.target == 1_384 && queue.lead == 360 && queue.availMin == 240)
    }

    @Test func aQuantumThatIsLongerStillIsLearntFromTwiceAsMuch() {
        var queue = queue()
        queue.learningFailed()
        #expect(queue.generous == 4_096 + 360)
        for _ in 0..<100 { queue.learningFailed() }
        #expect(queue.generous <= 8_160)
    }

    @Test func aLongQuantumNeedsALongerAvailMin() {
        var queue = queue()
        queue.adapt(toQuantum: 1_920, largestStep: 1_920, at: 0)
        // PipeWire's ALSA plugin passes on at most eight times avail_min per cycle.
        #expect(queue.availMin * 8 >= 2_048)
        queue.adapt(toQuantum: 256, largestStep: 256, at: 2 * second)
        #expect(queue.availMin == 240)
    }

    @Test func anUnderrunBecauseWeWereLateRaisesTheLeadByHalfAPeriod() {
        var queue = queue()
        queue.underrun(isLate: true, at: 0)
        #expect(queue.lead == 600 && queue.target == 600)
    }

    @Test func anUnderrunThatTheQuantumDoesNotExplainRaisesTheLead() {
        var queue = queue()
        queue.adapt(toQuantum: 256, largestStep: 256, at: 0)
        for _ in 0..<2 {
            queue.underrun(isLate: false, at: 0)
            queue.adapt(toQuantum: 256, largestStep: 256, at: 0)
            queue.quantumLearned(at: 0)
        }
        #expect(queue.lead == 360 + 2 * 120)
        // A minute later, half of the increase is taken back on trial.
        for tick in 0..<700 { queue.adapt(toQuantum: 256, largestStep: 256, at: Int64(tick) * second / 10) }
        #expect(queue.lead == 360 + 120)
    }

    @Test func theQueueComesDownToTheQuantum() {
        var queue = queue()
        queue.adapt(toQuantum: 2_048, largestStep: 2_048, at: 0)
        for tick in 0..<100 { queue.adapt(toQuantum: 1_024, largestStep: 1_024, at: Int64(tick) * second / 10) }
        #expect(queue.target == 1_384)
        #expect(queue.availMin == 240)
    }

    @Test func forAMinuteItStaysReadyForWhatMadeItFail() {
        var queue = queue()
        #expect(!queue.isHolding(at: 0))
        queue.underrun(isLate: false, at: 0)
        #expect(queue.isHolding(at: 59 * second))
        #expect(!queue.isHolding(at: 61 * second))
    }

    @Test func framesTakenAtOnceMayBeQueuedForAMinute() {
        var queue = queue()
        queue.underrun(isLate: false, at: 0)
        queue.adapt(toQuantum: 2_048, largestStep: 2_048, at: second)
        queue.adapt(toQuantum: 128, largestStep: 128, at: 59 * second)
        #expect(queue.most >= 2_048 + 360)
        queue.adapt(toQuantum: 128, largestStep: 128, at: 61 * second)
        #expect(queue.most < 1_024)
    }

    @Test func aCardThatComesBackIsAskedForAPeriodAgain() {
        var queue = queue()
        queue.adapt(toQuantum: 2_048, largestStep: 2_048, at: 0)
        #expect(queue.availMin > 240)
        queue.fit(buffer: 8_160)
        #expect(queue.availMin == 240)
    }

    /// With a quantum of 128 frames, an ordinary PipeWire plugin thread missed about one cycle per second; with 256
    /// only few.
    @Test func forAnOrdinaryThreadAServerIsAskedForTwiceTheQuantum() {
        var queue = queue()
        queue.allowForLateWakeups()
        #expect(queue.availMin == 480)
        queue.adapt(toQuantum: 4_096, largestStep: 4_096, at: 0)
        #expect(queue.availMin > 480)
        queue.adapt(toQuantum: 256, largestStep: 256, at: 5 * second)
        #expect(queue.availMin == 480)
        queue.fit(buffer: 8_160)
        #expect(queue.availMin == 480)
    }

    @Test func anOrdinaryThreadIsGivenHalfAPeriodMore() {
        var queue = queue()
        queue.allowForLateWakeups()
        for tick in 0..<3_000 { queue.adapt(toQuantum: 128, largestStep: 128, at: Int64(tick) * second / 10) }
        #expect(queue.target == 128 + 360 + 120)
    }

    @Test func theQueueNeverExceedsTheBuffer() {
        var queue = PlaybackQueue(requestedQueue: 480, period: 240, buffer: 960, rate: 48_000)
        for _ in 0..<10 {
            queue.underrun(isLate: true, at: 0)
            queue.adapt(toQuantum: 4_096, largestStep: 4_096, at: 0)
        }
        #expect(queue.target <= 720 && queue.most <= 720)
    }
}

@Suite struct DemandScheduleTests {
    private func schedule() -> DemandSchedule { DemandSchedule(period: 240, rate: 48_000) }

    @Test func aPeriodIsDueByTheLeadBeforeTheCardTakesItsEnd() {
        var schedule = schedule()
        #expect(schedule.due(0) == nil)
        schedule.follow(.init(origin: second, lead: 480))
        // With 480 frames queued, there is room for a period when the card has played 240.
        #expect(schedule.due(480) == second + 5 * millisecond)
        #expect(schedule.due(720) == second + 10 * millisecond)
    }

    @Test func aQuantumMakesDemandsNoEarlier() {
        var schedule = schedule()
        // The server takes the frames 0 to 1024 at 100 ms. Their last period is then written with 7.5 ms to spare.
        let origin = 100 * millisecond - nanoseconds(1_024, at: 48_000)
        schedule.follow(.init(origin: origin, quantum: 1_024, lead: 360))
        #expect(schedule.due(1_024 - 240) == 92_500_000)
    }

    @Test func aStepIsReportedOnceAndDriftIsNot() {
        var schedule = schedule()
        schedule.follow(.init(origin: 0, lead: 480))
        schedule.follow(.init(origin: millisecond / 2, lead: 480))
        #expect(schedule.consumeShift() == 0)
        schedule.follow(.init(origin: millisecond / 2 + 18 * millisecond, lead: 360))
        #expect(schedule.consumeShift() == 984)
        #expect(schedule.consumeShift() == 0)
    }

    @Test func afterAnUnderrunTheScheduleGoesOnUntilTheCardShowsWhereItIs() {
        var schedule = schedule()
        schedule.follow(.init(origin: 0, lead: 480))
        schedule.interrupt()
        #expect(schedule.isProvisional)
        #expect(schedule.due(960) == 15 * millisecond)
        // 30 ms were missed, 5 of which the longer lead makes up for.
        let resumed = schedule.resume(.init(origin: 30 * millisecond, lead: 720))
        #expect(resumed.missed == 1_440)
        #expect(resumed.behind == 1_200)
        #expect(!schedule.isProvisional && schedule.consumeShift() == 0)
    }

    @Test func aQuantumThatIsLongerIsMissedAndNotMadeUp() {
        var schedule = schedule()
        schedule.follow(.init(origin: 0, quantum: 128, lead: 360))
        schedule.interrupt()
        // The audio of a quantum begins to play when it is taken, so with a quantum of 1024 frames it plays 896
        // frames later than with 128.
        let resumed = schedule.resume(.init(origin: 10 * millisecond, quantum: 1_024, lead: 360))
        #expect(resumed.missed == 480 + 896)
        #expect(resumed.behind == 480)
    }

    @Test func aCardThatStartsForTheFirstTimeHasMissedNothing() {
        var schedule = schedule()
        schedule.interrupt()
        #expect(!schedule.isProvisional)
        let resumed = schedule.resume(.init(origin: second, lead: 480))
        #expect(resumed.missed == 0 && resumed.behind == 0)
    }

    @Test func aCardThatIsLostAndComesBackHasMissedNoQuantum() {
        var schedule = schedule()
        schedule.follow(.init(origin: 0, quantum: 1_024, lead: 360))
        schedule.pace(9_600, at: 200 * millisecond)
        schedule.interrupt()
        let origin = 200 * millisecond - nanoseconds(9_600 + 240 - 360, at: 48_000)
        #expect(schedule.resume(.init(origin: origin, quantum: 1_024, lead: 360)).missed == 0)
    }

    @Test func theClockGoesOnWhereACardIsLost() {
        var schedule = schedule()
        schedule.pace(9_600, at: 3 * second)
        #expect(schedule.due(9_600) == 3 * second)
        #expect(schedule.due(9_840) == 3 * second + 5 * millisecond)
    }
}
