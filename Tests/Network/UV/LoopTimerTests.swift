import TenfourAudioCore
import TenfourUV
import Testing

struct LoopTimerTests {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func aTimerNeverFiresEarly() throws {
        var fired = 0
        var early = 0
        var timers: [LoopTimer] = []
        for step in 0..<200 {
            let deadline = loop.now + .microseconds(step * 137)
            let timer = try loop.makeTimer { [unowned loop] in
                fired += 1
                if loop.now < deadline { early += 1 }
            }
            timer.arm(at: deadline)
            timers.append(timer)
        }
        loop.run()
        #expect(fired == 200)
        #expect(early == 0)
        #expect(timers.allSatisfy { $0.deadline == nil })
    }

    @Test func aTimerCanBeMovedForwardAndBack() throws {
        var moments: [Instant] = []
        let timer = try loop.makeTimer { [unowned loop] in moments.append(loop.now) }
        let start = loop.now
        timer.arm(at: start + .seconds(3600))
        timer.arm(at: start + .milliseconds(2))
        loop.run()
        #expect(moments.count == 1)

        timer.arm(at: loop.now)
        let later = loop.now + .milliseconds(10)
        timer.arm(at: later)
        timer.arm(at: later)
        #expect(timer.deadline == later)
        loop.run()
        #expect(moments.count == 2)
        #expect(moments[1] >= later)
    }

    @Test func aTimerThatIsDisarmedDoesNotFireUntilItIsArmedAgain() throws {
        var fired = 0
        let timer = try loop.makeTimer { fired += 1 }
        timer.arm(at: loop.now)
        timer.disarm()
        loop.run()
        #expect(fired == 0)
        timer.arm(at: loop.now)
        loop.run()
        #expect(fired == 1)
    }

    @Test func aTimerMayArmItselfForTheSameMomentAgain() throws {
        var fired = 0
        let moment = loop.now
        var timer: LoopTimer?
        timer = try loop.makeTimer {
            fired += 1
            if fired < 3 { timer?.arm(at: moment) }
        }
        timer?.arm(at: moment)
        loop.run()
        #expect(fired == 3)
    }

    @Test(arguments: [Instant(nanoseconds: .min), .start, Instant(nanoseconds: 1)])
    func aDeadlineThatHasPassedFiresAtOnce(_ deadline: Instant) throws {
        var fired = 0
        let timer = try loop.makeTimer { fired += 1 }
        timer.arm(at: deadline)
        loop.run()
        #expect(fired == 1)
    }

    @Test func aDeadlineAtTheEndOfTimeIsJustFarAway() throws {
        let never = try loop.makeTimer { Issue.record("292 years have not passed") }
        never.arm(at: Instant(nanoseconds: .max))
        try settle(loop)
    }

    @Test func aTimerThatIsClosedByAnotherOneDoesNotFire() throws {
        var fired = 0
        var timers: [LoopTimer] = []
        let moment = loop.now
        for _ in 0..<2 {
            timers.append(
                try loop.makeTimer {
                    fired += 1
                    for timer in timers { timer.close() }
                })
        }
        for timer in timers { timer.arm(at: moment) }
        loop.run()
        #expect(fired == 1)
        timers[0].arm(at: moment)
        timers[0].disarm()
        loop.run()
        #expect(fired == 1)
    }
}
