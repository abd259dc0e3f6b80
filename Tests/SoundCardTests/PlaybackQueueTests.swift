import Testing

@testable import SoundCard

private let millisecond: Int64 = 1_000_000
private let second: Int64 = 1_000_000_000

@Suite struct QuantumEstimatorTests {
    /// A server that takes `quantum` frames at a time, looked at every `interval` nanoseconds for two seconds.
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

    @Test func daysDoNotOverflow() {
        let estimator = estimate(quantum: 512, every: 5_000_000, days: 400)
        #expect(estimator.quantum == 512)
    }
}

@Suite struct PlaybackQueueTests {
    private func queue() -> PlaybackQueue { PlaybackQueue(asked: 480, period: 240, buffer: 8_160, rate: 48_000) }

    @Test func aCardThatMovesFrameByFrameKeepsTheQueueThatWasAskedFor() {
        var queue = queue()
        for tick in 0..<600 { queue.adapt(toQuantum: 0, largestStep: 240, at: Int64(tick) * second / 10) }
        #expect(queue.target == 480)
    }

    @Test(arguments: [128, 256, 1_024, 2_048])
    func aQuantumAPeriodAndAReserveAreQueued(_ quantum: Int) {
        var queue = queue()
        queue.adapt(toQuantum: quantum, largestStep: quantum, at: 0)
        #expect(queue.target == max(480, quantum + 360))
    }

    @Test func anUnderrunBeforeWeWereLateRaisesTheQueueBeyondTheLongestQuantum() {
        var queue = queue()
        queue.underrun(quantum: 128, isLate: false, at: 0)
        #expect(queue.generous == 2_048 + 360)
        queue.settle(onQuantum: 1_024, largestStep: 1_024, at: second)
        #expect(queue.target == 1_384 && queue.availMin == 240)
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
        queue.settle(onQuantum: 1_920, largestStep: 1_920, at: 0)
        // PipeWire's plugin hands over no more than eight times avail_min in a cycle.
        #expect(queue.availMin * 8 >= 2_048)
        queue.settle(onQuantum: 256, largestStep: 256, at: 2 * second)
        #expect(queue.availMin == 240)
    }

    @Test func anUnderrunBecauseWeWereLateRaisesTheQueueByHalfAPeriod() {
        var queue = queue()
        queue.underrun(quantum: 0, isLate: true, at: 0)
        #expect(queue.target == 600)
    }

    @Test func theQueueComesDownToTheQuantumWithinSeconds() {
        var queue = queue()
        queue.settle(onQuantum: 2_048, largestStep: 2_048, at: 0)
        for tick in 0..<100 { queue.adapt(toQuantum: 1_024, largestStep: 1_024, at: Int64(tick) * second / 10) }
        #expect(queue.target == 1_384)
        #expect(queue.availMin == 240)
    }

    @Test func forAMinuteItDoesNotComeDownToWhereItFailed() {
        var queue = queue()
        queue.underrun(quantum: 128, isLate: false, at: 0)
        queue.settle(onQuantum: 128, largestStep: 128, at: 0)
        var tick = 0
        while tick < 590 {
            queue.adapt(toQuantum: 128, largestStep: 256, at: Int64(tick) * second / 10)
            tick += 1
        }
        #expect(queue.target == 600)
        while tick < 650 {
            queue.adapt(toQuantum: 128, largestStep: 256, at: Int64(tick) * second / 10)
            tick += 1
        }
        #expect(queue.target == 488)
    }

    @Test func whatFailsAgainIsLeftAloneForLonger() {
        var queue = queue()
        queue.underrun(quantum: 0, isLate: false, at: 0)
        queue.settle(onQuantum: 0, largestStep: 0, at: 0)
        for tick in 0..<700 { queue.adapt(toQuantum: 0, largestStep: 240, at: Int64(tick) * second / 10) }
        #expect(queue.target == 480)
        queue.underrun(quantum: 0, isLate: false, at: 70 * second)
        queue.settle(onQuantum: 0, largestStep: 0, at: 70 * second)
        for tick in 700..<1_800 { queue.adapt(toQuantum: 0, largestStep: 240, at: Int64(tick) * second / 10) }
        #expect(queue.target == 600)
    }

    @Test func anOrdinaryThreadIsGivenHalfAPeriodMore() {
        var queue = queue()
        queue.expectLateness()
        for tick in 0..<3_000 { queue.adapt(toQuantum: 128, largestStep: 128, at: Int64(tick) * second / 10) }
        #expect(queue.target == 128 + 360 + 120)
    }

    @Test func theQueueNeverExceedsTheBuffer() {
        var queue = PlaybackQueue(asked: 480, period: 240, buffer: 960, rate: 48_000)
        for _ in 0..<10 { queue.underrun(quantum: 4_096, isLate: false, at: 0) }
        #expect(queue.target <= 720)
    }
}

@Suite struct DemandScheduleTests {
    @Test func demandsAreDueAsTheQueueMakesRoom() {
        var schedule = DemandSchedule(target: 480, period: 240, rate: 48_000)
        #expect(schedule.due(0) == nil)
        schedule.follow(origin: second, target: 480)
        // With 480 queued the card has played 240 when a period fits.
        #expect(schedule.due(480) == second + 5 * millisecond)
        #expect(schedule.due(720) == second + 10 * millisecond)
    }

    @Test func afterAnUnderrunTheScheduleGoesOnUntilTheCardShowsWhereItIs() {
        var schedule = DemandSchedule(target: 480, period: 240, rate: 48_000)
        schedule.follow(origin: 0, target: 480)
        schedule.interrupt()
        #expect(schedule.isProvisional)
        #expect(schedule.due(960) == 15 * millisecond)
        // 30 ms were missed, 20 of them by a queue that is longer now.
        let resumed = schedule.resume(origin: 30 * millisecond, target: 1_440)
        #expect(resumed.missed == 1_440)
        #expect(resumed.behind == 480)
        #expect(!schedule.isProvisional)
    }

    @Test func aCardThatStartsForTheFirstTimeHasMissedNothing() {
        var schedule = DemandSchedule(target: 480, period: 240, rate: 48_000)
        schedule.interrupt()
        #expect(!schedule.isProvisional)
        let resumed = schedule.resume(origin: second, target: 480)
        #expect(resumed.missed == 0 && resumed.behind == 0)
    }

    @Test func theClockGoesOnWhereACardIsLost() {
        var schedule = DemandSchedule(target: 480, period: 240, rate: 48_000)
        schedule.pace(9_600, at: 3 * second)
        #expect(schedule.due(9_600) == 3 * second)
        #expect(schedule.due(9_840) == 3 * second + 5 * millisecond)
    }
}
