import Glibc
import Synchronization
import TenfourAudioCore
import TenfourUV
import TestSupport
import Testing

struct WakeupTests {
    @Test func everySignalOfAnotherThreadIsFollowedByACall() throws {
        let loop = try EventLoop()
        let signalled = Shared(Atomic(0))
        var seen = 0
        var calls = 0
        let rounds = 2000
        let wakeup = try loop.makeWakeup { [unowned loop] in
            calls += 1
            seen = signalled.value.load(ordering: .acquiring)
            if seen == 4 * rounds { loop.stop() }
        }
        // Without the watchdog a lost signal would hang the test instead of failing it.
        let watchdog = try loop.makeTimer { [unowned loop] in loop.stop() }
        watchdog.arm(at: loop.now + .seconds(20))

        @Sendable func work() {
            for _ in 0..<rounds {
                signalled.value.add(1, ordering: .releasing)
                wakeup.signal()
            }
        }
        let threads = (0..<4).map { _ in TestThread(work) }
        loop.run()
        for thread in threads { thread.join() }
        #expect(seen == 4 * rounds)
        #expect(calls >= 1 && calls <= 4 * rounds)
    }

    @Test func aSignalBeforeTheLoopRunsIsNotLost() throws {
        let loop = try EventLoop()
        var calls = 0
        let wakeup = try loop.makeWakeup { [unowned loop] in
            calls += 1
            loop.stop()
        }
        wakeup.signal()
        wakeup.signal()
        try run(loop) { calls > 0 }
        #expect(calls == 1)
    }

    @Test func aWakeupThatIsClosedAfterItsSignalDoesNotCall() throws {
        let loop = try EventLoop()
        let wakeup = try loop.makeWakeup { Issue.record("a closed wakeup called") }
        wakeup.signal()
        loop.close(wakeup)
        loop.close(wakeup)
        wakeup.signal()
        loop.run()
        wakeup.signal()
    }

    @Test func threadsMayGoOnSignallingWhileTheLoopEnds() throws {
        for _ in 0..<20 {
            let isOver = Shared(Atomic(false))
            var loop: EventLoop? = try EventLoop()
            let wakeup = try #require(loop).makeWakeup {}
            @Sendable func work() {
                while !isOver.value.load(ordering: .relaxed) { wakeup.signal() }
            }
            let threads = [TestThread(work), TestThread(work)]
            try loop.map(settle)
            loop = nil
            isOver.value.store(true, ordering: .relaxed)
            for thread in threads { thread.join() }
        }
    }

    /// Both threads have one processor. As root only: others may not set a real-time priority.
    @Test(.needsRoot) func aRealTimeLoopDoesNotWaitForASignallingThreadOfNormalPriority() {
        let handover = Handover()
        let calls = Shared(Atomic(0))
        let milliseconds = Shared(Atomic(0))
        let signals = 20
        let looping = TestThread {
            var priority = sched_param(sched_priority: 1)
            guard useOneProcessor(), unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) == 0 else {
                return handover.give(nil)
            }
            guard let loop = try? EventLoop() else { return handover.give(nil) }
            handover.give(
                try? loop.makeWakeup { [unowned loop] in
                    if calls.value.add(1, ordering: .releasing).newValue == signals { loop.stop() }
                })
            loop.run()
        }
        let signalling = TestThread {
            guard useOneProcessor(), let wakeup = handover.take() else { return }
            let begin = ContinuousClock.now
            for number in 1...signals {
                wakeup.signal()
                while calls.value.load(ordering: .acquiring) < number { usleep(100) }
            }
            milliseconds.value.store(Int((ContinuousClock.now - begin) / .milliseconds(1)), ordering: .relaxed)
        }
        signalling.join()
        looping.join()
        // The kernel stops a loop that spins after 950 ms, for each signal anew.
        #expect(milliseconds.value.load(ordering: .relaxed) < 5000)
    }

    @Test func aLoopRunsOnAThreadMadeElsewhere() {
        let handover = Handover()
        let calls = Shared(Atomic(0))
        let thread = TestThread {
            guard let loop = try? EventLoop() else { return }
            let wakeup = try? loop.makeWakeup { [unowned loop] in
                calls.value.add(1, ordering: .relaxed)
                loop.stop()
            }
            handover.give(wakeup)
            loop.run()
        }
        handover.take()?.signal()
        thread.join()
        #expect(calls.value.load(ordering: .relaxed) == 1)
    }
}

/// Restricts the calling thread to the first processor. Returns false if that is not allowed. The C function is
/// `sched_setaffinity`, which Swift's Glibc does not declare.
private func useOneProcessor() -> Bool {
    typealias Function = @convention(c) (pid_t, Int, UnsafePointer<UInt64>) -> Int32
    guard let symbol = unsafe dlsym(nil, "sched_setaffinity") else { return false }
    let set = unsafe unsafeBitCast(symbol, to: Function.self)
    var processors: UInt64 = 1
    return unsafe set(0, 8, &processors) == 0
}

/// Passes a wakeup to another thread by atomics, since the thread sanitizer does not recognise Swift's `Mutex`.
private final class Handover: Sendable {
    private nonisolated(unsafe) var wakeup: Wakeup?
    private let isThere = Atomic(false)

    func give(_ wakeup: Wakeup?) {
        unsafe self.wakeup = wakeup
        isThere.store(true, ordering: .releasing)
    }

    func take() -> Wakeup? {
        while !isThere.load(ordering: .acquiring) {}
        return unsafe wakeup
    }
}

/// Lets closures share a value that cannot be copied.
private final class Shared<Value: ~Copyable & Sendable>: Sendable {
    let value: Value
    init(_ value: consuming Value) { self.value = value }
}
